"""Pictures of charts that are drawn from known curves, and how well they are read."""
