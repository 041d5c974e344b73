"""Whose agents have the weather unasked: ours, and others only where that was chosen."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
)

from custom_components.ollama_warm.const import CONF_WEATHER_ENTITY, CONF_WEATHER_FOR_OTHERS, DOMAIN
from custom_components.ollama_warm.flow.migration import MINOR_VERSION
from homeassistant.config_entries import ConfigEntry, ConfigEntryDisabler, ConfigEntryState
from homeassistant.core import HomeAssistant

from .support.house import House, add_server
from .support.server import NOWHERE, Ollama
from .support.skies import METEO, api, met_no, set_up

OTHERS = ("ollama", "openai_conversation", "mcp_server", "conversation", "")
ON, OFF = {CONF_WEATHER_FOR_OTHERS: True}, {CONF_WEATHER_FOR_OTHERS: False}


async def has_weather(hass: HomeAssistant, platform: str, *apis: str) -> bool:
    """Return whether an agent of an integration with these APIs has the tool."""
    instance = await api(hass, apis, platform=platform)
    # Home Assistant 2026.10 puts the name of the API in front where there are several.
    return any(tool.name.endswith(METEO) for tool in instance.tools)


@pytest.mark.parametrize(
    ("servers", "is_for_others"),
    [
        ([], False),
        ([{}], False),
        ([OFF], False),
        ([ON], True),
        ([OFF, ON], True),
        ([{CONF_WEATHER_ENTITY: "weather.home"}, {}], False),
        ([ON | {CONF_WEATHER_ENTITY: "weather.home"}], True),
    ],
)
async def test_whose_agent_asks(
    hass: HomeAssistant,
    servers: list[dict[str, Any]],
    is_for_others: bool,  # noqa: FBT001 (from parametrize)
) -> None:
    """Ours always has it; another one with Assist where one server says so, or by our own API."""
    await set_up(hass, met_no())
    for options in servers:
        MockConfigEntry(domain=DOMAIN, options=options).add_to_hass(hass)
    assert await has_weather(hass, DOMAIN, "assist")
    for platform in OTHERS:
        assert await has_weather(hass, platform, "assist") is is_for_others
        assert await has_weather(hass, platform, DOMAIN)
        assert await has_weather(hass, platform, "assist", DOMAIN)


async def test_a_server_that_is_disabled(hass: HomeAssistant) -> None:
    """It gives nothing to anyone."""
    await set_up(hass, met_no())
    entry = MockConfigEntry(domain=DOMAIN, options=ON, disabled_by=ConfigEntryDisabler.USER)
    entry.add_to_hass(hass)
    assert not await has_weather(hass, "ollama", "assist")


@pytest.mark.parametrize(
    "options", [{}, {CONF_WEATHER_ENTITY: "weather.home"}, OFF], ids=["none", "weather", "off"]
)
@pytest.mark.parametrize("url", [None, NOWHERE], ids=["there", "away"])
async def test_who_had_it_keeps_it(
    house: House, ollama: Ollama, options: dict[str, Any], url: str | None
) -> None:
    """An entry of before goes on to give it to all, whether or not its server is there."""
    entry = add_server(house.hass, url or ollama.url)
    house.hass.config_entries.async_update_entry(entry, options=options, minor_version=1)
    await house.set_up(entry)
    assert entry.state is (ConfigEntryState.SETUP_RETRY if url else ConfigEntryState.LOADED)
    assert dict(entry.options) == ON | options
    assert (entry.version, entry.minor_version) == (1, MINOR_VERSION)


async def test_a_new_entry_gives_it_to_no_one_else(house: House, agent: ConfigEntry) -> None:
    """What is set up today, or was set up by a later version, is left as it is."""
    hass = house.hass
    assert dict(agent.options) == {}
    hass.config_entries.async_update_entry(agent, minor_version=MINOR_VERSION + 1)
    await hass.config_entries.async_reload(agent.entry_id)
    assert agent.state is ConfigEntryState.LOADED
    assert dict(agent.options) == {}
