"""Taking over an agent of Home Assistant's own integration."""

from typing import Any

import pytest

from custom_components.ollama_warm.flow.core_import import async_core_agents
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import CONF_API_KEY, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from tests.rig.ollama import Fault, FaultKind

from .support.flows import (
    NEW_AGENT,
    Result,
    aborted,
    add_core,
    answer,
    answer_agent,
    choose,
    read_through,
    refused,
    start,
    start_agent,
    suggested,
)
from .support.house import House, how_it_is
from .support.sentences import sentence
from .support.server import API_KEY, MODEL, NOWHERE, Ollama

CORE_AGENT: dict[str, Any] = {
    "model": MODEL,
    "prompt": "You are the old voice of the house.",
    "llm_hass_api": ["assist"],
    "num_ctx": 4096,
    "max_history": 7,
    "keep_alive": 300,
    "think": False,
}
OURS = {"auto_warm": True, "warm_interval": 60}
CLOCK = "It is {{ now() }}."


async def take_over(hass: HomeAssistant, flow: Any, agent: str) -> Any:  # noqa: ANN401 - of either flow
    """Choose an agent in either flow."""
    flows: Any = hass.config_entries.flow
    if not isinstance(flow["handler"], str):
        flows = hass.config_entries.subentries
    values = {"agent": f"core-{agent}", "name": "Warm voice"}
    result = await flows.async_configure(flow["flow_id"], values)
    await hass.async_block_till_done()
    return await read_through(hass, result)


def offered(flow: Result) -> dict[str, str]:
    """Return the agents that a form offers."""
    assert flow["data_schema"] is not None
    selector = flow["data_schema"].schema["agent"]
    return {option["value"]: option["label"] for option in selector.config["options"]}


def as_it_is(core: ConfigEntry) -> tuple[Any, ...]:
    """Return all that must not change of the entry of Home Assistant's own integration."""
    agents = [(agent.title, dict(agent.data)) for agent in core.subentries.values()]
    return dict(core.data), dict(core.options), core.title, core.state, agents


async def test_a_server_with_its_agent(house: House, ollama: Ollama) -> None:
    """One step makes an entry with address and key, and an agent that can be asked."""
    hass = house.hass
    ollama.stand_in.api_key = API_KEY
    core = add_core(hass, f"{ollama.url}/", API_KEY, Old=CORE_AGENT, Bare={"model": "tiny:latest"})
    before = as_it_is(core)
    flow = await start(hass)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.MENU, "user")
    flow = await choose(hass, flow, "take_over")
    assert offered(flow) == {"core-Old": "Old (tiny)", "core-Bare": "Bare (tiny:latest)"}
    result = await take_over(hass, flow, "Old")
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, ollama.url)
    entry: ConfigEntry = result["result"]
    assert dict(entry.data) == {CONF_URL: ollama.url, CONF_API_KEY: API_KEY}
    assert how_it_is(entry) is ConfigEntryState.LOADED
    (agent,) = entry.subentries.values()
    assert (agent.title, dict(agent.data)) == ("Warm voice", CORE_AGENT | OURS)
    assert as_it_is(core) == before
    await house.ask("hello", agent_id="conversation.warm_voice")
    assert ollama.body["options"]["num_ctx"] == 4096
    assert "You are the old voice of the house." in ollama.messages[0]["content"]

    # The other agents of that server are taken over from the server's own page.
    flow = await start(hass)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "server")


async def test_another_server(house: House, ollama: Ollama) -> None:
    """Whoever has agents elsewhere can still add a server."""
    add_core(house.hass, NOWHERE, Old=CORE_AGENT)
    flow = await choose(house.hass, await start(house.hass), "server")
    result = await answer(house.hass, flow, url=ollama.url)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_what_cannot_be_taken_over(house: House, ollama: Ollama) -> None:
    """A server that is away and a model that is gone are named; another agent can be chosen."""
    hass = house.hass
    add_core(hass, ollama.url, Gone=CORE_AGENT | {"model": "gone:4b"}, Old=CORE_AGENT)
    flow = await choose(hass, await start(hass), "take_over")
    words = await refused(hass, await take_over(hass, flow, "Gone"))
    assert words == "The server does not have the model gone:4b."
    ollama.stand_in.fault = Fault(FaultKind.STATUS_401, paths=("/api/tags",))
    result = await take_over(hass, flow, "Old")
    assert await refused(hass, result) == (
        f"The server at {ollama.url} does not accept this API key."
    )
    assert suggested(result) == {"agent": "core-Old", "name": "Warm voice"}
    ollama.stand_in.fault = None
    assert (await take_over(hass, flow, "Old"))["type"] is FlowResultType.CREATE_ENTRY


async def test_an_agent_of_a_server(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """An agent of whichever server is taken over for this one, moving parts and all."""
    hass = house.hass
    core = add_core(hass, NOWHERE, Old={"model": "tiny", "prompt": CLOCK})
    before = as_it_is(core)
    flow = await start_agent(hass, agent)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.MENU, "user")
    result = await take_over(hass, await choose(hass, flow, "take_over"), "Old")
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, "Warm voice")
    assert result["data"] == OURS | {
        "model": "tiny",
        "prompt": CLOCK,
        "llm_hass_api": [],
        # What Home Assistant's own integration does where nothing was chosen.
        "num_ctx": 8192,
        "max_history": 20,
        "keep_alive": -1,
        "think": False,
    }
    assert as_it_is(core) == before
    await house.ask("hello", agent_id="conversation.warm_voice")
    assert "It is 20" in ollama.messages[-1]["content"]


async def test_a_new_agent_all_the_same(house: House, agent: ConfigEntry) -> None:
    """No one has to take over anything."""
    hass = house.hass
    add_core(hass, NOWHERE, Old=CORE_AGENT)
    flow = await choose(hass, await start_agent(hass, agent), "agent")
    assert (await answer_agent(hass, flow, NEW_AGENT))["type"] is FlowResultType.CREATE_ENTRY


async def test_a_model_that_only_the_other_server_has(house: House, agent: ConfigEntry) -> None:
    """It is offered to be downloaded, or another one chosen with all else as it was."""
    hass = house.hass
    core_agent = CORE_AGENT | {"model": "gone:4b", "prompt": CLOCK}
    add_core(hass, NOWHERE, Old=core_agent)
    flow = await choose(hass, await start_agent(hass, agent), "take_over")
    flow = await take_over(hass, flow, "Old")
    assert (flow["type"], flow["step_id"]) == (FlowResultType.MENU, "missing")
    flow = await choose(hass, flow, "agent")
    values = core_agent | OURS | {"name": "Warm voice"}
    assert suggested(flow) == values
    # The instructions are in use already, so nothing is said of what moves in them.
    result = await answer_agent(hass, flow, values | {"model": "tiny"})
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, "Warm voice")


async def test_it_is_gone_by_now(house: House, agent: ConfigEntry) -> None:
    """An agent that was deleted while the form was open is no longer offered."""
    hass = house.hass
    core = add_core(hass, NOWHERE, First=CORE_AGENT, Second=CORE_AGENT, Third=CORE_AGENT)
    server_form = await choose(hass, await start(hass), "take_over")
    agent_form = await choose(hass, await start_agent(hass, agent), "take_over")
    hass.config_entries.async_remove_subentry(core, "core-First")
    for form in (server_form, agent_form):
        result = await take_over(hass, form, "First")
        assert result["type"] is FlowResultType.FORM
        assert list(offered(result)) == ["core-Second", "core-Third"]
    hass.config_entries.async_remove_subentry(core, "core-Second")
    hass.config_entries.async_remove_subentry(core, "core-Third")
    for form in (server_form, agent_form):
        result = await take_over(hass, form, "Second")
        assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "nothing_to_take_over")


async def test_the_server_is_not_there(house: House, agent: ConfigEntry) -> None:
    """Without the server no one knows its models, whichever way an agent is added."""
    hass = house.hass
    add_core(hass, NOWHERE, Old=CORE_AGENT)
    await hass.config_entries.async_unload(agent.entry_id)
    result = await choose(hass, await start_agent(hass, agent), "take_over")
    assert (await aborted(hass, result)).startswith("The server is not set up at the moment.")


async def test_which_agents_there_are(house: House) -> None:
    """Only what has an address and a model counts, with what its entry says in either place."""
    hass = house.hass
    add_core(hass, "not an address", Old=CORE_AGENT)
    add_core(hass, NOWHERE, Unmigrated={"prompt": "Hello"})
    core = add_core(hass, "HTTP://NAS:11434/", Old=CORE_AGENT | {"llm_hass_api": "assist"})
    add_core(hass, NOWHERE, New=CORE_AGENT | {"llm_hass_api": ["gone", "assist"], "prompt": ""})
    hass.config_entries.async_update_entry(core, options={"api_key": f" {API_KEY} "})
    found = list(async_core_agents(hass).values())
    assert [(one.title, one.server, one.model) for one in found] == [
        ("Old", {CONF_URL: "http://nas:11434", CONF_API_KEY: API_KEY}, "tiny"),
        ("New", {CONF_URL: NOWHERE}, "tiny"),
    ]
    assert [one.data["llm_hass_api"] for one in found] == [["assist"], ["assist"]]
    assert "prompt" not in found[1].data


@pytest.mark.parametrize("language", ["en", "fr"])
async def test_the_choice_in_words(hass: HomeAssistant, language: str) -> None:
    """The menu names both ways."""
    for option in ("server", "take_over"):
        assert await sentence(hass, "config", f"step.user.menu_options.{option}", language=language)
