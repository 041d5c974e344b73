"""An agent: its prompt as it is built and sent, what is kept of it, and its answers."""
