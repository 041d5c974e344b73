"""The demonstration asks as the agent does: no other window, and no shorter stay."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
import math

from aiohttp import ClientSession
import pytest

from ollama_warmer.errors import ConfigError
from ollama_warmer.lab.clock.options import Production, production, span
from ollama_warmer.ollama.client import Ollama
from tests.warmer.support.clock_server import FOREVER, MODEL, Server, loaded, serving, soon


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Return a server with the model in memory."""
    async with serving(Server()) as opened:
        yield opened


async def options(server: Server, **config: object) -> Production:
    """Return what would be asked with, for a configuration with these keys."""
    async with ClientSession() as session:
        wanted = replace(server.config, **config)  # type: ignore[arg-type] # keys of the table
        return await production(Ollama(session, server.url), wanted, datetime.now(UTC))


async def test_claim_083_the_window_of_the_loaded_model_is_taken(server: Server) -> None:
    """Without a configuration the model's present window is used, so that nothing is reloaded."""
    found = await options(server)

    assert found == Production(
        model=MODEL,
        version="0.35.1",
        num_ctx=8192,
        keep_alive=None,
        think=False,
        loaded=True,
        takes_tools=True,
    )


async def test_a_window_that_would_reload_is_refused(server: Server) -> None:
    """Two windows contradict each other: nothing is asked with either."""
    with pytest.raises(ConfigError, match="loaded with a window of 8192 tokens, and num_ctx is 16"):
        await options(server, num_ctx=16_384)

    assert (await options(server, num_ctx=8192)).num_ctx == 8192


async def test_a_window_longer_than_the_model_was_trained_for(server: Server) -> None:
    """Ollama cuts it down, so it is the same window."""
    server.shown["model_info"] = {"general.architecture": "llama", "llama.context_length": 8192}

    assert (await options(server, num_ctx=131_072)).num_ctx == 131_072


@pytest.mark.parametrize(
    ("ps", "why"),
    [([], "is not loaded"), ([{"name": MODEL, "fleet_node": "one"}], "does not report its window")],
)
async def test_a_window_is_never_guessed(
    server: Server, ps: list[dict[str, object]], why: str
) -> None:
    """A model that is not loaded has no window yet, and a router may not tell it."""
    server.ps = ps
    with pytest.raises(ConfigError, match=f"{why}, so no one knows which window"):
        await options(server)

    assert (await options(server, num_ctx=4096)).num_ctx == 4096


async def test_a_name_without_a_tag(server: Server) -> None:
    """It is the model with the tag `latest`."""
    server.ps = [loaded() | {"name": "voice:latest", "model": "voice:latest"}]

    assert (await options(server, model="voice")).loaded
    with pytest.raises(ConfigError):
        await options(server, model="voice:8b")


@pytest.mark.parametrize(
    ("wanted", "expires_at", "sent"),
    [
        (None, FOREVER, None),
        ("5m", FOREVER, None),
        ("5m", soon(minutes=29), None),
        ("30m", soon(minutes=29), "30m"),
        (-1, FOREVER, -1),
        ("5m", "no time at all", None),
    ],
    ids=range(6),
)
async def test_claim_084_keep_alive_is_never_shortened(
    server: Server, wanted: int | str | None, expires_at: str, sent: int | str | None
) -> None:
    """What the model would stay anyway is not taken from it."""
    server.ps = [loaded(expires_at=expires_at)]

    assert (await options(server, keep_alive=wanted)).keep_alive == sent


async def test_keep_alive_of_a_model_that_is_not_there(server: Server) -> None:
    """Then there is no stay to shorten."""
    server.ps = []

    assert (await options(server, keep_alive="5m", num_ctx=8192)).keep_alive == "5m"


@pytest.mark.parametrize(
    ("keep_alive", "seconds"),
    [(300, 300), ("5m", 300), ("1h30m", 5400), ("500ms", 0.5), (-1, math.inf), ("-1", math.inf)],
)
def test_spans(keep_alive: int | str, seconds: float) -> None:
    """Seconds, a span with units, or for ever."""
    assert span(keep_alive) == seconds


@pytest.mark.parametrize("think", [True, "low"])
async def test_thinking_is_the_agents(server: Server, *, think: bool | str) -> None:
    """It is part of some templates, so the agent's choice is sent."""
    assert (await options(server, think=think)).think == think


async def test_a_model_without_tools(server: Server) -> None:
    """It would refuse a request with tools; one that does not say is tried."""
    server.shown = {"capabilities": ["completion"]}
    assert not (await options(server)).takes_tools
    server.shown = {}
    assert (await options(server)).takes_tools


async def test_no_model_named(server: Server) -> None:
    """Which one is the agent's cannot be guessed."""
    with pytest.raises(ConfigError, match="Name the agent's model with --model"):
        await options(server, model=None)
