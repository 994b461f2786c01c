"""Basics for every other package: errors, units, formatting, processes, the gate for foreign files and the writer of
pslc's own."""
