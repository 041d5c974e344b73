"""Custom components of this repository."""
