"""An entry is unloaded, set up again, disabled or removed while something is going on.

A person hears their answer to its end. Everything else ends, and nothing of what was in flight
is written, logged or reported any longer: the entry is gone, or another agent has taken its place.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    async_capture_events,
)

from custom_components.ollama_warm.agent.permits import _TOOLS
from custom_components.ollama_warm.const import CONF_WEATHER_FOR_OTHERS, DOMAIN
from custom_components.ollama_warm.turns.events import EVENT_NOT_WARMED
from custom_components.ollama_warm.turns.turn_log import _LOGS, async_turn_log
from homeassistant.components.conversation import async_prepare_agent
from homeassistant.config_entries import ConfigEntry, ConfigEntryDisabler, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from .support.house import AGENT, House, add_server, later, speech
from .support.puppet import Puppet
from .support.sentences import sentence
from .support.server import Ollama

STORED = "ollama_warm.server"
NOT_LOADED = "agent_not_loaded"

type Leave = Callable[[HomeAssistant, str], Awaitable[object]]


async def disable(hass: HomeAssistant, entry_id: str) -> None:
    """Disable an entry."""
    await hass.config_entries.async_set_disabled_by(entry_id, ConfigEntryDisabler.USER)


WAYS: dict[str, Leave] = {
    "unloaded": lambda hass, entry_id: hass.config_entries.async_unload(entry_id),
    "set up again": lambda hass, entry_id: hass.config_entries.async_reload(entry_id),
    "disabled": disable,
    "removed": lambda hass, entry_id: hass.config_entries.async_remove(entry_id),
}
every_way = pytest.mark.parametrize("leave", WAYS.values(), ids=WAYS)


@pytest.fixture
async def puppet(socket_enabled: None) -> AsyncGenerator[Puppet]:
    """Return a server that answers up to the middle, and only as much as it was asked before."""
    server = Puppet()
    await server.start()
    yield server
    await server.kill()


@pytest.fixture
async def entry(house: House, puppet: Puppet, freezer: FrozenDateTimeFactory) -> ConfigEntry:
    """Return an entry that has been asked something, and whose next answer is held."""
    entry = await house.set_up(add_server(house.hass, puppet.url))
    await house.ask("Count", "kitchen")
    await later(house.hass, freezer, 10)
    puppet.go_on.clear()
    return entry


def begun(puppet: Puppet, work: Awaitable[Any]) -> Awaitable[Any]:
    """Begin something, and have it held by the server; what comes after it is not held."""

    async def held() -> asyncio.Future[Any]:
        task = asyncio.ensure_future(work)
        await puppet.held.wait()
        puppet.holds = ""
        return task

    return held()


@every_way
async def test_a_question(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    entry: ConfigEntry,
    puppet: Puppet,
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
    leave: Leave,
) -> None:
    """It is answered; what it wrote after that would name what was hidden in the meantime."""
    assert "Bedside" in str(hass_storage[STORED])
    question = await begun(puppet, house.ask("Count", "kitchen"))
    await leave(house.hass, entry.entry_id)
    house.expose("light.bedside", exposed=False)
    if house.state not in (None, "unavailable"):
        await house.ask("Count", "kitchen")
        await later(house.hass, freezer, 10)
    elif STORED in hass_storage:
        # As if someone had looked through it.
        hass_storage[STORED]["data"]["agents"].clear()
    turns = len(async_turn_log(house.hass, "agent"))
    before = str(hass_storage.get(STORED))
    puppet.go_on.set()
    assert speech(await question) == "One two."
    await later(house.hass, freezer, 10)
    assert str(hass_storage.get(STORED)) == before
    assert "Bedside" not in before
    assert len(async_turn_log(house.hass, "agent")) == turns


@every_way
@pytest.mark.parametrize("begin", ["action", "button", "outside", "wake word"])
async def test_a_warm_up(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    entry: ConfigEntry,
    puppet: Puppet,
    freezer: FrozenDateTimeFactory,
    leave: Leave,
    begin: str,
) -> None:
    """It ends, and whoever waits for it reads a sentence; no event reports a failure."""
    hass = house.hass
    reported = async_capture_events(hass, EVENT_NOT_WARMED)
    target = {"entity_id": AGENT if begin == "action" else "button.warm_warm_now"}
    of = (DOMAIN, "warm") if begin == "action" else ("button", "press")
    works: dict[str, Callable[[], Awaitable[Any]]] = {
        "action": lambda: hass.services.async_call(*of, target, blocking=True),
        "button": lambda: hass.services.async_call(*of, target, blocking=True),
        "outside": lambda: house.ask("ping", conversation_id="ollama_warm.x"),
        "wake word": lambda: async_prepare_agent(hass, AGENT, "en"),
    }
    warm_up = await begun(puppet, works[begin]())
    turns = len(async_turn_log(hass, "agent"))
    await leave(hass, entry.entry_id)
    expected = await sentence(hass, "exceptions", f"{NOT_LOADED}.message", {"entity_id": AGENT})
    if begin == "outside":
        assert speech(await warm_up) == expected
    elif begin == "wake word":
        await warm_up
    else:
        with pytest.raises(HomeAssistantError) as raised:
            await warm_up
        assert raised.value.translation_key == NOT_LOADED
    puppet.go_on.set()
    await later(hass, freezer, 10)
    assert not reported
    assert len(async_turn_log(hass, "agent")) <= turns


@every_way
async def test_a_question_that_fails_afterwards(
    house: House, entry: ConfigEntry, puppet: Puppet, leave: Leave, freezer: FrozenDateTimeFactory
) -> None:
    """It is no failure of the agent that is there now, and brings back no log of one gone."""
    hass = house.hass
    question = await begun(puppet, house.ask("Count", "kitchen"))
    await leave(hass, entry.entry_id)
    if house.state not in (None, "unavailable"):
        await house.ask("Count", "kitchen")
        await later(hass, freezer, 10)
    before = [*async_turn_log(hass, "agent")]
    puppet.hang_up()
    assert "stopped in the middle" in speech(await question)
    assert [*async_turn_log(hass, "agent")] == before


async def test_an_agent_that_is_removed(house: House, ollama: Ollama) -> None:
    """Nothing is kept of it, be it the only one or one of two, and the other keeps all it had."""
    hass = house.hass
    entry = await house.set_up(add_server(hass, ollama.url))
    two = ConfigSubentry(
        data=entry.subentries["agent"].data,
        subentry_type="conversation",
        title="Two",
        unique_id=None,
        subentry_id="two",
    )
    hass.config_entries.async_add_subentry(entry, two)
    await hass.async_block_till_done()
    await house.ask("hello")
    await house.ask("hello", agent_id="conversation.two")
    kept = [hass.data[key] for key in (_LOGS, _TOOLS)]
    assert [[*one] for one in kept] == [["agent", "two"]] * 2
    hass.config_entries.async_remove_subentry(entry, "two")
    await hass.async_block_till_done()
    assert [[*one] for one in kept] == [["agent"]] * 2
    assert len(async_turn_log(hass, "agent")) == 1
    await hass.config_entries.async_remove(entry.entry_id)
    assert [[*one] for one in kept] == [[]] * 2


async def offered(hass: HomeAssistant) -> tuple[bool, bool]:
    """Return whether our API is there for the choosing, and whether Assist has our weather."""
    context = llm.LLMContext("test", None, "en", "conversation", None)
    assist = await llm.async_get_api(hass, llm.LLM_API_ASSIST, context)
    return (
        DOMAIN in {api.id for api in llm.async_get_apis(hass)},
        f"{DOMAIN}__meteo" in {tool.name for tool in assist.tools},
    )


async def with_weather(house: House, puppet: Puppet) -> ConfigEntry:
    """Return an entry whose weather other integrations' agents are offered as well."""
    house.hass.states.async_set("weather.home", "sunny")
    house.expose("weather.home")
    entry = add_server(house.hass, puppet.url)
    options = {CONF_WEATHER_FOR_OTHERS: True}
    house.hass.config_entries.async_update_entry(entry, options=options)
    return await house.set_up(entry)


@pytest.mark.parametrize("leave", [WAYS["disabled"], WAYS["removed"]], ids=["disabled", "removed"])
async def test_the_tools_go_with_the_last_entry(
    house: House, puppet: Puppet, leave: Leave, freezer: FrozenDateTimeFactory
) -> None:
    """Not before it, not while its server is away, and they come back with the next one."""
    hass = house.hass
    entry = await with_weather(house, puppet)
    assert await offered(hass) == (True, True)
    await hass.config_entries.async_reload(entry.entry_id)
    assert await offered(hass) == (True, True)
    await puppet.kill()
    await hass.config_entries.async_reload(entry.entry_id)
    assert await offered(hass) == (True, True)
    await leave(hass, entry.entry_id)
    assert await offered(hass) == (False, False)
    await puppet.start()
    if entry.disabled_by:
        await hass.config_entries.async_set_disabled_by(entry.entry_id, None)
    else:
        await with_weather(house, puppet)
    assert await offered(hass) == (True, True)


async def test_the_weather_goes_when_unloaded(house: House, puppet: Puppet) -> None:
    """Assist has no tool of an integration of which nothing is loaded."""
    hass = house.hass
    entry = await with_weather(house, puppet)
    await hass.config_entries.async_unload(entry.entry_id)
    assert await offered(hass) == (True, False)
