"""Helpers of the warmer's tests: houses, servers and logs that are real as far as it goes."""
