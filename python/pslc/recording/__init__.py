"""What a run measured, in memory and in its folder, and what it says."""
