"""A model server as its agents share it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from .client import OllamaClient
from .facts import full_name
from .reading import count
from .turnstile import Turnstile


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The server's version, and its loaded models with their context length in tokens.

    A context length of 0 was not reported (Ollama before 0.10).
    """

    version: str
    loaded: dict[str, int]
    on_gpu: dict[str, int] = field(default_factory=dict)
    """Loaded model -> how many percent of it are in a GPU's memory, where that was reported."""

    @classmethod
    def of(cls, version: str, models: Iterable[Mapping[str, Any]]) -> Self:
        """Read the models that `/api/ps` lists; what is no count there was not reported."""
        loaded, on_gpu = dict[str, int](), dict[str, int]()
        for model in models:
            name = full_name(str(model.get("name")))
            loaded[name] = count(model.get("context_length")) or 0
            size, in_vram = count(model.get("size")), count(model.get("size_vram"))
            # No more of a model can be there than there is: Ollama calls that unknown itself.
            if size and in_vram is not None and in_vram <= size:
                on_gpu[name] = 100 * in_vram // size
        return cls(version=version, loaded=loaded, on_gpu=on_gpu)

    def context_length(self, model: str) -> int | None:
        """Return the context length that a model is loaded with, None if it is not loaded."""
        return self.loaded.get(full_name(model))

    def percent_on_gpu(self, model: str) -> int | None:
        """Return how many percent of a model are on a GPU, None if not loaded or not reported."""
        return self.on_gpu.get(full_name(model))


@dataclass(slots=True)
class Server:
    """The way to a server, whose turn it is there, and what it last said of itself."""

    client: OllamaClient
    state: ServerState = field(default_factory=lambda: ServerState(version="", loaded={}))
    turnstile: Turnstile = field(default_factory=Turnstile)
