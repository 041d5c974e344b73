"""Tests of the integration inside Home Assistant, against the stand-in for Ollama."""
