"""What each call of the model cost, whose doing it was, and who is shown it."""
