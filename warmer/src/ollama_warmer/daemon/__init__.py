"""`ollama-warmer run`: keeps warming until it is asked to end; a module for each thing it does."""
