"""One warm-up serves every room: the promised numbers, on the real thing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.rig.demo import APP, CORE, OURS, WARM_UP, Row, demonstration, rows, served_models
from tests.rig.home_assistant import HomeAssistant
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn
from tests.rig.warmer import run_warmer

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]

CLOCK = "You are a voice assistant. It is {{ states('sensor.clock') }}.\nBe brief."


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house and a model server for all tests of this file."""
    folder: Path = tmp_path_factory.mktemp("first_light")
    async with demonstration(folder, served_models("tiny")) as stage:
        yield stage


async def test_one_warm_up_serves_every_room(stage: Stage) -> None:
    """After one warm-up a new question re-reads its words with us, thousands with core."""
    house, server = stage
    found = [row async for row in rows(house, server, served_models("tiny"))]
    assert len(found) == 2 * 2 * (1 + 6 + 1)
    for memory, core_at_least in (("attention", 5000), ("recurrent", 8000)):
        ours, core = (
            {row.step: row for row in found if row.memory == memory and row.agent == agent}
            for agent in (OURS, CORE)
        )
        assert {step: row.re_read for step, row in ours.items() if _is_room(row, 64)} == {}
        assert ours[APP].re_read <= 80
        assert {row.verdict for step, row in ours.items() if step != WARM_UP} == {"warm"}
        assert all(core[room.name].re_read >= core_at_least for room in house.rooms)
        assert all(core[room.name].verdict == "cold" for room in house.rooms)


def _is_room(row: Row, above: int) -> bool:
    """Return whether this is a room's question that re-read more than that many tokens."""
    return row.step not in (WARM_UP, APP) and row.re_read > above


@asynccontextmanager
async def _moving_clock(house: HomeAssistant, server: OllamaStandIn) -> AsyncIterator[None]:
    """Move the house's clock between two questions, and never while contexts are looked at.

    Real seconds may pass within a look, which learns the clock before it costs anything.
    """

    async def move() -> None:
        for moment in count():
            state = {"state": f"12:00:{moment:02}"}
            await house.rest(
                "POST", "/api/states/sensor.clock", token=house.admin_token, json=state
            )
            seen = len(server.records)
            while len(server.records) == seen:  # noqa: ASYNC110 - the stand-in tells nobody
                await asyncio.sleep(0.01)

    server.fault = Fault(FaultKind.DELAY, seconds=0.5)
    moving = asyncio.create_task(move())
    try:
        yield
    finally:
        server.fault = None
        moving.cancel()


async def test_the_warmer_is_right_in_both_directions(stage: Stage) -> None:
    """Warm is warm, a clock is not until it is learned, and no count is no proof."""
    house, server = stage
    model = "tiny-attention:latest"
    agent = await house.add_ollama_warm(server.url, model=model, name="Steady")
    everywhere = await run_warmer(house, agent, house.rooms)
    assert (everywhere.exit_code, everywhere.verdict) == (0, "warm")
    assert len(everywhere.report["targets"]) == 7

    server.version = "0.33.2"
    silent = await run_warmer(house, agent)
    server.version = "0.35.1"
    assert (silent.exit_code, silent.verdict) == (1, "unknown")
    assert silent.report["targets"][0]["steps"][0]["cached"] is None

    clock = await house.add_ollama_warm(server.url, model=model, name="Clock", prompt=CLOCK)
    async with _moving_clock(house, server):
        first = await run_warmer(house, clock)
        assert first.exit_code == 1
        assert first.verdict in ("cold", "partly warm")
        learned = await run_warmer(house, clock)
    assert (learned.exit_code, learned.verdict) == (0, "warm")

    core = await house.add_core_ollama(server.url, model=model, name="Core")
    others = await run_warmer(house, core)
    assert (others.exit_code, others.verdict) == (1, "unknown")


async def test_warm_ups_leave_nothing_behind(stage: Stage) -> None:
    """No error, and nothing that Home Assistant will refuse one day, in the whole log."""
    house, _server = stage
    assert [line for line in house.log_records() if "ollama_warm" in line] == []
    about_us = [line for line in house.log_records("WARNING") if "ollama_warm" in line]
    assert [line for line in about_us if "custom integration" not in line] == []
