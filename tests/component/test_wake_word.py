"""The wake word: a prefix is read while the person who said it still talks."""

from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.ollama import turnstile
from custom_components.ollama_warm.ollama.turnstile import Turnstile
from homeassistant.components.conversation import async_prepare_agent
from homeassistant.config_entries import ConfigEntry
from tests.rig.ollama import Fault, FaultKind

from .support.house import AGENT, House, later, turns
from .support.server import Ollama


async def wake(house: House) -> None:
    """Say the wake word, and wait until nothing more happens."""
    await async_prepare_agent(house.hass, AGENT, "en")
    await house.hass.async_block_till_done(wait_background_tasks=True)


def turnstile_of(entry: ConfigEntry) -> Turnstile:
    """Return the turnstile of a server."""
    passed: Turnstile = entry.runtime_data.server.turnstile
    return passed


async def test_the_prefix_is_read(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """It is read once, for an agent as well that is not warmed by itself; the question is warm."""
    await wake(house)
    (record,) = ollama.records
    assert record.body["options"]["num_predict"] == 1
    (turn,) = turns(await house.ask("Is it late?", "kitchen"))
    assert turn["verdict"] == "warm"
    assert ollama.records[-1].body["messages"][0] == record.body["messages"][0]


async def test_two_satellites_at_once(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """One prefix for all of them is read once."""
    for _ in range(2):
        await async_prepare_agent(house.hass, AGENT, "en")
    await house.hass.async_block_till_done(wait_background_tasks=True)
    assert len(ollama.records) == 1


async def test_while_someone_talks(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is read for a prefix that a person has just used, or uses."""
    monkeypatch.setattr(turnstile, "QUIET_S", 5.0)
    async with turnstile_of(agent).person("someone"):
        await wake(house)
    await later(house.hass, freezer, 4)
    await wake(house)
    assert not ollama.records
    await later(house.hass, freezer, 2)
    await wake(house)
    assert len(ollama.records) == 1


async def test_while_something_is_warmed(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Nothing is read in addition to a warm-up."""
    async with turnstile_of(agent).warm_up("someone"):
        await wake(house)
    assert not ollama.records


async def test_it_fails(
    house: House, agent: ConfigEntry, ollama: Ollama, caplog: pytest.LogCaptureFixture
) -> None:
    """It is one warning until it works again, and the question is not the worse for it."""

    def warnings() -> int:
        return caplog.text.count("conversation.warm could not be warmed: ")

    for times in (1, 2):
        ollama.stand_in.fault = Fault(FaultKind.STATUS_500, paths=("/api/chat",))
        await wake(house)
        await wake(house)
        assert warnings() == times
        ollama.stand_in.fault = None
        await wake(house)
        assert warnings() == times
    assert turns(await house.ask("hello"))


async def test_the_language(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """It is the one that is spoken, or the house's where none is given."""
    with patch.object(type(agent.runtime_data.warm_ups["agent"]), "async_wake") as woken:
        await async_prepare_agent(house.hass, AGENT, "fr")
        await house.hass.data["conversation"].get_entity(AGENT).async_prepare()
        await house.hass.async_block_till_done(wait_background_tasks=True)
    assert [call.args for call in woken.call_args_list] == [("fr",), ("en",)]
