"""The last turns of each agent, and that no one's words are kept anywhere."""

from collections.abc import Iterator
import json
import logging
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.turns.turn_log import (
    MOST_TURNS,
    Cause,
    LoggedTurn,
    async_forget_turns,
    async_log_turn,
    async_turn_log,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from tests.rig.ollama import Fault, FaultKind

from .support.house import AGENT, House, later, speech
from .support.scripts import call, calls, says
from .support.server import Ollama
from .support.warmed import turn

WORDS = ("Xylophone", "Zeppelin")
"""What a person says, and what the model answers."""


def causes(hass: HomeAssistant) -> list[Cause]:
    """Return who caused the turns in the agent's log."""
    return [logged.cause for logged in async_turn_log(hass, "agent")]


def test_the_last_five_hundred(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """The log of each agent holds its last 500 turns, the oldest first, and when they ended."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    for _ in range(MOST_TURNS + 20):
        async_log_turn(hass, "agent", Cause.QUESTION, turn())
        freezer.tick(1)
    async_log_turn(hass, "other", Cause.WARM_UP, turn())
    log = async_turn_log(hass, "agent")
    assert (MOST_TURNS, len(log)) == (500, 500)
    assert log[0].ended.isoformat() == "2026-11-30T12:00:20+00:00"
    assert log[-1].ended.isoformat() == "2026-11-30T12:08:39+00:00"
    (other,) = async_turn_log(hass, "other")
    assert other == LoggedTurn(other.ended, Cause.WARM_UP, turn())


def test_forgotten(hass: HomeAssistant) -> None:
    """What is forgotten is gone for that agent only, and nothing needs to be there."""
    async_forget_turns(hass, {"agent"})
    for agent in ("agent", "other"):
        async_log_turn(hass, agent, Cause.QUESTION, turn())
    async_forget_turns(hass, {"agent", "never seen"})
    assert [len(async_turn_log(hass, agent)) for agent in ("agent", "other")] == [0, 1]


async def test_a_reload_and_a_removal(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The log survives a reload of the entry, and goes with it."""
    await house.ask("hello")
    await house.ask("ping", conversation_id="ollama_warm.x")
    await house.hass.config_entries.async_reload(agent.entry_id)
    assert causes(house.hass) == ["question", "warm_up"]
    await house.ask("hello")
    assert causes(house.hass) == ["question", "warm_up", "question"]
    await house.hass.config_entries.async_remove(agent.entry_id)
    assert causes(house.hass) == []


async def test_each_call_is_a_turn(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A question that needs a tool is two turns, with the counts that the reply carries."""
    ollama.stand_in.script = calls(call("intent__HassTurnOn", name="Ceiling"))
    result = await house.ask("Light!", "kitchen")
    reported = result.response.speech["plain"]["extra_data"]["ollama_warm"]["turns"]
    log = async_turn_log(house.hass, "agent")
    assert [logged.turn.as_dict() for logged in log] == reported
    assert [logged.turn.cached_tokens for logged in log] == [
        r.cached_tokens for r in ollama.records
    ]


def texts(value: object) -> Iterator[str]:
    """Yield all that a test can read of something, its attributes included."""
    yield repr(value)
    yield json.dumps(value, default=repr, ensure_ascii=False)


async def test_no_ones_words(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither a line in the log, nor the stored file, nor the turns hold what was said."""
    caplog.set_level(logging.DEBUG, "custom_components.ollama_warm")
    said, answered = WORDS
    ollama.stand_in.script = says(f"The {answered} ", "is on.")
    for room in ("kitchen", "bedroom", None):
        result = await house.ask(f"Turn on the {said}", room, conversation_id=f"talk {room}")
        assert answered in speech(result)
        await house.ask(f"And the {said}?", room, conversation_id=f"talk {room}")
    ollama.stand_in.script = calls(call("intent__HassTurnOn", name=said), then=answered)
    await house.ask(f"The {said}!", "kitchen")
    house.expose("light.bedside", exposed=False)
    await house.ask(said, "kitchen", extra_system_prompt=f"{said} was announced.")
    await house.ask(said, conversation_id="ollama_warm.x")
    for kind in FaultKind:
        if kind is not FaultKind.DELAY:
            ollama.stand_in.fault = Fault(kind)
            await house.ask(f"Do you hear the {said}?", "bedroom")
            await house.ask(f"Do you hear the {said}?", conversation_id="ollama_warm.x")
    ollama.stand_in.fault = None
    await agent.runtime_data.warmth.async_warm_all()
    await later(house.hass, freezer, 10)
    await house.hass.config_entries.async_reload(agent.entry_id)
    assert said in "".join(record.raw for record in ollama.records)
    ours = [r for r in caplog.records if r.name.startswith("custom_components.ollama_warm")]
    state = house.hass.states.get(AGENT)
    assert ours
    assert hass_storage["ollama_warm.server"]["data"]["agents"]
    for kept in (
        [(record.getMessage(), record.exc_text) for record in ours],
        hass_storage["ollama_warm.server"],
        list(async_turn_log(house.hass, "agent")),
        state and state.as_dict(),
    ):
        for text in texts(kept):
            assert not any(word.lower() in text.lower() for word in WORDS)
