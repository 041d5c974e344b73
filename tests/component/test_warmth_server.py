"""Occasions on which agents are warmed that lie at the server, and warm-ups that fail."""

from collections.abc import Generator
from types import MappingProxyType
from typing import Any
from unittest.mock import AsyncMock, patch

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.ollama.errors import CannotConnectError
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.config_entries import ConfigSubentry
from homeassistant.exceptions import HomeAssistantError
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, later
from .support.server import NUM_CTX, Ollama
from .support.warmed import POLL_S, Watch, turn, watched

OTHER = NUM_CTX // 2


@pytest.fixture
def watch() -> Generator[Watch]:
    """Have warm-ups counted only."""
    with watched() as watch:
        yield watch


@pytest.fixture
def loaded() -> Generator[AsyncMock]:
    """Return what decides which models the server says it has loaded."""
    with patch.object(OllamaClient, "loaded", return_value=ps(NUM_CTX)) as loaded:
        yield loaded


def ps(num_ctx: int | None) -> list[dict[str, Any]]:
    """Return how a server lists the model; None if it is not loaded, 0 if it says no length."""
    other = {"name": "other:latest", "context_length": OTHER}
    if num_ctx is None:
        return [other]
    return [other, {"name": "tiny:latest"} | ({"context_length": num_ctx} if num_ctx else {})]


async def set_up(
    house: House, ollama: Ollama, watch: Watch, freezer: FrozenDateTimeFactory, keep_alive: int = -1
) -> None:
    """Set up a server, and have its agent warmed for the first time."""
    await house.set_up(add_server(house.hass, ollama.url, auto_warm=True, keep_alive=keep_alive))
    assert await watch.count(house.hass, freezer) == 1


async def polled(house: House, watch: Watch, freezer: FrozenDateTimeFactory) -> int:
    """Return how many warm-ups follow when the server is asked how it is."""
    await later(house.hass, freezer, POLL_S)
    return await watch.count(house.hass, freezer)


async def test_another_version(
    house: House, ollama: Ollama, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """A server that was updated has been restarted."""
    await set_up(house, ollama, watch, freezer)
    assert await polled(house, watch, freezer) == 0
    ollama.stand_in.version = "0.36.0"
    assert await polled(house, watch, freezer) == 1
    assert await polled(house, watch, freezer) == 0


@pytest.mark.parametrize("kind", [FaultKind.STATUS_500, FaultKind.HTML])
async def test_the_server_is_back(
    house: House,
    ollama: Ollama,
    watch: Watch,
    freezer: FrozenDateTimeFactory,
    kind: FaultKind,
) -> None:
    """Whatever a server had before it did not answer is lost; while it does not, none is sent."""
    await set_up(house, ollama, watch, freezer)
    ollama.stand_in.fault = Fault(kind, paths=("/api/version",))
    for _ in range(3):
        assert await polled(house, watch, freezer) == 0
    ollama.stand_in.fault = None
    assert await polled(house, watch, freezer) == 1


CHANGES = {
    "gone": (NUM_CTX, None, -1, 1),
    "gone as it may": (NUM_CTX, None, 300, 0),
    "never there": (None, None, -1, 0),
    "loaded by someone": (None, NUM_CTX, 300, 1),
    "the same": (NUM_CTX, NUM_CTX, -1, 0),
    "other options": (NUM_CTX, OTHER, -1, 1),
    "loaded with other options": (None, OTHER, -1, 1),
    "our options again": (OTHER, NUM_CTX, -1, 0),
    "no longer says a length": (NUM_CTX, 0, -1, 0),
    "loaded, says no length": (None, 0, -1, 1),
}


@pytest.mark.parametrize(
    ("before", "after", "keep_alive", "expected"), CHANGES.values(), ids=CHANGES
)
async def test_what_is_loaded(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    watch: Watch,
    loaded: AsyncMock,
    freezer: FrozenDateTimeFactory,
    before: int | None,
    after: int | None,
    keep_alive: int,
    expected: int,
) -> None:
    """A model that was reloaded, by whomever, or that should be there, is an occasion."""
    loaded.return_value = ps(before)
    await set_up(house, ollama, watch, freezer, keep_alive=keep_alive)
    loaded.return_value = ps(after)
    assert await polled(house, watch, freezer) == expected
    assert await polled(house, watch, freezer) == 0


@pytest.mark.parametrize("between", [NUM_CTX, None])
async def test_two_that_load_against_each_other(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    watch: Watch,
    loaded: AsyncMock,
    freezer: FrozenDateTimeFactory,
    between: int | None,
) -> None:
    """Someone with other options is only answered once in ten minutes."""
    await set_up(house, ollama, watch, freezer, keep_alive=300)
    counts = []
    for _ in range(10):
        loaded.return_value = ps(OTHER)
        counts.append(await polled(house, watch, freezer))
        loaded.return_value = ps(between)
        assert await polled(house, watch, freezer) == 0
    # A round takes 82 seconds.
    assert counts == [1, 0, 0, 0, 0, 0, 0, 0, 1, 0]


async def test_agents_of_one_server(
    house: House, ollama: Ollama, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """All agents are warmed, one after the other, but for those that are not to be."""
    entry = add_server(house.hass, ollama.url, auto_warm=True)
    for title, auto_warm in (("Second", True), ("Third", False)):
        house.hass.config_entries.async_add_subentry(
            entry,
            ConfigSubentry(
                data=MappingProxyType(entry.subentries["agent"].data | {"auto_warm": auto_warm}),
                subentry_id=title,
                subentry_type="conversation",
                title=title,
                unique_id=None,
            ),
        )
    await house.set_up(entry)
    await later(house.hass, freezer, 10)
    warmed = [call.args[0].agent.entity_id for call in watch.warm_up.call_args_list]
    assert warmed == ["conversation.warm", "conversation.second"]
    assert set(entry.runtime_data.warmth.outcomes.last) == {"agent", "Second"}


async def test_the_last_warm_up(
    house: House,
    ollama: Ollama,
    watch: Watch,
    freezer: FrozenDateTimeFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """When an agent was warmed, and with what result, is kept; only what is not warm is logged."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    entry = add_server(house.hass, ollama.url, auto_warm=True)
    await house.set_up(entry)
    assert await watch.count(house.hass, freezer) == 1
    when, last = entry.runtime_data.warmth.outcomes.last["agent"]
    assert (when.isoformat(), last) == ("2026-11-30T12:00:10+00:00", turn())
    assert "is not warm" not in caplog.text
    cold = turn(Verdict.SERVER_LOST_IT, Reason.EVICTED)
    watch.warm_up.return_value = cold
    house.expose("light.porch")
    assert await watch.count(house.hass, freezer) == 1
    assert entry.runtime_data.warmth.outcomes.last["agent"][1] == cold
    assert "conversation.warm is not warm: evicted" in caplog.text


FAILURES = [
    CannotConnectError(url="http://server"),
    HomeAssistantError("No prompt can be built"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=["server", "prompt"])
async def test_a_warm_up_that_fails(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    watch: Watch,
    freezer: FrozenDateTimeFactory,
    caplog: pytest.LogCaptureFixture,
    failure: HomeAssistantError,
) -> None:
    """It is one warning until a warm-up works again, and it is tried at each occasion."""
    await set_up(house, ollama, watch, freezer)
    number = 0

    async def warm(*, works: bool) -> list[str]:
        nonlocal number
        number += 1
        watch.warm_up.side_effect = None if works else failure
        house.hass.states.async_set(f"sensor.new_{number}", "on")
        assert await watch.count(house.hass, freezer) == 1
        return [r.message for r in caplog.records if "could not be warmed" in r.message]

    assert await warm(works=True) == []
    (warning,) = await warm(works=False)
    assert warning == f"conversation.warm could not be warmed: {failure}"
    assert len(await warm(works=False)) == 1
    assert len(await warm(works=True)) == 1
    assert len(await warm(works=False)) == 2
    assert not [r for r in caplog.records if r.levelname == "ERROR"]
