"""Tests of the pure prefix logic."""
