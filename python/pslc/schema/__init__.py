"""Types of the native part's results, of recordings and of findings, and warnings with their codes."""
