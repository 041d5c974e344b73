"""What a model server says of itself and of a model, before anything is measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ollama_warmer.errors import ConfigError, RefusedByOllama
from ollama_warmer.ollama import facts
from ollama_warmer.ollama.client import Ollama
from ollama_warmer.ollama.facts import Memory, Version, full_name
from ollama_warmer.words import listing, printable

# As the published results call them.
PUBLISHED = {
    Memory.ATTENTION: "attention-only",
    Memory.SLIDING: "sliding window",
    Memory.RECURRENT: "recurrent",
}


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What is known before the first call; None where the server does not say.

    Attributes:
        version: Ollama's version.
        model: The model's full name.
        digest: Its build.
        memory: `attention-only`, `sliding window` or `recurrent`, by its description.
        runner: `llama-server` or `MLX`, by its file format and Ollama's version.
        loaded: Name and window of every model in memory.
    """

    version: str
    model: str
    digest: str | None
    memory: str | None
    runner: str | None
    loaded: Mapping[str, int | None]


async def look_at(ollama: Ollama, model: str) -> Survey:
    """Ask the server about itself and a model.

    Raises:
        ConfigError: It does not have the model, or passes it on to another machine.
        OllamaError: It cannot be asked.
    """
    version = await ollama.version()
    there = {str(entry.get("name")): entry for entry in await ollama.models()}
    name = model if model in there else full_name(model)
    if (entry := there.get(name)) is None:
        raise ConfigError(
            f'{ollama.url} has no model "{printable(model)}", it has {listing(there)}: name one of '
            "them with --model, or get it with `ollama pull`"
        )
    if entry.get("remote_host"):
        raise ConfigError(
            f"{name} runs on {printable(entry['remote_host'])}: probe a model that the "
            "server runs itself"
        )
    try:
        shown = await ollama.show(name)
    except RefusedByOllama:
        shown = {}  # a router may not pass it on, and no count depends on it
    digest, details = entry.get("digest"), entry.get("details")
    form = details.get("format") if isinstance(details, dict) else None
    return Survey(
        version=version,
        model=name,
        digest=digest if isinstance(digest, str) else None,
        memory=memory_of(shown),
        runner=runner_of(form, version),
        loaded=await _loaded(ollama),
    )


async def _loaded(ollama: Ollama) -> dict[str, int | None]:
    try:
        entries = await ollama.loaded()
    except RefusedByOllama:
        return {}  # a router may not have the list
    return {
        printable(entry.get("name")): context if type(context) is int else None
        for entry in entries
        for context in (entry.get("context_length"),)
    }


def memory_of(shown: Mapping[str, Any]) -> str | None:
    """Return how a model remembers, by what `/api/show` says (`model_info`); None if it is open."""
    info = shown.get("model_info")
    if not isinstance(info, dict) or not info:
        return None
    return PUBLISHED[facts.memory_of(shown)]


def runner_of(form: object, version: str) -> str | None:
    """Return what reads the prompts of a model, by its file format and Ollama's version."""
    shown = {"details": {"format": form}} if form else {"details": {"format": "unknown"}}
    runner = facts.runner_of(shown, Version.read(version))
    # Ollama's own runner has no name in what is published.
    return None if runner in {None, facts.Runner.GO} else str(runner)
