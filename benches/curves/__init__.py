"""Write curves whose truth is known: of imaginary drives (`synthetic`), and of simulated ones (`simulated`)."""
