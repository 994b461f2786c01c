"""A simulated drive that any program can use, in real time."""
