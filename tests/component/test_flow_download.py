"""A model that the server does not have: offered, downloaded, or another one chosen."""

from collections.abc import Generator

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    async_capture_events,
)

from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.ollama.download import async_download
from homeassistant.config_entries import ConfigEntry, SubentryFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import (
    EVENT_DATA_ENTRY_FLOW_PROGRESS_UPDATE,
    FlowResultType,
)
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import Fault, FaultKind, ServedModel

from .support.flows import (
    NEW_AGENT,
    answer_agent,
    change_agent,
    choose,
    read_through,
    refused,
    start_agent,
    suggested,
)
from .support.house import OPTIONS, House
from .support.server import Ollama, answering

ANOTHER = "bigger:2b"
WANTED = NEW_AGENT | {"model": ANOTHER}


@pytest.fixture(name="registry")
def _registry(ollama: Ollama) -> Generator[Ollama]:
    """Let the server find one more model, and forget it afterwards."""
    model = ServedModel(ANOTHER, Memory.ATTENTION, tiny_model(Memory.ATTENTION))
    ollama.stand_in.pullable = [model]
    yield ollama
    ollama.stand_in.pullable = []
    if model in ollama.stand_in.models:
        ollama.stand_in.models.remove(model)


async def waited(hass: HomeAssistant, flow: SubentryFlowResult) -> SubentryFlowResult:
    """Wait for the end of a download, and look at the dialog again, as the browser does."""
    assert flow["type"] is FlowResultType.SHOW_PROGRESS
    await hass.async_block_till_done(wait_background_tasks=True)
    result = await hass.config_entries.subentries.async_configure(flow["flow_id"])
    await hass.async_block_till_done()
    return await read_through(hass, result)


async def missing(house: House, agent: ConfigEntry) -> SubentryFlowResult:
    """Ask for a model that is not there."""
    result = await answer_agent(house.hass, await start_agent(house.hass, agent), WANTED)
    assert (result["type"], result["step_id"]) == (FlowResultType.MENU, "missing")
    assert result["description_placeholders"] == {"model": ANOTHER}
    return result


async def test_a_model_is_downloaded(house: House, agent: ConfigEntry, registry: Ollama) -> None:
    """The share that is there is shown, and the agent is saved with what was filled in before."""
    hass = house.hass
    shares = async_capture_events(hass, EVENT_DATA_ENTRY_FLOW_PROGRESS_UPDATE)
    result = await waited(hass, await choose(hass, await missing(house, agent), "download"))
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, "Second")
    assert result["data"]["model"] == ANOTHER
    assert [event.data["progress"] for event in shares] == [0.5, 1.0]
    assert {event.data["flow_id"] for event in shares} == {result["flow_id"]}
    assert [model.name for model in registry.stand_in.models] == ["tiny", ANOTHER]


async def test_an_agent_gets_another_model(
    house: House, agent: ConfigEntry, registry: Ollama
) -> None:
    """A download serves an agent that is changed, too."""
    hass = house.hass
    flow = await change_agent(hass, agent)
    flow = await choose(
        hass, await answer_agent(hass, flow, OPTIONS | {"model": ANOTHER}), "download"
    )
    result = await waited(hass, flow)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_sized")
    assert agent.subentries["agent"].data["model"] == ANOTHER


async def test_another_model_is_chosen(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Whoever mistyped gets the form again, with everything that was filled in."""
    hass = house.hass
    flow = await choose(hass, await missing(house, agent), "agent")
    assert not flow["errors"]
    assert suggested(flow) == WANTED
    result = await answer_agent(hass, flow, NEW_AGENT | {"model": "tiny:latest"})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_someone_fetched_it(house: House, agent: ConfigEntry, registry: Ollama) -> None:
    """The server is asked again, as the model may have come while the form was filled in."""
    flow = await start_agent(house.hass, agent)
    registry.stand_in.models.append(registry.stand_in.pullable[0])
    result = await answer_agent(house.hass, flow, WANTED)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_the_server_went_away(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Where the server cannot be asked for a model, the form says so and keeps what it has."""
    hass = house.hass
    flow = await start_agent(hass, agent)
    ollama.stand_in.fault = Fault(FaultKind.STATUS_401, paths=("/api/tags",))
    result = await answer_agent(hass, flow, WANTED)
    words = await refused(hass, result)
    assert words == f"The server at {ollama.url} does not accept the API key."
    assert suggested(result) == WANTED
    # What was in the list already is saved without another look.
    result = await answer_agent(hass, result, NEW_AGENT)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_no_one_knows_the_model(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Ollama's words are shown beside the model, and another try is possible."""
    hass = house.hass
    result = await waited(hass, await choose(hass, await missing(house, agent), "download"))
    assert await refused(hass, result, "basics") == (
        "The server could not download bigger:2b. Check the name. Ollama says: pull model "
        "manifest: file does not exist"
    )
    assert suggested(result) == WANTED
    result = await answer_agent(hass, result, NEW_AGENT)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_download_breaks_off(house: House, agent: ConfigEntry, registry: Ollama) -> None:
    """What stopped in the middle is named, and goes on when it is asked for again."""
    hass = house.hass
    flow = await missing(house, agent)
    client = agent.runtime_data.server.client
    async with answering(b'{"status": "pulling manifest"}\n') as url:
        client.url = url
        result = await waited(hass, await choose(hass, flow, "download"))
        words = await refused(hass, result, "basics")
        assert words.startswith(f"The server at {url} stopped in the middle of its answer.")
    client.url = registry.url
    flow = await choose(hass, await answer_agent(hass, result, WANTED), "download")
    assert (await waited(hass, flow))["type"] is FlowResultType.CREATE_ENTRY


async def test_the_dialog_is_closed(house: House, agent: ConfigEntry, registry: Ollama) -> None:
    """That ends the download, and nothing is saved."""
    hass = house.hass
    registry.stand_in.fault = Fault(FaultKind.DELAY, seconds=30, paths=("/api/pull",))
    flow = await choose(hass, await missing(house, agent), "download")
    # Looking at the dialog again does not begin a second download.
    progress = hass.config_entries.subentries._progress[flow["flow_id"]]
    task = progress.async_get_progress_task()
    await hass.config_entries.subentries.async_configure(flow["flow_id"])
    assert task is not None
    assert progress.async_get_progress_task() is task
    hass.config_entries.subentries.async_abort(flow["flow_id"])
    await hass.async_block_till_done(wait_background_tasks=True)
    assert task.cancelled()
    assert len(agent.subentries) == 1


async def test_a_download_is_cancelled(house: House, agent: ConfigEntry, registry: Ollama) -> None:
    """Without the model nothing is saved: the form comes back."""
    hass = house.hass
    registry.stand_in.fault = Fault(FaultKind.DELAY, seconds=30, paths=("/api/pull",))
    flow = await choose(hass, await missing(house, agent), "download")
    task = hass.config_entries.subentries._progress[flow["flow_id"]].async_get_progress_task()
    assert task is not None
    task.cancel()
    result = await waited(hass, flow)
    assert (result["type"], result["step_id"]) == (FlowResultType.FORM, "agent")
    assert suggested(result) == WANTED


async def test_the_server_is_unloaded_in_the_meantime(
    house: House, agent: ConfigEntry, registry: Ollama
) -> None:
    """A menu that was open too long ends with a reason."""
    hass = house.hass
    flow = await missing(house, agent)
    await hass.config_entries.async_unload(agent.entry_id)
    result = await choose(hass, flow, "agent")
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "entry_not_loaded")


LAYERS = [
    b'{"status": "pulling manifest"}\n',
    b'{"status": "pulling a", "digest": "a", "total": 1000}\n',
    b'{"status": "pulling a", "digest": "a", "total": 1000, "completed": 994}\n',
    b'{"status": "pulling a", "digest": "a", "total": 1000, "completed": 999}\n',
    b'{"status": "pulling b", "digest": "b", "total": 1000}\n',
    b'{"status": "pulling a", "digest": "a", "total": 1000, "completed": 1000}\n',
    b'{"status": "pulling b", "digest": "b", "total": 1000, "completed": 2000}\n',
    b'{"status": "pulling c", "digest": "c", "total": 0}\n',
    b'{"status": "success"}\n',
]


async def test_a_share_never_falls(hass: HomeAssistant) -> None:
    """Each percent is shown once, also when another layer makes the whole larger."""
    shares: list[float] = []
    async with answering(*LAYERS) as url:
        client = OllamaClient(async_get_clientsession(hass), url)
        await async_download(client, ANOTHER, shares.append)
    assert shares == [0.99, 1.0]
