"""Rounds that were kept, and what they say now."""
