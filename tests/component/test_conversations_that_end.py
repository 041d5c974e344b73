"""A conversation that fails, is over, or is cut by a reload, and the same one begun again."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, how_it_is, later, turns
from .support.scripts import says
from .support.server import Ollama

STORED = "ollama_warm.server"
AN_HOUR = 3600


def users(ollama: Ollama) -> list[str]:
    """Return what people said in the last request."""
    return [message["content"] for message in ollama.messages if message["role"] == "user"]


async def test_a_failed_question_in_another_room(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """A question that failed in one room is not answered with that room's sentence elsewhere."""
    ollama.stand_in.fault = Fault(FaultKind.CLOSE, after=1, times=1)
    await house.ask("hello", "kitchen", conversation_id="talk")
    await house.ask("hello", "bedroom", conversation_id="talk")
    (words,) = users(ollama)
    assert "You are in area Bedroom" in words
    assert "You are in area Kitchen" not in words


async def test_an_id_that_is_used_again(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A conversation that is over is not remembered, though its id comes again."""
    await house.ask("hello", "kitchen", conversation_id="talk")
    await later(house.hass, freezer, AN_HOUR)
    await house.ask("hello", "bedroom", conversation_id="talk")
    (words,) = users(ollama)
    assert "You are in area Bedroom" in words
    assert "You are in area Kitchen" not in words


async def test_a_long_conversation_that_begins_again(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """What was left out of a long conversation is not left out of the next one."""
    await house.set_up(add_server(house.hass, ollama.url, max_history=2))
    ollama.stand_in.script = says("Yes.")
    for number in range(5):
        await house.ask(f"Question {number}", conversation_id="talk")
    await later(house.hass, freezer, AN_HOUR)
    await house.ask("Good morning", conversation_id="talk")
    (words,) = users(ollama)
    assert words.endswith("Good morning")


async def test_a_reload_right_after_a_question(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """What was learned a moment ago is not lost when the entry is reloaded."""
    await house.ask("hello", "kitchen")
    house.expose("light.porch")
    await house.ask("hello", "kitchen")
    await house.hass.config_entries.async_reload(agent.entry_id)
    (turn,) = turns(await house.ask("hello", "bedroom"))
    assert turn["verdict"] == "warm"
    assert "Porch" not in ollama.messages[0]["content"]


async def test_a_server_that_is_removed_right_after_a_question(
    house: House,
    agent: ConfigEntry,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
) -> None:
    """What was about to be written is no longer written."""
    await house.ask("hello", "kitchen")
    await house.hass.config_entries.async_remove(agent.entry_id)
    await later(house.hass, freezer, 10)
    assert STORED not in hass_storage


async def test_storage_of_a_later_release(
    house: House, ollama: Ollama, hass_storage: dict[str, Any]
) -> None:
    """A file that a later release wrote does not keep the agent from answering."""
    hass_storage[STORED] = {"version": 9, "minor_version": 1, "key": STORED, "data": {"x": 1}}
    entry = await house.set_up(add_server(house.hass, ollama.url))
    assert how_it_is(entry) is ConfigEntryState.LOADED
    result = await house.ask("hello", "kitchen")
    assert result.response.response_type.value == "action_done"
