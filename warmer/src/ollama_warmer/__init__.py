"""Keeps a Home Assistant conversation agent warm."""
