"""Adding an agent to a server, and changing it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from custom_components.ollama_warm.api import Model
from custom_components.ollama_warm.config_flow import full_name, label
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntry,
    ConfigEntryState,
    SubentryFlowResult,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from tests.rig.ollama import Fault, FaultKind

from .house import AGENT, OPTIONS, House
from .sentences import sentence
from .server import JSON, NUM_CTX, Ollama, answering

type Begin = Callable[[HomeAssistant, ConfigEntry], Awaitable[SubentryFlowResult]]

TYPE = "conversation"
NUMBERS = ("num_ctx", "max_history", "keep_alive")
# What the form in the browser sends: its numbers are no whole ones.
FILLED_IN = OPTIONS | {"name": "Second", "num_ctx": 8192.0, "max_history": 5.0, "keep_alive": 600.0}


async def start(hass: HomeAssistant, entry: ConfigEntry, **context: str) -> SubentryFlowResult:
    """Begin to add an agent, or to change one."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, TYPE),
        context={"source": SOURCE_USER} | context,  # type: ignore[arg-type]
    )


async def change(hass: HomeAssistant, entry: ConfigEntry) -> SubentryFlowResult:
    """Begin to change the agent that is there."""
    return await start(hass, entry, source="reconfigure", subentry_id="agent")


async def answer(
    hass: HomeAssistant, flow: SubentryFlowResult, values: dict[str, Any]
) -> SubentryFlowResult:
    """Fill in the form."""
    result = await hass.config_entries.subentries.async_configure(flow["flow_id"], values)
    await hass.async_block_till_done()
    return result


async def aborted(hass: HomeAssistant, result: SubentryFlowResult, language: str = "en") -> str:
    """Return the words with which a form was not shown."""
    assert result["type"] is FlowResultType.ABORT
    key = f"{TYPE}.abort.{result['reason']}"
    values = result.get("description_placeholders")
    return await sentence(hass, "config_subentries", key, values, language)


def suggested(result: SubentryFlowResult) -> dict[str, Any]:
    """Return what a form suggests for each of its fields."""
    assert result["data_schema"] is not None
    return {
        str(key): key.description["suggested_value"]
        for key in result["data_schema"].schema
        if key.description
    }


async def test_an_agent_is_added(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Whole numbers are stored as such, and the agent can be asked at once."""
    flow = await start(house.hass, agent)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "user")
    assert suggested(flow)["num_ctx"] == 16384
    result = await answer(house.hass, flow, FILLED_IN)
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, "Second")
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
    flow = await change(house.hass, agent)
    assert flow["step_id"] == "reconfigure"
    assert suggested(flow) == OPTIONS
    values = {key: value for key, value in OPTIONS.items() if key != "prompt"}
    result = await answer(house.hass, flow, values | {"max_history": 3.0})
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert agent.subentries["agent"].title == "Warm"
    assert agent.subentries["agent"].data == values | {"max_history": 3}
    await house.ask("hello")
    assert "You are a voice assistant for Home Assistant." in ollama.messages[0]["content"]


@pytest.mark.parametrize("begin", [start, change])
async def test_a_model_that_is_not_there(house: House, agent: ConfigEntry, begin: Begin) -> None:
    """The form says how to get it, and keeps what was filled in."""
    flow = await begin(house.hass, agent)
    values = FILLED_IN if begin is start else OPTIONS
    result = await answer(house.hass, flow, values | {"model": "qwen9:4b", "prompt": "Be brief."})
    assert result["errors"] == {"model": "model_not_found"}
    words = await sentence(
        house.hass,
        "config_subentries",
        f"{TYPE}.error.model_not_found",
        result["description_placeholders"],
    )
    assert words == (
        "The server does not have the model qwen9:4b. Choose another one, or fetch it on the "
        "server with: ollama pull qwen9:4b"
    )
    assert suggested(result)["prompt"] == "Be brief."
    result = await answer(house.hass, result, values | {"model": "tiny:latest"})
    assert result["type"] in (FlowResultType.CREATE_ENTRY, FlowResultType.ABORT)


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


@pytest.mark.parametrize("begin", [start, change])
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
    result = await start(house.hass, agent)
    await ollama.run(ollama.stand_in.start())
    assert await aborted(house.hass, result) == (
        f"Nothing answers at {ollama.url}. Check that Ollama is running."
    )
    words = await aborted(house.hass, result, "fr")
    assert words.startswith("Rien ne répond")
    async with answering(b'{"models": [', head=JSON) as url:
        agent.runtime_data.server.client.url = url
        words = await aborted(house.hass, await start(house.hass, agent))
    assert words.startswith(f"The server at {url} stopped in the middle of its answer.")


async def test_the_server_is_not_set_up(house: House, agent: ConfigEntry) -> None:
    """Without a server there are no models to choose from."""
    await house.hass.config_entries.async_unload(agent.entry_id)
    assert agent.state is ConfigEntryState.NOT_LOADED
    words = await aborted(house.hass, await start(house.hass, agent))
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
    """A model is listed with its size, if the server tells it."""
    assert label(Model("qwen3:4b", 2_600_000_000)) == "qwen3:4b (2.6 GB)"
    assert label(Model("qwen3:4b", 0)) == "qwen3:4b"


async def test_an_agent_is_removed(house: House, agent: ConfigEntry) -> None:
    """Its entity goes with it."""
    assert house.hass.states.get(AGENT)
    house.hass.config_entries.async_remove_subentry(agent, "agent")
    await house.hass.async_block_till_done()
    assert house.hass.states.get(AGENT) is None
