"""Core's agent, of which nobody counts anything, proven warm by llama.cpp's own log."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rig.demo import demonstration, served_models
from tests.rig.home_assistant import HomeAssistant
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn
from tests.rig.warmer import run_warmer

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]

CLOCK = "You are a voice assistant. It is {{ now().strftime('%H:%M:%S') }}.\nBe brief."


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house and a model server for all tests of this file."""
    folder: Path = tmp_path_factory.mktemp("warmer_logs")
    async with demonstration(folder, served_models("tiny")) as stage:
        yield stage


@pytest.mark.parametrize("memory", ["attention", "recurrent"])
async def test_log_and_server_agree(stage: Stage, memory: str) -> None:
    """Every target is warm by the log, and every count is the one that the server gave."""
    house, server = stage
    model = f"tiny-{memory}:latest"
    core = await house.add_core_ollama(server.url, model=model, name=f"Core {memory}")
    # The log is there once the model has been loaded.
    await house.ask("Hello", agent=core)
    start = len(server.records)

    found = await run_warmer(house, core, house.rooms, log=server.log_path(model))

    steps = [step for target in found.report["targets"] for step in target["steps"]]
    answers = [record for record in server.records[start:] if record.kind == "answer"]
    assert [(step["prompt"], step["cached"]) for step in steps] == [
        (record.prompt_tokens, record.cached_tokens) for record in answers
    ]
    assert len(found.report["targets"]) == 1 + 6
    for target in found.report["targets"]:
        assert target["verdict"] == "warm"
        assert "says that the confirmation re-read" in target["reason"]
    assert found.exit_code == 0

    # Each room has a prompt of its own here, and the next round's first question finds them all.
    again = await run_warmer(house, core, house.rooms, log=server.log_path(model))
    first = {target["name"]: target["steps"][0]["re_read"] for target in again.report["targets"]}
    assert len(first) == 1 + 6
    assert {name: re_read for name, re_read in first.items() if re_read > 40} == {}


async def test_clock_is_not_warm(stage: Stage) -> None:
    """A prompt that changes is told from one that does not, by the log alone."""
    house, server = stage
    model = "tiny-attention:latest"
    clock = await house.add_core_ollama(server.url, model=model, name="Clock", prompt=CLOCK)
    # The clock has gone on by the time of the confirmation.
    server.fault = Fault(FaultKind.DELAY, seconds=1.1)
    try:
        found = await run_warmer(house, clock, log=server.log_path(model))
    finally:
        server.fault = None

    (target,) = found.report["targets"]
    assert (found.exit_code, target["verdict"]) == (1, "cold")
    assert "says that the confirmation re-read" in target["reason"]


async def test_another_client_is_not_guessed(stage: Stage) -> None:
    """While somebody else asks the same model, nothing is said of the target."""
    house, server = stage
    model = "tiny-attention:latest"
    core = await house.add_core_ollama(server.url, model=model, name="Busy")

    async def disturb() -> None:
        while True:
            await house.ask("Is anything still on?", agent=core)

    disturbing = asyncio.create_task(disturb())
    found = await run_warmer(house, core, log=server.log_path(model))
    disturbing.cancel()

    (target,) = found.report["targets"]
    assert (found.exit_code, target["verdict"]) == (1, "unknown")
    assert "which of them is the question's cannot be told" in target["reason"]
