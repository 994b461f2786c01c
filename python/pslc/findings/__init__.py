"""What a recording says: phases and causes of its writes, doubts, comparison, and other programs' data."""
