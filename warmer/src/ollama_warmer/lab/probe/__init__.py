"""Measures how a server keeps prompts, with prompts of its own."""
