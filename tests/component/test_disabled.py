"""An agent whose entity is disabled, however that came about: nothing of it goes on."""

from collections.abc import Callable
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.problems.windows import async_clients
from custom_components.ollama_warm.warming.warmth import COOLDOWN_S
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import device_registry as dr, entity_registry as er

from .support.house import AGENT, House, add_server, later
from .support.issues import issues
from .support.server import MODEL, Ollama
from .support.warmed import watched

STORED = "ollama_warm.server"
AN_INTERVAL_S = 11 * 60
RELOADED_S = 31
"""Until Home Assistant has set up the entry of an enabled entity again."""

type Switch = Callable[..., None]


def by_entity(hass: HomeAssistant, *, disabled: bool) -> None:
    """Disable the agent's entity, or enable it."""
    disabler = er.RegistryEntryDisabler.USER if disabled else None
    er.async_get(hass).async_update_entity(AGENT, disabled_by=disabler)


def by_device(hass: HomeAssistant, *, disabled: bool) -> None:
    """Disable the agent's device, or enable it."""
    devices = dr.async_get(hass)
    device = next(one for one in devices.devices if (DOMAIN, "agent") in one.identifiers)
    disabler = dr.DeviceEntryDisabler.USER if disabled else None
    devices.async_update_device(device.id, disabled_by=disabler)


SWITCHES = {"entity": by_entity, "device": by_device}


@pytest.fixture
async def warm(house: House, ollama: Ollama, freezer: FrozenDateTimeFactory) -> ConfigEntry:
    """Return the entry of an agent that is warmed by itself, every ten minutes as well."""
    entry = await house.set_up(add_server(house.hass, ollama.url, auto_warm=True, warm_interval=10))
    await later(house.hass, freezer, COOLDOWN_S)
    assert ollama.records
    return entry


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
async def test_nothing_warms_it(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    warm: ConfigEntry,
    freezer: FrozenDateTimeFactory,
    hass_storage: dict[str, Any],
    switch: Switch,
) -> None:
    """No change of the house, no interval and no return of the server; enabled, it is warmed."""
    hass = house.hass
    switch(hass, disabled=True)
    await later(hass, freezer, COOLDOWN_S)
    ollama.records.clear()
    house.expose("light.porch")
    await later(hass, freezer, COOLDOWN_S)
    await later(hass, freezer, AN_INTERVAL_S)
    await ollama.run(ollama.stand_in.stop())
    await later(hass, freezer, RELOADED_S)
    await ollama.run(ollama.stand_in.start())
    await later(hass, freezer, RELOADED_S)
    await later(hass, freezer, COOLDOWN_S)
    assert not ollama.records
    assert house.state is None or house.state == "unavailable"
    assert hass_storage[STORED]["data"]["agents"] == {}
    switch(hass, disabled=False)
    await later(hass, freezer, RELOADED_S)
    await later(hass, freezer, COOLDOWN_S)
    assert ollama.records
    assert "Porch" in ollama.messages[0]["content"]


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
async def test_what_is_going_on_ends(
    house: House, ollama: Ollama, warm: ConfigEntry, freezer: FrozenDateTimeFactory, switch: Switch
) -> None:
    """A warm-up that has just begun, or is about to, is not gone on with."""
    with watched() as watch:
        house.expose("light.porch")
        switch(house.hass, disabled=True)
        assert await watch.count(house.hass, freezer) == 0


async def test_no_repairs(house: House, ollama: Ollama, freezer: FrozenDateTimeFactory) -> None:
    """Nothing is to be mended at an agent that no one can talk to, nor is it in another's way."""
    prompt = "It is {{ now() }}."
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    assert set(issues(house.hass)) == {"moving_part"}
    assert [one.name for one in async_clients(house.hass, ollama.url, MODEL)] == ["Warm"]
    by_entity(house.hass, disabled=True)
    await house.hass.async_block_till_done()
    assert not issues(house.hass)
    assert not list(async_clients(house.hass, ollama.url, MODEL))
    assert not entry.runtime_data.agents


async def test_actions(house: House, ollama: Ollama, agent: ConfigEntry) -> None:
    """Named, it is said what to do; as one of many it is passed over."""
    hass = house.hass
    by_entity(hass, disabled=True)
    await hass.async_block_till_done()
    with pytest.raises(ServiceValidationError) as caught:
        await hass.services.async_call(DOMAIN, "warm", {"entity_id": AGENT}, blocking=True)
    assert caught.value.translation_key == "agent_not_loaded"
    er.async_get(hass).async_update_entity(AGENT, labels={"voices"})
    with pytest.raises(ServiceValidationError) as caught:
        await hass.services.async_call(DOMAIN, "warm", {"label_id": "voices"}, blocking=True)
    assert caught.value.translation_key == "no_agents"
    assert not ollama.records


async def test_new_entities_are_disabled(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """Where a server's new entities are to be disabled, its new agents are, too."""
    entry = add_server(house.hass, ollama.url, auto_warm=True)
    house.hass.config_entries.async_update_entry(entry, pref_disable_new_entities=True)
    await house.set_up(entry)
    await later(house.hass, freezer, COOLDOWN_S)
    assert not entry.runtime_data.agents
    assert not ollama.records
