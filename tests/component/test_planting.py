"""A checkpoint in front of a person's question, and agents that are gone."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory

from homeassistant.config_entries import ConfigEntry
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, later, turns
from .support.server import Ollama
from .support.zoo import RECURRENT, Zoo, set_up

STORED = "ollama_warm.server"


async def warmed(house: House, zoo: Zoo) -> ConfigEntry:
    """Set up an agent with a model that needs checkpoints, and warm it."""
    entry = await set_up(house, zoo, RECURRENT)
    await entry.runtime_data.warm_ups["agent"].async_warm("en")
    zoo.records.clear()
    return entry


async def test_a_person_who_changes_the_prefix(house: House, zoo: Zoo) -> None:
    """The new prefix is read bare first, and the next question re-reads no batch."""
    await warmed(house, zoo)
    house.expose("light.porch", exposed=True)
    house.expose("light.ceiling", exposed=False)
    first = turns(await house.ask("hello", "kitchen"))
    assert zoo.steps() == "rrpc"
    assert [turn["verdict"] for turn in first] == ["prompt_changed", "warm"]
    (second,) = turns(await house.ask("hello again", "bedroom"))
    assert second["re_read_tokens"] < 80


async def test_a_checkpoint_that_cannot_be_left(house: House, zoo: Zoo) -> None:
    """The question is answered all the same."""
    await warmed(house, zoo)
    house.expose("light.ceiling", exposed=False)
    zoo.stand_in.fault = Fault(FaultKind.STATUS_500, paths=("/api/generate",))
    (turn,) = turns(await house.ask("hello", "kitchen"))
    assert turn["verdict"] == "prompt_changed"


async def test_an_agent_that_is_gone_is_forgotten(
    house: House, ollama: Ollama, hass_storage: dict[str, Any], freezer: FrozenDateTimeFactory
) -> None:
    """What was learned for it does not stay on the disk."""
    entry = await house.set_up(add_server(house.hass, ollama.url))
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, 10)
    assert list(hass_storage[STORED]["data"]["agents"]) == ["agent"]
    house.hass.config_entries.async_remove_subentry(entry, "agent")
    await house.hass.async_block_till_done()
    await later(house.hass, freezer, 10)
    assert hass_storage[STORED]["data"]["agents"] == {}
