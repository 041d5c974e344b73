"""Tests of what the repository promises to those who install from it."""
