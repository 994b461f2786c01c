"""Power cuts of a simulated drive while a command writes to it."""
