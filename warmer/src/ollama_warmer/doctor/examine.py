"""The whole examination: looks at the house and the model server, then makes every check."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from ollama_warmer.config.config import Config
from ollama_warmer.doctor.findings import Finding
from ollama_warmer.doctor.house import visit
from ollama_warmer.doctor.loads import sort_loads
from ollama_warmer.doctor.log_tail import read_tail
from ollama_warmer.doctor.measurement import (
    Measurement,
    Say,
    measure,
    measured_size,
    remembered_size,
)
from ollama_warmer.doctor.register import all_checks
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.doctor.server import look_at
from ollama_warmer.doctor.setup import Setup
from ollama_warmer.errors import OllamaError, TokenError, WarmerError
from ollama_warmer.history.state import StateError
from ollama_warmer.house.credentials import Token, load_token
from ollama_warmer.ollama.client import open_ollama


async def examine(setup: Setup, environ: Mapping[str, str], say: Say) -> tuple[Finding, ...]:
    """Return everything that can be said of a house and its model server.

    Whatever cannot be reached becomes a finding; nothing is raised for it.

    Args:
        setup: What to look at.
        environ: The environment of the process, where the token may be.
        say: Is given what is going on, while questions are asked.
    """
    seen = await _see(setup, environ, say)
    return tuple(finding for check in all_checks() for finding in check.look(seen))


async def _see(setup: Setup, environ: Mapping[str, str], say: Say) -> Seen:
    """Look at everything, and ask the agents if that is wanted."""
    seen, token = Seen(setup=setup), None
    if setup.config is not None:
        seen, token = await _visit(seen, setup.config, environ)
    seen = await _look(seen)
    seen = replace(seen, before=seen.server)
    if setup.measure and setup.config is not None:
        seen = await _measure(seen, setup.config, token, say)
    tail = await read_tail(setup.counts)
    seen = replace(seen, tail=tail, loads=sort_loads(tail, seen.server, datetime.now(UTC)))
    return _with_size(seen)


async def _visit(
    seen: Seen, config: Config, environ: Mapping[str, str]
) -> tuple[Seen, Token | None]:
    """Look at Home Assistant, if there is a token for it and it lets us in."""
    try:
        token = load_token(seen.setup.token_file, environ)
    except TokenError as err:
        return replace(seen, token_trouble=str(err)), None
    try:
        house = await visit(config.home_assistant.url, token)
    except WarmerError as err:
        return replace(seen, house_trouble=str(err)), token
    return replace(seen, house=house), token


async def _look(seen: Seen) -> Seen:
    """Look at the model server, if it is named and answers."""
    if (wanted := seen.setup.ollama) is None:
        return seen
    try:
        async with open_ollama(wanted.url) as ollama:
            return replace(seen, server=await look_at(ollama, wanted.model))
    except OllamaError as err:
        return replace(seen, before=None, server=None, server_trouble=str(err))


async def _measure(seen: Seen, config: Config, token: Token | None, say: Say) -> Seen:
    """Ask the agents, and look at the model server once more afterwards."""
    if seen.house is None or token is None:
        trouble = "Home Assistant did not let us in"
        return replace(seen, measurement=Measurement(trouble=trouble))
    measurement = await measure(config, token, seen.setup.pause, say)
    seen = replace(seen, measurement=measurement)
    return seen if seen.server is None else await _look(seen)


def _with_size(seen: Seen) -> Seen:
    """Say how long the prompt is: as it was measured, else as the last rounds say."""
    size = measured_size(seen.measurement) if seen.measurement else None
    if size is not None or not seen.setup.state_files:
        return replace(seen, size=size)
    try:
        return replace(seen, size=remembered_size(seen.setup.state_files))
    except StateError as err:
        return replace(seen, size_trouble=str(err))
