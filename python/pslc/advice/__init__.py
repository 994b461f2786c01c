"""What should I change or buy? What was watched, or a trace of it, replayed on other drives."""
