"""The configuration file: what may stand in it, and what it says."""
