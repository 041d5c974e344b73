"""The log of Ollama's MLX runner: one line says all of a request before it is read.

Ollama's x/mlxrunner/prefix_cache.go and x/mlxrunner/client.go (0.33).
"""

import re

from ollama_warmer.counts.register import NUMBER, QUOTE, LogFormat, starting
from ollama_warmer.counts.requests import Requests, WholeLine
from ollama_warmer.ollama.facts import Runner

# "hit" and "miss" are about something else: only the numbers say it.
_REQUEST = WholeLine(
    rf"msg={QUOTE}cache (?:hit|miss){QUOTE}",
    prompt="total",
    cached="cached",
    re_read="left",
    against="matched",
)
_PROGRESS = re.compile(
    rf"msg={QUOTE}Prompt processing progress{QUOTE} processed={NUMBER} total={NUMBER}", re.ASCII
)


class Mlx(LogFormat):
    """One line for a request."""

    runner = Runner.MLX
    starting = starting("mlx runner subprocess")
    loaded = re.compile(rf"msg={QUOTE}mlx runner is ready")

    # Python 3.11 has no @override.
    def take(self, line: str, found: Requests) -> bool:  # type: ignore[explicit-override]
        """Note what a line says of a request; return whether it is one of this format."""
        return _REQUEST.take(line, found, self.runner)

    def progress(self, line: str) -> float | None:  # type: ignore[explicit-override]
        """Return which share of a prompt has been read; none if the line does not say."""
        match = _PROGRESS.search(line)
        return int(match[1]) / int(match[2]) if match and int(match[2]) else None
