"""A model server as its agents share it."""

from dataclasses import dataclass, field

from .api import OllamaClient
from .turnstile import Turnstile


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The server's version, and its loaded models with their context length in tokens.

    A context length of 0 was not told (Ollama before 0.10).
    """

    version: str
    loaded: dict[str, int]

    def context_length(self, model: str) -> int | None:
        """Return the context length that a model is loaded with, None if it is not loaded."""
        return self.loaded.get(model, self.loaded.get(f"{model}:latest"))


@dataclass(slots=True)
class Server:
    """The way to a server, whose turn it is there, and what it last said of itself."""

    client: OllamaClient
    state: ServerState = field(default_factory=lambda: ServerState(version="", loaded={}))
    turnstile: Turnstile = field(default_factory=Turnstile)
