"""Simulated and real drives: parts, profiles, targets, probe, sensors, the region a suite may use."""
