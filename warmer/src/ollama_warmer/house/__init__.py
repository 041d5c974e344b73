"""Home Assistant: the session, the token, and what stands in its registries."""
