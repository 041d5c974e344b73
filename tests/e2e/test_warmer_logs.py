"""Core's agent, of which nobody counts anything, proven warm by llama.cpp's own log."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rig.demo import demonstration, served_models
from tests.rig.home_assistant import HomeAssistant, Reply
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn, Record
from tests.rig.warmer import run_warmer

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]

CLOCK = "You are a voice assistant. It is {{ now().isoformat() }}.\nBe brief."
THEIRS = "Is anything still on?"


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


@pytest.mark.parametrize(("memory", "rooms"), [("attention", 6), ("recurrent", 1)])
async def test_clock_is_not_warm(stage: Stage, memory: str, rooms: int) -> None:
    """A prompt that changes is told from one that does not, by the log alone, and why."""
    house, server = stage
    model = f"tiny-{memory}:latest"
    clock = await house.add_core_ollama(
        server.url, model=model, name=f"Clock {memory}", prompt=CLOCK
    )

    found = await run_warmer(house, clock, house.rooms[:rooms], log=server.log_path(model))

    assert found.exit_code == 1
    assert len(found.report["targets"]) == 1 + rooms
    for target in found.report["targets"]:
        assert target["verdict"] == "cold"
        assert "says that the confirmation re-read" in target["reason"]
        assert target["reason"].endswith(
            "likely something at the top of the prompt changes with every question, such as a "
            "clock or a temperature: look at the agent's instructions"
        )
        # llama-server has no pattern in which a third question could still be warm.
        assert len(target["steps"]) == 2


def asked(record: Record) -> str:
    """Return the words of a question."""
    return str(record.body["messages"][-1]["content"])


async def ask_behind_the_warmer(house: HomeAssistant, server: OllamaStandIn, core: str) -> Reply:
    """Hold the warmer's next question back until somebody else's has overtaken it."""
    server.fault = fault = Fault(FaultKind.DELAY, seconds=1, times=1)
    while fault.times:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)
    return await house.ask(THEIRS, agent=core)


async def test_another_client_is_not_guessed(stage: Stage) -> None:
    """If somebody else asks while the question waits, nothing is said of the target."""
    house, server = stage
    model = "tiny-attention:latest"
    core = await house.add_core_ollama(server.url, model=model, name="Busy")
    await house.ask("Hello", agent=core)
    running = asyncio.create_task(run_warmer(house, core, log=server.log_path(model)))
    for _ in ("warm-up", "confirmation"):
        await ask_behind_the_warmer(house, server, core)

    found = await running

    (target,) = found.report["targets"]
    assert (found.exit_code, target["verdict"]) == (1, "unknown")
    assert "2 requests were written there in between, and which of them" in target["reason"]
    assert [step["cached"] for step in target["steps"]] == [None, None]


async def test_another_client_is_never_counted(stage: Stage) -> None:
    """While somebody asks without a pause, a count is the question's own or there is none."""
    house, server = stage
    model = "tiny-attention:latest"
    core = await house.add_core_ollama(server.url, model=model, name="Busier")

    async def disturb() -> None:
        while True:
            await house.ask(THEIRS, agent=core)

    start = len(server.records)
    disturbing = asyncio.create_task(disturb())
    found = await run_warmer(house, core, house.rooms, log=server.log_path(model))
    disturbing.cancel()

    ours = [record for record in server.records[start:] if asked(record) != THEIRS]
    steps = [step for target in found.report["targets"] for step in target["steps"]]
    assert len(ours) == len(steps) < len(server.records) - start
    for step, record in zip(steps, ours, strict=True):
        if step["cached"] is not None:
            assert (step["prompt"], step["cached"]) == (record.prompt_tokens, record.cached_tokens)
