"""Tests of the standalone warmer."""
