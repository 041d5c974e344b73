"""One module for each command: its options, and what it prints; the work is done elsewhere."""
