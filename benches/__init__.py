"""Measurements of pslc itself: its speed, and how often its answers are right."""
