"""Ollama's API, and the facts about its versions and models that both programs share."""
