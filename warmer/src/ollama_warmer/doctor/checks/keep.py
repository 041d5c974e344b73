"""Looks at whether the model is there when someone asks, and until when."""

from collections.abc import Iterator
from datetime import datetime
import re

from ollama_warmer.config.config import OllamaConfig
from ollama_warmer.doctor.findings import OLLAMA, Finding, span
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.doctor.server import Server
from ollama_warmer.words import listing, printable

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# What "for ever" is as a time: the longest span that Ollama can count is 292 years.
_FOR_EVER = 50 * 365 * 86_400.0
_STAY = (
    "Set keep_alive to -1 in the agent's options, and for every other client of this model: each "
    "request replaces the span of the one before"
)


@check(Part.SERVER, 10)
def reached(seen: Seen) -> Iterator[Finding]:
    """Yield whether the model server was reached."""
    if seen.setup.ollama is None:
        yield OLLAMA.unknown(
            "ollama",
            "the model server is not named, and nothing is known of it",
            "Write the table [ollama] into the configuration, or give --url and --model",
        )
    elif seen.server_trouble is not None:
        yield OLLAMA.trouble("ollama", seen.server_trouble)
    elif seen.server is not None:
        yield OLLAMA.ok("ollama", f"reached at {seen.server.url}")


@check(Part.SERVER, 40)
def stays(seen: Seen) -> Iterator[Finding]:
    """Yield whether the model is there, in memory, and stays there."""
    if seen.server is None or seen.before is None:
        return
    yield check_model(seen.server)
    yield from check_loaded(seen.before)
    yield from check_keep_alive(
        seen.server,
        seen.wanted,
        seen.setup.interval,
        just_asked=seen.measurement is not None and seen.measurement.answered,
    )


def check_model(server: Server) -> Finding:
    """Say whether the server has the agent's model."""
    if server.model is None:
        return OLLAMA.unknown(
            "model",
            "which model the agent uses is not known",
            "Write `model` under [ollama] in the configuration, or give --model",
        )
    if server.model not in server.models:
        there = f"it has {listing(server.models)}"
        return OLLAMA.problem(
            "model",
            f'the server has no model "{printable(server.model)}": {there}',
            f"Pull it (ollama pull {printable(server.model)}), or correct the name",
        )
    return OLLAMA.ok("model", f'the server has the model "{printable(server.model)}"')


def check_loaded(server: Server) -> Iterator[Finding]:
    """Yield whether the model is in memory, before any of our questions."""
    if server.model not in server.models:
        return
    if server.entry is None:
        others = f", only {listing(server.loaded)}" if server.loaded else ""
        yield OLLAMA.problem(
            "loaded",
            f"the model is not in memory{others}: the next question waits for its load and for "
            "the whole prompt",
            "Warm up now, and see under keep_alive and num_ctx why it was unloaded",
        )
        return
    yield OLLAMA.ok("loaded", "the model is in memory")


def check_keep_alive(
    server: Server, wanted: OllamaConfig, interval: float, *, just_asked: bool
) -> Iterator[Finding]:
    """Yield whether the model stays until the next warm-up.

    Args:
        server: The server, after whatever was asked.
        wanted: What the agent asks with, as the configuration says.
        interval: Seconds between two warm-ups.
        just_asked: Whether the agent was asked a moment ago, so that what is left is its span.
    """
    said = seconds_of(wanted.keep_alive)
    if said is not None and said <= interval:
        yield OLLAMA.problem(
            "keep_alive",
            f"the agent's keep_alive is {span(said)}, and warm-ups come every {span(interval)}: "
            "in between the model is unloaded",
            _STAY,
        )
        return
    if server.entry is not None:
        yield _stay(_left(server.entry.expires, server.at), interval, just_asked=just_asked)


def _stay(left: float | None, interval: float, *, just_asked: bool) -> Finding:
    """Say whether the seconds that a model has left are enough; none if they are not known."""
    if left is None:
        return OLLAMA.unknown("keep_alive", "the server does not say how long the model stays")
    if left > _FOR_EVER:
        return OLLAMA.ok("keep_alive", "the model stays loaded for ever")
    if left > interval:
        return OLLAMA.ok("keep_alive", f"the model stays for {span(left)} without a question")
    if just_asked:
        return OLLAMA.problem(
            "keep_alive",
            f"the model stays only {span(left)} after a question of the agent, and warm-ups come "
            f"every {span(interval)}",
            _STAY,
        )
    return OLLAMA.advice(
        "keep_alive",
        f"the model is unloaded in {span(left)} unless someone asks, and warm-ups come every "
        f"{span(interval)}",
        _STAY,
    )


def seconds_of(keep_alive: int | str | None) -> float | None:
    """Return the seconds of what Ollama takes as keep_alive; none for ever, or if nothing is said.

    0 unloads the model at once.
    """
    if isinstance(keep_alive, str) and not re.fullmatch(r"-?\d+", keep_alive):
        parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", keep_alive)
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    if keep_alive is None or int(keep_alive) < 0:
        return None
    return float(keep_alive)


def _left(expires: datetime | None, now: datetime) -> float | None:
    """Return the seconds until the model is unloaded; none if the server cannot know them yet.

    While a request runs, the time of the one before still stands there and may have passed.
    """
    left = None if expires is None else (expires - now).total_seconds()
    return None if left is None or left <= 0 else left
