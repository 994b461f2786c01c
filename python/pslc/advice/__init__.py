"""Purchase and settings advice: a watched load, or its trace, is replayed on other drives."""
