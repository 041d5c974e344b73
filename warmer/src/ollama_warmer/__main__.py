"""Runs the command as `python -m ollama_warmer`."""

from ollama_warmer.cli import main

if __name__ == "__main__":
    main(prog_name="ollama-warmer")
