"""Takes from Ollama, or the router in front of it, what the doctor looks at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from ollama_warmer.doctor.herd import Fleet, look_behind
from ollama_warmer.errors import RefusedByOllama
from ollama_warmer.ollama.client import Ollama
from ollama_warmer.ollama.facts import (
    Memory,
    PromptPath,
    Runner,
    Version,
    full_name,
    memory_of,
    path_of,
    runner_of,
)
from ollama_warmer.ollama.listed import expires_at, name_of


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A model in memory, as `/api/ps` lists it; what it does not say is None.

    Attributes:
        context: Its window in tokens (Ollama 0.10 and newer).
        expires: When it is unloaded if no one asks; in the year 2318 or so for never.
        size: Its bytes in all.
        on_gpu: Its bytes in the memory of GPUs.
        runner: What runs it (Ollama 0.40 and newer).
    """

    context: int | None = None
    expires: datetime | None = None
    size: int | None = None
    on_gpu: int | None = None
    runner: str | None = None

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Loaded":
        """Read an entry of `/api/ps`."""
        runner = entry.get("runner")
        return cls(
            context=_count(entry.get("context_length")),
            expires=expires_at(entry),
            size=_count(entry.get("size")),
            on_gpu=_count(entry.get("size_vram")),
            runner=runner if isinstance(runner, str) else None,
        )


@dataclass(frozen=True, kw_only=True)
class Server:
    """A model server as it was at one moment.

    Attributes:
        url: Its address.
        version: Its version.
        model: The agent's model with its tag; none if it is not named.
        models: The models that it has.
        loaded: The models in memory.
        shown: What `/api/show` says of the agent's model; none if the server does not have it.
        fleet: What stands behind it, if it is a router.
        at: When this was so.
    """

    url: str
    version: Version
    model: str | None = None
    models: frozenset[str] = frozenset()
    loaded: Mapping[str, Loaded] = field(default_factory=dict)
    shown: Mapping[str, Any] | None = None
    fleet: Fleet | None = None
    at: datetime

    @property
    def entry(self) -> Loaded | None:
        """The agent's model in memory; none if it is not there."""
        return self.loaded.get(self.model) if self.model else None

    @property
    def memory(self) -> Memory | None:
        """How the model remembers; none if it is not known."""
        return None if self.shown is None else memory_of(self.shown)

    @property
    def path(self) -> PromptPath | None:
        """Who makes the prompt; none if it is not known."""
        return None if self.shown is None else path_of(self.shown)

    @property
    def runner(self) -> Runner:
        """What runs the model: the server's own word, else the file's format and the version."""
        said = self.entry.runner if self.entry else None
        return runner_of(self.shown or {}, self.version, said) or Runner.LLAMA_SERVER


async def look_at(ollama: Ollama, model: str | None) -> Server:
    """Return how a server stands now; raises OllamaError."""
    said = await ollama.get("/api/version")
    version = Version.read(str(said.get("version")))
    name = full_name(model) if model else None
    models = frozenset(map(name_of, await ollama.models()))
    entries = await ollama.loaded()
    loaded = {name_of(entry): Loaded.read(entry) for entry in entries}
    fleet = await look_behind(ollama, said, entries)
    if fleet is not None:
        loaded = _with_contexts(loaded, fleet)
    return Server(
        url=ollama.url,
        version=version,
        model=name,
        models=models,
        loaded=loaded,
        shown=await _show(ollama, name) if name in models else None,
        fleet=fleet,
        at=datetime.now(UTC),
    )


async def _show(ollama: Ollama, model: str | None) -> dict[str, Any] | None:
    """Return what the server says of a model; nothing if it has lost it since it listed it."""
    try:
        return await ollama.show(str(model))
    except RefusedByOllama as err:
        if err.status != HTTPStatus.NOT_FOUND:
            raise
        return None


def _with_contexts(loaded: Mapping[str, Loaded], fleet: Fleet) -> dict[str, Loaded]:
    """Return the models with the windows that only the router's own list says."""
    contexts = {name: context for node in fleet.nodes for name, context in node.loaded.items()}
    return {
        name: entry if entry.context is not None else Loaded(context=contexts.get(name))
        for name, entry in loaded.items()
    }


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None
