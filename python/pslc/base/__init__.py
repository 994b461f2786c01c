"""What comes in and what goes out: the gate for foreign files, and the writer of pslc's own."""
