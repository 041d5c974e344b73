"""Keeps the prompt of a Home Assistant conversation agent warm, and proves it."""
