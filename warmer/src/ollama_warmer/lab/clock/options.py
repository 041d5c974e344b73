"""Finds out how the agent of the house asks the model, so that the demonstration asks alike.

Another context window reloads the model for everyone (`needsReload` in Ollama's scheduler), and
a shorter `keep_alive` unloads it from under the house, because each request's value replaces the
one before (Ollama 0.30 to 0.40). So neither is guessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
import math
import re
from typing import Any

from ollama_warmer.config.config import OllamaConfig
from ollama_warmer.errors import ConfigError
from ollama_warmer.ollama.client import Ollama
from ollama_warmer.ollama.facts import full_name
from ollama_warmer.ollama.listed import expires_at

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, kw_only=True)
class Production:
    """What every request of the demonstration is sent with.

    Attributes:
        model: The model's name.
        version: The server's version.
        num_ctx: Context window in tokens.
        keep_alive: As Ollama takes it; none leaves the model's stay as it is.
        think: As Ollama takes it.
        loaded: Whether the model was in memory.
        takes_tools: Whether the model takes tools; an Ollama that does not say is tried with them.
    """

    model: str
    version: str
    num_ctx: int
    keep_alive: int | str | None
    think: bool | str
    loaded: bool
    takes_tools: bool


async def production(ollama: Ollama, config: OllamaConfig, now: datetime) -> Production:
    """Return the options of production: the configuration's, else those of the loaded model.

    Args:
        ollama: The server.
        config: What is known of the agent; its URL is not used.
        now: The present time, with its zone.

    Raises:
        ConfigError: No model is named; its window is known from nowhere, or from two places that
            contradict each other.
        OllamaError: The server cannot be asked, or has no such model.
    """
    if config.model is None:
        raise ConfigError("Name the agent's model with --model, or as model under [ollama]")
    version = await ollama.version()
    shown = await ollama.show(config.model)
    capabilities = shown.get("capabilities")
    entry = _entry(await ollama.loaded(), config.model)
    return Production(
        model=config.model,
        version=version,
        num_ctx=_window(config, entry, _trained(shown)),
        keep_alive=_keep_alive(config.keep_alive, entry, now),
        # Home Assistant's own agent sends false unless it is set otherwise.
        think=False if config.think is None else config.think,
        loaded=entry is not None,
        takes_tools=not isinstance(capabilities, list) or "tools" in capabilities,
    )


def _entry(loaded: list[dict[str, Any]], model: str) -> Mapping[str, Any] | None:
    name = full_name(model)
    return next((one for one in loaded if name in (one.get("name"), one.get("model"))), None)


def _trained(shown: Mapping[str, Any]) -> float:
    """Return the longest window of a model, to which Ollama cuts a longer one down."""
    info = shown.get("model_info")
    info = info if isinstance(info, dict) else {}
    longest = info.get(f"{info.get('general.architecture')}.context_length")
    return longest if isinstance(longest, int) and longest > 0 else math.inf


def _window(config: OllamaConfig, entry: Mapping[str, Any] | None, longest: float) -> int:
    found = None if entry is None else entry.get("context_length")
    loaded = found if isinstance(found, int) and found > 0 else None
    if config.num_ctx is None:
        if loaded is not None:
            return loaded
        what = "is not loaded" if entry is None else "does not report its window"
        raise ConfigError(
            f"{config.model} {what}, so no one knows which window your agent uses it with. Give it "
            "with --num-ctx, or as num_ctx under [ollama]; or ask your agent something first"
        )
    if loaded is not None and min(config.num_ctx, longest) != loaded:
        raise ConfigError(
            f"{config.model} is loaded with a window of {loaded} tokens, and num_ctx is "
            f"{config.num_ctx}: it would be reloaded for everyone. Correct num_ctx or leave it "
            "out; if someone else has loaded the model, ask your agent something first"
        )
    return config.num_ctx


def _keep_alive(
    wanted: int | str | None, entry: Mapping[str, Any] | None, now: datetime
) -> int | str | None:
    """Return what to send: nothing if the loaded model would stay longer without it."""
    if wanted is None or entry is None:
        return wanted
    if (expiry := expires_at(entry)) is None:
        return None
    return wanted if span(wanted) >= (expiry - now) / timedelta(seconds=1) else None


def span(keep_alive: int | str) -> float:
    """Return the seconds of a checked keep_alive; infinite for -1."""
    if str(keep_alive) == "-1":
        return math.inf
    if isinstance(keep_alive, int):
        return float(keep_alive)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", keep_alive)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
