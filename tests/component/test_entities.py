"""The entities of a server and its agents: what there is, and that each is described in full."""

from collections.abc import Generator
import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from pytest_homeassistant_custom_component.syrupy import (  # type: ignore[import-untyped]
    HomeAssistantSnapshotExtension,
)
from syrupy.assertion import SnapshotAssertion

import custom_components.ollama_warm
from custom_components.ollama_warm.const import DOMAIN
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er

from .support.house import House, add_server
from .support.server import Ollama
from .support.shown import all_enabled, says_all_is_well

COMPONENT = Path(custom_components.ollama_warm.__file__).parent
LANGUAGES = sorted(path.stem for path in (COMPONENT / "translations").glob("*.json"))
OFF_AT_FIRST = {"prompt_tokens", "cached_share", "prefill_time"}


@pytest.fixture
def everything() -> Generator[None]:
    """Have all entities enabled, and the server say the same each time."""
    with all_enabled(), says_all_is_well():
        yield


def loaded(name: str) -> dict[str, Any]:
    """Return the entities of a file of the component."""
    entities: dict[str, Any] = json.loads((COMPONENT / name).read_text())["entity"]
    return entities


def entities_of(hass: HomeAssistant, entry: ConfigEntry) -> list[er.RegistryEntry]:
    """Return the entities of an entry."""
    return er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)


@pytest.mark.parametrize("platform", ["binary_sensor", "button", "sensor"])
async def test_all_of_them(
    everything: None, house: House, ollama: Ollama, platform: str, snapshot: SnapshotAssertion
) -> None:
    """Each entity has its category, class, unit and name, and knows nothing before a question."""
    # Leaves out what differs from run to run.
    snapshot = snapshot.use_extension(HomeAssistantSnapshotExtension)
    entry = await house.set_up(add_server(house.hass, ollama.url))
    found = [entity for entity in entities_of(house.hass, entry) if entity.domain == platform]
    for entity in sorted(found, key=lambda entity: entity.entity_id):
        assert entity == snapshot(name=f"{entity.entity_id}-entry")
        assert house.hass.states.get(entity.entity_id) == snapshot(name=f"{entity.entity_id}-state")


async def test_noisy_ones(house: House, agent: ConfigEntry) -> None:
    """What few people want to see in their history is off at first."""
    off = {entity.unique_id for entity in entities_of(house.hass, agent) if entity.disabled}
    assert off == {f"agent_{key}" for key in OFF_AT_FIRST}


async def test_devices(house: House, agent: ConfigEntry) -> None:
    """The server is a service of the entry, and each agent one of its own that hangs on it."""
    registry = dr.async_get(house.hass)
    server = registry.async_get_device_by_identifier((DOMAIN, "server"), agent.entry_id)
    device = registry.async_get_device_by_identifier((DOMAIN, "agent"), agent.entry_id)
    assert server is not None
    assert device is not None
    assert (server.name, server.config_subentry_id) == ("Server", None)
    assert (device.name, device.config_subentry_id) == ("Warm", "agent")
    assert device.via_device_id == server.id
    assert server.entry_type is device.entry_type is dr.DeviceEntryType.SERVICE
    of_server = {e.unique_id for e in entities_of(house.hass, agent) if e.device_id == server.id}
    assert of_server == {"server_version", "server_loaded_model", "server_context_length"}


async def test_an_agent_comes_and_goes(house: House, agent: ConfigEntry) -> None:
    """A new agent has its device and entities at once, and they go with it."""
    before = {entity.unique_id for entity in entities_of(house.hass, agent)}
    second = ConfigSubentry(
        data=MappingProxyType(dict(agent.subentries["agent"].data)),
        subentry_id="second",
        subentry_type="conversation",
        title="Second",
        unique_id=None,
    )
    house.hass.config_entries.async_add_subentry(agent, second)
    await house.hass.async_block_till_done()
    after = {entity.unique_id for entity in entities_of(house.hass, agent)}
    assert after - before == {
        unique_id.replace("agent", "second")
        for unique_id in before
        if unique_id.startswith("agent")
    }
    house.hass.config_entries.async_remove_subentry(agent, "second")
    await house.hass.async_block_till_done()
    assert {entity.unique_id for entity in entities_of(house.hass, agent)} == before
    devices = dr.async_entries_for_config_entry(dr.async_get(house.hass), agent.entry_id)
    assert {device.name for device in devices} == {"Server", "Warm"}


async def test_none_in_the_prompt(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Nothing that we show is exposed by itself: it would change the prompt with each question."""
    await house.ask("hello")
    for entity in entities_of(house.hass, agent):
        assert not async_should_expose(house.hass, "conversation", entity.entity_id)
    assert "Last warm-up" not in json.dumps(ollama.body)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_names(everything: None, house: House, ollama: Ollama, language: str) -> None:
    """Each entity has a name and each state its words, in each language, and none is too much."""
    entry = await house.set_up(add_server(house.hass, ollama.url))
    names = loaded(f"translations/{language}.json")
    found = {(e.domain, e.translation_key) for e in entities_of(house.hass, entry)}
    found.remove(("conversation", "conversation"))
    assert found == {(platform, key) for platform, keys in names.items() for key in keys}
    for entity in entities_of(house.hass, entry):
        if options := (entity.capabilities or {}).get("options"):
            assert set(names[entity.domain][entity.translation_key]["state"]) == set(options)
        if entity.domain == "sensor" and "token" in str(entity.unit_of_measurement):
            assert names["sensor"][entity.translation_key]["unit_of_measurement"]


async def test_icons(everything: None, house: House, ollama: Ollama) -> None:
    """Each entity and action has an icon, as have our own states, and none is too much."""
    entry = await house.set_up(add_server(house.hass, ollama.url))
    icons = loaded("icons.json")
    found = {(e.domain, e.translation_key) for e in entities_of(house.hass, entry)}
    assert found == {(platform, key) for platform, keys in icons.items() for key in keys}
    names = loaded("translations/en.json")
    for platform, key in (("sensor", "last_reason"), ("binary_sensor", "warm")):
        assert icons[platform][key]["state"].keys() == names[platform][key]["state"].keys()
    actions = json.loads((COMPONENT / "icons.json").read_text())["services"]
    assert actions.keys() == house.hass.services.async_services()[DOMAIN].keys()
