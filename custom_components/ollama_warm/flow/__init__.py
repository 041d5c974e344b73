"""The forms in which servers and agents are set up."""
