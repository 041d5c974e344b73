"""Why core's agent is not warm, as the warmer tells it from llama.cpp's log alone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rig.home_assistant import DEMO_HOUSE, HomeAssistant
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn, ServedModel
from tests.rig.warmer import run_warmer

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]

# Half of the house's prompt.
SMALL_WINDOW = 4096


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house without our component, and a model server with both paths to a prompt."""
    folder: Path = tmp_path_factory.mktemp("warmer_reasons")
    models = [
        ServedModel("attention", Memory.ATTENTION, tiny_model(Memory.ATTENTION)),
        ServedModel("rendered", Memory.RECURRENT, tiny_model(Memory.RECURRENT), path="rendered"),
    ]
    async with (
        OllamaStandIn(models, log_dir=folder / "logs") as server,
        HomeAssistant(folder / "house", components=(DEMO_HOUSE,)) as house,
    ):
        yield house, server


async def hold_back(server: OllamaStandIn) -> None:
    """Return when a question has come, which is then held back for a second."""
    server.fault = fault = Fault(FaultKind.DELAY, seconds=1, times=1)
    while fault.times:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)


async def test_one_batch_back(stage: Stage) -> None:
    """A recurrent model on Ollama's own path pays a batch for each new conversation."""
    house, server = stage
    core = await house.add_core_ollama(server.url, model="rendered:latest", name="Rendered")

    found = await run_warmer(house, core, log=server.log_path("rendered"))

    (target,) = found.report["targets"]
    assert (found.exit_code, target["verdict"]) == (1, "partly warm")
    assert abs(target["steps"][1]["re_read"] - 1024) <= 20
    assert (
        "likely the model is recurrent, and its nearest checkpoint is one batch of 1024 tokens back"
        in target["reason"]
    )


async def test_model_that_was_loaded_anew(stage: Stage) -> None:
    """A model that goes away between the two questions is not taken for a clock."""
    house, server = stage
    core = await house.add_core_ollama(server.url, model="attention:latest", name="Reloaded")
    running = asyncio.create_task(run_warmer(house, core, log=server.log_path("attention")))
    await hold_back(server)
    await hold_back(server)
    await server.restart_backend("attention")

    found = await running

    (target,) = found.report["targets"]
    assert (found.exit_code, target["verdict"]) == (1, "cold")
    assert [step["cached"] for step in target["steps"]] == [0, 0]
    assert "the log shows that the model was reloaded in between" in target["reason"]
    assert "clock" not in target["reason"]


async def test_prompt_that_does_not_fit(stage: Stage) -> None:
    """A prompt that the server refuses for its size fails, and the log says by how much."""
    house, server = stage
    core = await house.add_core_ollama(
        server.url, model="attention:latest", name="Small", num_ctx=SMALL_WINDOW
    )
    log = server.log_path("attention")

    found = await run_warmer(house, core, log=log)

    (target,) = found.report["targets"]
    assert (found.exit_code, target["verdict"]) == (1, "failed")
    assert f"the log {log} shows a prompt of 8" in target["reason"]
    assert target["reason"].endswith(
        f"tokens for a context window of {SMALL_WINDOW}: raise the agent's num_ctx or expose less"
    )
