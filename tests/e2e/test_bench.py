"""The bench in short: the numbers that matter most are reached, and every verdict is right."""

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import product
from pathlib import Path

import pytest
import pytest_asyncio

from tests.rig.bench.cells import NUM_CTX, OURS, Cell, Kind, Measured, PromptPath
from tests.rig.bench.report import END, START, problems, write_docs
from tests.rig.bench.scenarios import HIDDEN, NAMES, played
from tests.rig.bench.stage import Stage, foreign_prompt, stage
from tests.rig.bench.targets import is_falsely_warm
from tests.rig.models import Memory

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCRIPT = "script.bus_departures"
PATHS: tuple[PromptPath, ...] = ("native", "rendered")
KINDS = [Kind(OURS, *both) for both in product((Memory.ATTENTION, Memory.RECURRENT), PATHS)]
SHORT = ("rooms", "app", "new_entity", "home_assistant_restart", "two_rooms")


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="opened")
async def _opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house with four agents of ours."""
    async with stage(tmp_path_factory.mktemp("bench"), KINDS) as opened:
        yield opened


async def test_the_numbers_are_reached(opened: Stage) -> None:
    """Both memories, both paths: what is promised is reached, and no verdict is wrong."""
    found: list[Measured] = [one async for one in played(opened, SHORT)]
    assert len(found) == len(SHORT) * len(KINDS)
    missed = {f"{one.scenario}, {one.kind}": problems(one) for one in found}
    assert {name: wrong for name, wrong in missed.items() if wrong} == {}


type Change = Callable[[Cell], Awaitable[None]]


async def nothing(_: Cell) -> None:
    """Change nothing."""


async def lose_everything(cell: Cell) -> None:
    """Let the model server crash."""
    await cell.server.restart_backend(cell.model.name)


async def load_otherwise(cell: Cell) -> None:
    """Let somebody else use the model with another context."""
    await foreign_prompt(cell.server.url, cell.model.full_name, "Hello.", NUM_CTX // 2)


async def hide_light(cell: Cell) -> None:
    """Hide a light."""
    await cell.house.expose(HIDDEN, exposed=False)


async def hide_script(cell: Cell) -> None:
    """Hide a script, which is a tool."""
    await cell.house.expose(SCRIPT, exposed=False)


# What happens before a question, and what our agent has to say of it.
VERDICTS: tuple[tuple[Change, str], ...] = (
    (lose_everything, "prompt_changed: first_prompt"),
    (nothing, "warm"),
    (lose_everything, "server_lost_it: model_loaded"),
    (nothing, "warm"),
    (load_otherwise, "server_lost_it: model_loaded"),
    (hide_light, "prompt_changed: segment_changed"),
    (nothing, "warm"),
    (hide_script, "prompt_changed: tool_changed"),
    (nothing, "warm"),
)


async def test_every_verdict_is_what_was_done(opened: Stage) -> None:
    """Each question is asked at once after one change, before any warm-up."""
    cell = opened.cells[0]
    await cell.move_in(name="Judged")
    said: list[str] = []
    try:
        for number, (change, _) in enumerate(VERDICTS):
            await change(cell)
            asked = await cell.ask(opened.house.rooms[number % 6])
            said.append(asked.verdict)
            assert not is_falsely_warm(asked), (change.__doc__, asked.re_read)
    finally:
        for entity in (HIDDEN, SCRIPT):
            await cell.house.expose(entity, exposed=True)
        await cell.move_out()
    assert said == [verdict for _, verdict in VERDICTS]


async def test_the_bench_leaves_no_error(opened: Stage) -> None:
    """Nothing of ours is in the log but what the scenarios broke on purpose."""
    about_us = [line for line in opened.house.log_records() if "ollama_warm" in line]
    assert about_us == []


async def test_the_documentation_tells_every_scenario() -> None:
    """Each scenario has a line that says what it is."""
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in text] == []


async def test_rows_that_were_not_measured_stay(tmp_path: Path) -> None:
    """Part of the table can be written anew, but not beside rows of other versions."""
    page = tmp_path / "page.md"
    page.write_text(f"Before\n{START}\n{END}\nAfter\n")
    write_docs(page, [Measured(scenario=name, kind=KINDS[0]) for name in ("app", "two_rooms")])
    first = page.read_text()
    write_docs(page, [Measured(scenario="clock", kind=KINDS[1])])
    rows = [line.split(" | ")[:3] for line in page.read_text().splitlines() if "| `" in line]
    assert rows == [
        ["| `app`", OURS, KINDS[0].setting],
        ["| `clock`", OURS, KINDS[1].setting],
        ["| `two_rooms`", OURS, KINDS[0].setting],
    ]
    assert page.read_text().startswith("Before\n")
    assert page.read_text().endswith("\nAfter\n")
    page.write_text(first.replace("Python ", "Python 2"))
    with pytest.raises(ValueError, match="other versions"):
        write_docs(page, [Measured(scenario="clock", kind=KINDS[1])])
