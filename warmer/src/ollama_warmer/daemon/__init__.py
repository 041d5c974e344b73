"""`ollama-warmer run`: keeps warming until it is told to end; one module for each thing it does."""
