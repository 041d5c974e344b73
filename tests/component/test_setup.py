"""A server is set up, goes away, comes back, and is removed."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.components.conversation import ConversationEntityFeature
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.helpers import device_registry as dr
from tests.rig.ollama import Fault, FaultKind

from .support.house import AGENT, House, add_server, how_it_is, later
from .support.server import API_KEY, NOWHERE, Ollama

STORED = "ollama_warm.server"


async def test_a_service_device(house: House, agent: ConfigEntry) -> None:
    """Each agent is a device that is a service, named like the agent."""
    assert how_it_is(agent) is ConfigEntryState.LOADED
    devices = dr.async_entries_for_config_entry(dr.async_get(house.hass), agent.entry_id)
    (device,) = (device for device in devices if ("ollama_warm", "agent") in device.identifiers)
    assert (device.name, device.model, device.manufacturer) == ("Warm", "tiny", "Ollama")
    assert device.entry_type is dr.DeviceEntryType.SERVICE
    state = house.hass.states.get(AGENT)
    assert state is not None
    assert state.attributes["supported_features"] == ConversationEntityFeature.CONTROL


async def test_the_server_is_down_at_first(house: House, ollama: Ollama) -> None:
    """Set-up is tried again, with a reason to read, until the server is there."""
    entry = await house.set_up(add_server(house.hass, NOWHERE))
    assert how_it_is(entry) is ConfigEntryState.SETUP_RETRY
    assert entry.reason == (
        f"I cannot reach the model server at {NOWHERE}. Check that Ollama is running"
    )
    house.hass.config_entries.async_update_entry(entry, data={"url": ollama.url})
    await house.hass.config_entries.async_reload(entry.entry_id)
    assert how_it_is(entry) is ConfigEntryState.LOADED


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (FaultKind.HTML, "Something answers at {url}, but it is not Ollama."),
        (FaultKind.STATUS_500, "The model server reports an error: llama-server process"),
    ],
)
async def test_the_server_fails_at_first(
    house: House, ollama: Ollama, kind: FaultKind, reason: str, freezer: FrozenDateTimeFactory
) -> None:
    """A server that answers nonsense is tried again by itself."""
    ollama.stand_in.fault = Fault(kind, paths=("/api/version",))
    entry = await house.set_up(add_server(house.hass, ollama.url))
    assert how_it_is(entry) is ConfigEntryState.SETUP_RETRY
    assert entry.reason is not None
    assert entry.reason.startswith(reason.format(url=ollama.url))
    ollama.stand_in.fault = None
    await later(house.hass, freezer, 60)
    assert how_it_is(entry) is ConfigEntryState.LOADED


async def test_another_key_is_wanted(house: House, ollama: Ollama) -> None:
    """A wrong key is not tried again and again; the reason says what to do."""
    ollama.stand_in.api_key = API_KEY
    entry = await house.set_up(add_server(house.hass, ollama.url, api_key="old"))
    assert how_it_is(entry) is ConfigEntryState.SETUP_ERROR
    assert entry.reason == (
        f"The model server at {ollama.url} does not accept the API key. Enter the right one in "
        "the settings of Ollama Warm"
    )
    house.hass.config_entries.async_update_entry(
        entry, data={"url": ollama.url, "api_key": API_KEY}
    )
    await house.hass.config_entries.async_reload(entry.entry_id)
    assert how_it_is(entry) is ConfigEntryState.LOADED
    await house.ask("hello")
    assert ollama.records[-1].headers["Authorization"] == f"Bearer {API_KEY}"


async def test_the_server_goes_and_comes(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The agent is unavailable in the meantime, with one line in the log for each way."""
    ollama.stand_in.fault = Fault(FaultKind.HTML, paths=("/api/ps",))
    for _ in range(3):
        await later(house.hass, freezer, 31)
    assert house.state == STATE_UNAVAILABLE
    assert len(logged(caplog, "ERROR")) == 1
    ollama.stand_in.fault = None
    await later(house.hass, freezer, 31)
    assert house.state == STATE_UNKNOWN
    assert len(logged(caplog, "INFO")) == 1
    assert agent.runtime_data.data.version == "0.35.1"
    await house.ask("hello")
    await later(house.hass, freezer, 31)
    assert agent.runtime_data.data.loaded == {"tiny:latest": 8192}


async def test_the_key_changes_later(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A server that wants a key all at once makes the agent unavailable."""
    ollama.stand_in.api_key = API_KEY
    await later(house.hass, freezer, 31)
    assert house.state == STATE_UNAVAILABLE


async def test_it_is_unloaded_and_loaded(house: House, agent: ConfigEntry) -> None:
    """Unloading leaves nothing running, and a reload brings the agent back."""
    assert await house.hass.config_entries.async_unload(agent.entry_id)
    assert how_it_is(agent) is ConfigEntryState.NOT_LOADED
    assert house.state == STATE_UNAVAILABLE
    assert await house.hass.config_entries.async_setup(agent.entry_id)
    assert house.state == STATE_UNKNOWN


async def test_nothing_is_left_of_a_removed_server(
    house: House,
    agent: ConfigEntry,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
) -> None:
    """What was learned of the house is deleted with the server."""
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, 10)
    assert "Bedside" in str(hass_storage[STORED])
    await house.hass.config_entries.async_remove(agent.entry_id)
    await later(house.hass, freezer, 10)
    assert STORED not in hass_storage


def logged(caplog: pytest.LogCaptureFixture, level: str) -> list[str]:
    """Return the lines of the integration at one level."""
    return [
        record.message
        for record in caplog.records
        if record.levelname == level and record.name.startswith("custom_components.ollama_warm")
    ]
