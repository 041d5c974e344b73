"""Our own time in a big house: what a turn adds, and how long our work keeps the event loop."""

from pathlib import Path
from typing import Any

from rich.console import Console

from tests.rig.models import Memory

from .cells import OURS, Kind
from .stage import stage

EXTRA_ENTITIES = 400
BIG_CONTEXT = 32768
RUNS = 60
OVERHEAD_AT_MOST = 1.15
CONTEXTS = 21
# Exposed entities -> the longest block, in milliseconds.
BLOCK_AT_MOST_MS = {500: 20, 2000: 60, 5000: 150}
# What is ours; `prompt` is Home Assistant's own, and part of each.
WORKS = ("first_look", "rebase", "question", "hidden")
_KIND = Kind(OURS, Memory.ATTENTION, "native")


async def overhead(folder: Path) -> bool:
    """Measure both, and return whether what is promised was reached."""
    turn = await turns(folder / "turns")
    return await blocks(folder / "blocks") and turn


async def turns(folder: Path) -> bool:
    """Compare a turn of ours without the model with Home Assistant's own prompt."""
    async with stage(folder, [_KIND], extra_entities=EXTRA_ENTITIES) as opened:
        (cell,) = opened.cells
        await cell.move_in(num_ctx=BIG_CONTEXT)
        await cell.warm_up()
        await cell.ask()
        exposed = len(await opened.house.exposed())
        data = {"agent_id": cell.entity, "runs": RUNS}
        found = await opened.house.call_action("bench_tools", "measure", data, return_response=True)
    reached: bool = found["ratio"] <= OVERHEAD_AT_MOST
    _print(
        f"{exposed} exposed entities, medians of {found['runs']} runs: Home Assistant's prompt "
        f"{found['prompt_ms']} ms, core's whole request {found['request_ms']} ms, our whole turn "
        f"without the model {found['turn_ms']} ms: {found['ratio']} x the prompt (to reach: "
        f"{OVERHEAD_AT_MOST} x, {'yes' if reached else 'NO'}), "
        f"{found['ratio_to_request']} x the request"
    )
    return reached


async def blocks(folder: Path) -> bool:
    """Take the longest blocks of the event loop in houses with many satellites."""
    async with stage(folder, [_KIND], extra_entities=max(BLOCK_AT_MOST_MS)) as opened:
        (cell,) = opened.cells
        # A model has to read what the agent is warmed with.
        await opened.house.call_action("bench_tools", "expose_only", {"count": 100})
        await cell.move_in(num_ctx=BIG_CONTEXT)
        await cell.warm_up()
        data = {"agent_id": cell.entity, "sizes": list(BLOCK_AT_MOST_MS), "contexts": CONTEXTS}
        found = await opened.house.call_action("bench_tools", "blocks", data, return_response=True)
    return all([_is_short(row) for row in found["rows"]])  # noqa: C419 - each is printed


def _is_short(row: dict[str, Any]) -> bool:
    """Print a row, and return whether its longest block is as short as promised."""
    at_most = next(ms for size, ms in BLOCK_AT_MOST_MS.items() if row["exposed"] <= size)
    reached = all(row[w]["ours_ms"] <= at_most and row[w]["together"] <= 1 for w in WORKS)
    works = ", ".join(
        f"{work.replace('_', ' ')} {row[work]['ours_ms']} ms ({row[work]['longest_ms']} ms with "
        f"Home Assistant's prompt, of which it builds {row[work]['prompts']})"
        for work in WORKS
    )
    _print(
        f"{row['exposed']} exposed entities, {row['contexts']} contexts, longest block: {works}; "
        f"Home Assistant's prompt alone {row['prompt']['longest_ms']} ms (to reach: {at_most} ms "
        f"and one prompt at a time, {'yes' if reached else 'NO'})"
    )
    return reached


def _print(line: str) -> None:
    Console().print(line, highlight=False, soft_wrap=True)
