"""Changing a server that is set up: its address, its key, what its agents share."""

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
)

from custom_components.ollama_warm.const import DOMAIN
from homeassistant.config_entries import ConfigEntry, ConfigEntryState, ConfigFlowResult
from homeassistant.const import CONF_API_KEY, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType

from .support.flows import answer, fields, read_through, refused, suggested
from .support.house import House, add_server, how_it_is
from .support.server import API_KEY, NOWHERE, Ollama


async def reconfigure(hass: HomeAssistant, entry: ConfigEntry) -> ConfigFlowResult:
    """Begin to change a server."""
    context = {"source": "reconfigure", "entry_id": entry.entry_id}
    flow = await hass.config_entries.flow.async_init(
        DOMAIN,
        context=context,  # type: ignore[arg-type]
    )
    return await read_through(hass, flow)


async def asked_for_a_key(hass: HomeAssistant) -> ConfigFlowResult:
    """Return the form that Home Assistant opened by itself."""
    (flow,) = hass.config_entries.flow.async_progress()
    assert (flow["context"]["source"], flow["step_id"]) == ("reauth", "reauth_confirm")
    result = await hass.config_entries.flow.async_configure(flow["flow_id"])
    return await read_through(hass, result)


async def test_a_server_moves(house: House, ollama: Ollama) -> None:
    """An entry that could not be set up is set up at once at its new address, and named so."""
    hass = house.hass
    entry = await house.set_up(add_server(hass, NOWHERE))
    hass.config_entries.async_update_entry(entry, title=NOWHERE)
    assert how_it_is(entry) is ConfigEntryState.SETUP_RETRY
    flow = await reconfigure(hass, entry)
    assert suggested(flow) == {CONF_URL: NOWHERE}
    words = await refused(hass, await answer(hass, flow, url="nonsense"), CONF_URL)
    assert words.startswith("This is not an address.")
    words = await refused(hass, await answer(hass, flow, url=NOWHERE))
    assert words.startswith(f"Nothing answers at {NOWHERE}.")
    result = await answer(hass, flow, url=f"{ollama.url}/")
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert how_it_is(entry) is ConfigEntryState.LOADED
    assert (entry.title, dict(entry.data)) == (ollama.url, {CONF_URL: ollama.url})


async def test_a_server_gets_a_key(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """What its owner named keeps its name, and the key is used and can be taken away again."""
    hass = house.hass
    ollama.stand_in.api_key = API_KEY
    flow = await reconfigure(hass, agent)
    words = await refused(hass, await answer(hass, flow, url=ollama.url))
    assert words == f"The server at {ollama.url} does not accept this API key."
    result = await answer(hass, flow, url=ollama.url, api_key=API_KEY)
    assert result["type"] is FlowResultType.ABORT
    assert (agent.title, agent.data[CONF_API_KEY]) == ("Server", API_KEY)
    await house.ask("hello")
    assert ollama.records[-1].headers["Authorization"] == f"Bearer {API_KEY}"

    ollama.stand_in.api_key = None
    flow = await reconfigure(hass, agent)
    assert suggested(flow) == {CONF_URL: ollama.url, CONF_API_KEY: API_KEY}
    await answer(hass, flow, url=ollama.url)
    assert dict(agent.data) == {CONF_URL: ollama.url}
    await house.ask("hello")
    assert "Authorization" not in ollama.records[-1].headers


async def test_two_entries_for_one_server(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A server does not become another one that is set up already."""
    other = MockConfigEntry(domain=DOMAIN, data={CONF_URL: NOWHERE})
    other.add_to_hass(house.hass)
    flow = await reconfigure(house.hass, other)
    result = await answer(house.hass, flow, url=ollama.url.upper())
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")
    assert other.data[CONF_URL] == NOWHERE


async def test_a_key_is_refused_at_the_start(house: House, ollama: Ollama) -> None:
    """An entry whose key is wrong asks for another one, and is set up with it."""
    hass = house.hass
    ollama.stand_in.api_key = API_KEY
    entry = await house.set_up(add_server(hass, ollama.url, api_key="old"))
    assert how_it_is(entry) is ConfigEntryState.SETUP_ERROR
    flow = await asked_for_a_key(hass)
    assert fields(flow) == [CONF_API_KEY]
    assert suggested(flow) == {}
    words = await refused(hass, await answer(hass, flow, api_key="wrong"))
    assert words == f"The server at {ollama.url} does not accept this API key."
    result = await answer(hass, flow, api_key=f" {API_KEY} ")
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reauth_successful")
    assert how_it_is(entry) is ConfigEntryState.LOADED
    assert dict(entry.data) == {CONF_URL: ollama.url, CONF_API_KEY: API_KEY}


@pytest.mark.parametrize("key", [API_KEY, ""], ids=["another key", "none is wanted any longer"])
async def test_a_key_is_refused_one_day(
    house: House, agent: ConfigEntry, ollama: Ollama, key: str
) -> None:
    """A server that is set up goes on with another key, or with the same one once it is taken."""
    hass = house.hass
    ollama.stand_in.api_key = API_KEY
    before = agent.runtime_data
    await before.async_refresh()
    await hass.async_block_till_done()
    flow = await asked_for_a_key(hass)
    ollama.stand_in.api_key = key or None
    await answer(hass, flow, **({CONF_API_KEY: key} if key else {}))
    assert how_it_is(agent) is ConfigEntryState.LOADED
    assert agent.runtime_data is not before
    assert agent.data.get(CONF_API_KEY, "") == key
    assert house.state not in (None, "unavailable")


async def test_the_weather(house: House, agent: ConfigEntry) -> None:
    """The weather that is reported is chosen for all agents, and can be left open again.

    Other integrations' agents are given it only on request.
    """
    hass = house.hass
    for values in ({"weather_entity": "weather.home"}, {"weather_for_others": True}, {}):
        flow = await hass.config_entries.options.async_init(agent.entry_id)
        await read_through(hass, flow, "options")
        assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "init")
        result = await hass.config_entries.options.async_configure(flow["flow_id"], values)
        await hass.async_block_till_done()
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert dict(agent.options) == {"weather_for_others": False} | values
    assert how_it_is(agent) is ConfigEntryState.LOADED


async def test_the_weather_that_was_chosen(house: House, agent: ConfigEntry) -> None:
    """The form shows what holds."""
    hass = house.hass
    chosen = {"weather_entity": "weather.home", "weather_for_others": True}
    hass.config_entries.async_update_entry(agent, options=chosen)
    await hass.async_block_till_done()
    flow = await hass.config_entries.options.async_init(agent.entry_id)
    assert suggested(flow) == chosen
