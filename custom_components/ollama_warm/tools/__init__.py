"""The tools for the model: the weather, and the date and time."""
