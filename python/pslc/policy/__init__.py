"""Cache policies and victim rules in Python."""
