"""Write curves whose truth is known: imaginary drives (`synthetic`, `shapes`) and simulated ones (`simulated`)."""
