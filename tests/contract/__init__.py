"""What both programs must agree on, each tested through its own code."""
