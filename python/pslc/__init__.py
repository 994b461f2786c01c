"""pslc: a laboratory for SSD write caching."""
