"""A round during which Home Assistant or the model server goes away and comes back."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.demo import served_models
from tests.rig.home_assistant import DEMO_HOUSE, HomeAssistant
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn
from tests.rig.warmer import WarmerRun, run_warmer

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]

MODEL = "tiny-recurrent:latest"


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house without our component, and a model server."""
    folder: Path = tmp_path_factory.mktemp("warmer_faults")
    async with (
        OllamaStandIn(served_models("tiny"), log_dir=folder / "logs") as server,
        HomeAssistant(folder / "house", components=(DEMO_HOUSE,)) as house,
    ):
        yield house, server


def first_failed(found: WarmerRun, house: HomeAssistant) -> dict[str, Any]:
    """Return the first target, after a look that it failed and that all the others are warm."""
    app, *rooms = found.report["targets"]
    assert found.exit_code == 1
    assert app["verdict"] == "failed"
    assert [room["name"] for room in rooms] == [room.name for room in house.rooms]
    assert {room["verdict"] for room in rooms} == {"warm"}
    assert all("says that the confirmation re-read" in room["reason"] for room in rooms)
    first: dict[str, Any] = app
    return first


def in_second_batch(log: Path) -> bool:
    """Return whether a prompt has been read in part."""
    return log.exists() and b"cached n_tokens = 1024," in log.read_bytes()


async def test_model_server_is_killed_in_mid_prefill(stage: Stage) -> None:
    """The target that was being read fails; all others are asked, and are warm."""
    house, server = stage
    core = await house.add_core_ollama(server.url, model=MODEL, name="Killed")
    log = server.log_path(MODEL)
    running = asyncio.create_task(run_warmer(house, core, house.rooms, log=log))
    while not in_second_batch(log):  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.005)
    await server.restart_backend(MODEL)

    found = await running

    app = first_failed(found, house)
    assert app["steps"] == []
    assert app["reason"].startswith("the agent broke down over the warm-up: look at the logs")
    assert server.runner(MODEL).loads == 2


async def test_home_assistant_restarts_in_mid_round(stage: Stage) -> None:
    """The question that was under way is lost; the round goes on once the house is back."""
    house, server = stage
    core = await house.add_core_ollama(server.url, model=MODEL, name="Restarted")
    server.fault = fault = Fault(FaultKind.DELAY, seconds=30, times=1)
    running = asyncio.create_task(run_warmer(house, core, house.rooms, log=server.log_path(MODEL)))
    while fault.times:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)
    await house.restart()

    found = await running

    assert "Home Assistant" in first_failed(found, house)["reason"]
    # Nothing was sent a second time: one question for the lost target, two for each other.
    texts = [record.body["messages"][-1]["content"] for record in server.records]
    assert len(texts) == len(set(texts))
