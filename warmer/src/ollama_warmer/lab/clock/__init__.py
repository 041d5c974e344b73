"""Shows what a clock in the system prompt costs."""
