"""What the native part, recordings and findings hold, as types, and the warnings with their codes."""
