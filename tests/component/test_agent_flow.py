"""Adding an agent to a server, and changing it."""

from collections.abc import Awaitable, Callable
import re

import pytest

from custom_components.ollama_warm.flow.flow_schema import label
from custom_components.ollama_warm.ollama.client import Model
from custom_components.ollama_warm.ollama.facts import full_name
from homeassistant.config_entries import ConfigEntry, ConfigEntryState, SubentryFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from tests.rig.ollama import Fault, FaultKind

from .support.flows import (
    NEW_AGENT,
    SECTIONS,
    aborted,
    answer_agent,
    change_agent,
    fields,
    start_agent,
    suggested,
)
from .support.house import AGENT, OPTIONS, House
from .support.sentences import sentence
from .support.server import JSON, NUM_CTX, Ollama, answering

type Begin = Callable[[HomeAssistant, ConfigEntry], Awaitable[SubentryFlowResult]]

NUMBERS = ("num_ctx", "max_history", "keep_alive")


async def test_an_agent_is_added(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Whole numbers are stored as such, and the agent can be asked at once."""
    flow = await start_agent(house.hass, agent)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "agent")
    assert {name: fields(flow, name) for name in fields(flow)} == {
        "basics": ["name", "model", "llm_hass_api"],
        "prompt": ["prompt"],
        "performance": list(SECTIONS["performance"]),
    }
    assert suggested(flow)["num_ctx"] == 16384
    assert suggested(flow)["name"] == "Ollama Warm"
    result = await answer_agent(house.hass, flow, NEW_AGENT)
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, "Second")
    key = f"conversation.create_entry.{result['description']}"
    words = await sentence(house.hass, "config_subentries", key, result["description_placeholders"])
    assert re.fullmatch(r"The agent is ready. .* about \d+00 of the 8192 tokens .*", words)
    (stored,) = (s.data for s in agent.subentries.values() if s.title == "Second")
    assert "name" not in stored
    assert [(stored[key], type(stored[key])) for key in NUMBERS] == [
        (NUM_CTX, int),
        (5, int),
        (600, int),
    ]
    await house.ask("hello", agent_id="conversation.second")
    assert ollama.body["keep_alive"] == "600s"


async def test_an_agent_is_changed(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The form begins with what was chosen, keeps the name, and what it changes takes effect."""
    flow = await change_agent(house.hass, agent)
    assert flow["step_id"] == "agent"
    assert suggested(flow) == OPTIONS
    values = {key: value for key, value in OPTIONS.items() if key != "prompt"}
    result = await answer_agent(house.hass, flow, values | {"max_history": 3.0})
    words = await aborted(house.hass, result)
    assert re.fullmatch(
        r"The agent was changed. Its prompt takes about \d+00 of the 8192 tokens in its context "
        r"window.",
        words,
    )
    assert agent.subentries["agent"].title == "Warm"
    assert agent.subentries["agent"].data == values | {"max_history": 3}
    await house.ask("hello")
    assert "You are a voice assistant for Home Assistant." in ollama.messages[0]["content"]


async def test_what_is_no_longer_there(house: House, agent: ConfigEntry) -> None:
    """What the agent was allowed to see is not suggested when Home Assistant lost it."""
    hass = house.hass
    hass.config_entries.async_update_subentry(
        agent, agent.subentries["agent"], data=OPTIONS | {"llm_hass_api": ["assist", "gone"]}
    )
    await hass.async_block_till_done()
    assert suggested(await change_agent(hass, agent))["llm_hass_api"] == ["assist"]


FAILURES = [
    (
        FaultKind.HTML,
        "Something answers at {url}, but it is not Ollama. Check the server's address.",
    ),
    (FaultKind.STATUS_401, "The server at {url} does not accept the API key."),
    (
        FaultKind.STATUS_500,
        "Ollama reports an error: llama-server process has terminated: exit status 2",
    ),
]


@pytest.mark.parametrize("begin", [start_agent, change_agent])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure[0])
async def test_the_models_cannot_be_listed(
    house: House, agent: ConfigEntry, ollama: Ollama, failure: tuple[FaultKind, str], begin: Begin
) -> None:
    """The form says why it cannot be shown, and the next try works."""
    kind, expected = failure
    ollama.stand_in.fault = Fault(kind, paths=("/api/tags",))
    words = await aborted(house.hass, await begin(house.hass, agent))
    assert words == expected.format(url=ollama.url)
    ollama.stand_in.fault = None
    assert (await begin(house.hass, agent))["type"] is FlowResultType.FORM


async def test_the_server_is_down(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A server that went away is named, and so is one that hangs up, in French as well."""
    await ollama.run(ollama.stand_in.stop())
    result = await start_agent(house.hass, agent)
    await ollama.run(ollama.stand_in.start())
    assert await aborted(house.hass, result) == (
        f"Nothing answers at {ollama.url}. Check that Ollama is running."
    )
    words = await aborted(house.hass, result, "fr")
    assert words.startswith("Rien ne répond")
    async with answering(b'{"models": [', head=JSON) as url:
        agent.runtime_data.server.client.url = url
        words = await aborted(house.hass, await start_agent(house.hass, agent))
    assert words.startswith(f"The server at {url} stopped in the middle of its answer.")


async def test_the_server_is_not_set_up(house: House, agent: ConfigEntry) -> None:
    """Without a server there are no models to choose from."""
    await house.hass.config_entries.async_unload(agent.entry_id)
    assert agent.state is ConfigEntryState.NOT_LOADED
    words = await aborted(house.hass, await start_agent(house.hass, agent))
    assert "The server is not set up at the moment." in words


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("qwen3", "qwen3:latest"),
        ("qwen3:4b", "qwen3:4b"),
        ("hub:80/me/qwen3", "hub:80/me/qwen3:latest"),
    ],
)
def test_names_of_models(name: str, full: str) -> None:
    """A name without a tag means the latest, and the port of a host is no tag."""
    assert full_name(name) == full


def test_labels_of_models() -> None:
    """A model is listed with its size, if the server reports it."""
    assert label(Model("qwen3:4b", 2_600_000_000)) == "qwen3:4b (2.6 GB)"
    assert label(Model("smollm:135m", 98_000_000)) == "smollm:135m (98 MB)"
    assert label(Model("qwen3:4b", 0)) == "qwen3:4b"


async def test_an_agent_is_removed(house: House, agent: ConfigEntry) -> None:
    """Its entity goes with it."""
    assert house.hass.states.get(AGENT)
    house.hass.config_entries.async_remove_subentry(agent, "agent")
    await house.hass.async_block_till_done()
    assert house.hass.states.get(AGENT) is None
