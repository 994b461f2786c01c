"""pslc as a Windows program."""
