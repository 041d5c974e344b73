"""The log of Ollama's own runner, 0.1 to 0.24: one line says all of a request before it is read.

Ollama's llm/server.go and runner/ollamarunner/cache.go.
"""

import re

from ollama_warmer.counts.register import QUOTE, LogFormat, Start, starting
from ollama_warmer.counts.requests import Requests, WholeLine
from ollama_warmer.ollama.facts import Runner

_REQUEST = WholeLine(
    rf"msg={QUOTE}loading cache slot{QUOTE}", prompt="prompt", cached="used", re_read="remaining"
)


class GoRunner(LogFormat):
    """One line for a request, with OLLAMA_DEBUG=1."""

    runner = Runner.GO
    starting = starting("llama server|llama runner|runner")
    # From 0.1.18 to 0.1.31 llama.cpp was a library in Ollama's own process.
    loaded = re.compile(
        rf"(?:msg={QUOTE}|\.go:\d+: (?:INFO )?)"
        rf"(?:llama runner started in |[Ss]tarting (?:internal )?llama main loop(?:{QUOTE}|\s*$))"
    )

    # Python 3.11 has no @override.
    def take(self, line: str, found: Requests) -> bool:  # type: ignore[explicit-override]
        """Note what a line says of a request; return whether it is one of this format."""
        return _REQUEST.take(line, found, self.runner)

    def start(self, line: str) -> Start | None:  # type: ignore[explicit-override]
        """Return the process that the line says is started; none if it says no such thing.

        From 0.13 to 0.24 a runner is started without a model, too, whenever Ollama looks for GPUs.
        """
        begun = super().start(line)
        without = begun is not None and begun.command and "--model" not in begun.command
        return None if without else begun
