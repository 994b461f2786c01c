"""Recordings: the measurements of a run, in memory and in a folder, and the facts that follow from them."""
