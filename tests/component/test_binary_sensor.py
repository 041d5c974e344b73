"""Whether an agent is warm: only what was confirmed, and only as long as it may be true."""

import asyncio
from collections.abc import Generator
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.turns.turn_log import Cause, async_log_turn, async_show_turns
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import STATE_OFF, STATE_ON, STATE_UNAVAILABLE, STATE_UNKNOWN
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, later
from .support.server import NUM_CTX, Ollama
from .support.shown import says_all_is_well, says_loaded, warm
from .support.warmed import POLL_S, turn


@pytest.fixture
def well() -> Generator[None]:
    """Have the server say that it has the model loaded."""
    with says_all_is_well():
        yield


@pytest.fixture
async def warmed(well: None, house: House, ollama: Ollama) -> ConfigEntry:
    """Return the entry of a server with an agent that is warm."""
    entry = await house.set_up(add_server(house.hass, ollama.url))
    async_log_turn(house.hass, "agent", Cause.WARM_UP, turn())
    async_show_turns(house.hass, "agent")
    assert warm(house.hass) == STATE_ON
    return entry


async def test_questions(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """It is the verdict on the newest question; without a count no one knows."""
    assert warm(house.hass) == STATE_UNKNOWN
    await house.ask("hello")
    assert warm(house.hass) == STATE_OFF
    await house.ask("hello again")
    assert warm(house.hass) == STATE_ON
    ollama.stand_in.reports_cached = False
    await house.ask("hello once more")
    assert warm(house.hass) == STATE_UNKNOWN


async def test_warm_ups(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A warm-up counts like a question, whoever asked for it."""
    await house.ask("ping", conversation_id="ollama_warm.x")
    assert warm(house.hass) == STATE_OFF
    await house.ask("another ping", conversation_id="ollama_warm.x")
    assert warm(house.hass) == STATE_ON
    house.expose("light.porch")
    await agent.runtime_data.warmth.async_warm("agent")
    assert warm(house.hass) == STATE_ON


async def test_what_follows_a_confirmation(house: House, agent: ConfigEntry) -> None:
    """A warm-up's result is that of its confirmation, also where something was read after it."""
    warmth = agent.runtime_data.warmth

    async def warm_up(*_: object) -> object:
        confirmed = turn()
        async_log_turn(house.hass, "agent", Cause.WARM_UP, confirmed)
        planted = turn(Verdict.SERVER_LOST_IT, Reason.EVICTED)
        async_log_turn(house.hass, "agent", Cause.WARM_UP, planted)
        return confirmed

    with patch.object(warmth._warm_ups["agent"], "async_warm", warm_up):
        await warmth.async_warm("agent")
    assert warm(house.hass) == STATE_ON
    async_log_turn(house.hass, "agent", Cause.QUESTION, turn(Verdict.PROMPT_CHANGED))
    # What is shown comes after the answer.
    await asyncio.sleep(0)
    assert warm(house.hass) == STATE_OFF


async def test_the_server_was_away(
    house: House, warmed: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """What was true before it went is not known when it is back, until it is confirmed."""
    ollama.stand_in.fault = Fault(FaultKind.HTML, paths=("/api/version",))
    await later(house.hass, freezer, POLL_S)
    assert warm(house.hass) == STATE_UNAVAILABLE
    ollama.stand_in.fault = None
    await later(house.hass, freezer, POLL_S)
    assert warm(house.hass) == STATE_UNKNOWN
    async_log_turn(house.hass, "agent", Cause.WARM_UP, turn())
    async_show_turns(house.hass, "agent")
    assert warm(house.hass) == STATE_ON


@pytest.mark.parametrize("models", [{}, {"other": NUM_CTX}, {"tiny": NUM_CTX // 2}])
async def test_the_model_went(
    house: House, warmed: ConfigEntry, freezer: FrozenDateTimeFactory, models: dict[str, int]
) -> None:
    """A model that was unloaded, or loaded with other options, has lost what it had."""
    with says_loaded(**models):
        await later(house.hass, freezer, POLL_S)
        assert warm(house.hass) == STATE_UNKNOWN
    # That it is loaded again says nothing yet.
    await later(house.hass, freezer, POLL_S)
    assert warm(house.hass) == STATE_UNKNOWN


@pytest.mark.parametrize("models", [{"tiny": NUM_CTX, "other": NUM_CTX}, {"tiny": 0}])
async def test_nothing_to_do_with_it(
    house: House, warmed: ConfigEntry, freezer: FrozenDateTimeFactory, models: dict[str, int]
) -> None:
    """Another model that comes, or a server that no longer reports a length, changes nothing."""
    with says_loaded(**models):
        await later(house.hass, freezer, POLL_S)
        assert warm(house.hass) == STATE_ON


async def test_another_version(
    house: House, warmed: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A server that was updated between two looks has been restarted."""
    ollama.stand_in.version = "0.36.0"
    await later(house.hass, freezer, POLL_S)
    assert warm(house.hass) == STATE_UNKNOWN


async def test_a_question_loads_the_model(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """That the server says afterwards that the model is there takes nothing back."""
    with says_loaded():
        await house.set_up(add_server(house.hass, ollama.url))
    async_log_turn(house.hass, "agent", Cause.QUESTION, turn())
    with says_all_is_well():
        await later(house.hass, freezer, POLL_S)
    assert warm(house.hass) == STATE_ON


async def test_other_options(house: House, warmed: ConfigEntry) -> None:
    """After a reload, which any change of the options causes, nothing is known."""
    house.hass.config_entries.async_update_subentry(
        warmed, warmed.subentries["agent"], data={**warmed.subentries["agent"].data, "think": True}
    )
    await house.hass.async_block_till_done()
    assert warm(house.hass) == STATE_UNKNOWN
