"""What a run is made on: drives, the part of one that a suite may use, and what is measured beside it."""
