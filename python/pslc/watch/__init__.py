"""A drive watched while it does its work: what the block layer counts of it, what it says of itself, and what happened
when. Nothing is written to it."""
