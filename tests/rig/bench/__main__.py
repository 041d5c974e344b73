"""The command line of the bench."""

import argparse
import asyncio
from collections.abc import Sequence
from itertools import product
import logging
from pathlib import Path
import sys
import tempfile
import time

from rich.console import Console

from ollama_warmer.errors import WarmerError
from ollama_warmer.pages import check
from tests.rig.models import Memory

from .cells import CORE, OURS, Kind, Measured
from .overhead import overhead
from .page import write_bench_page
from .report import as_object, problems, table, write_docs, write_json, write_records
from .scenarios import NAMES, played
from .stage import stage

PATHS = ("native", "rendered")
DOCS = Path(__file__).parents[3] / "docs" / "benchmarks.md"


def kinds(options: argparse.Namespace, names: Sequence[str]) -> list[Kind]:
    """Return what is to be measured."""
    found = [
        Kind(agent, Memory(memory), path)
        for agent, memory, path in product(
            options.agent or (CORE, OURS), options.memory or Memory, options.path or PATHS
        )
        if agent == OURS or options.all or is_shown(Memory(memory), path)
    ]
    if "rooms" in names and Kind(OURS, Memory.RECURRENT, "rendered") in found:
        # What a chat warm-up leaves where a checkpoint would be needed.
        found.append(Kind(OURS, Memory.RECURRENT, "rendered", by_chat=True))
    if "wake_word" in names:
        found += [
            Kind(one.agent, one.memory, one.path, 2)
            for one in found
            if one.agent == OURS and not one.by_chat
        ]
    return found


def is_shown(memory: Memory, path: str) -> bool:
    """Return whether core's agent is measured: two kinds show all there is to see."""
    return memory is not Memory.SLIDING and path == "native"


async def bench(options: argparse.Namespace, folder: Path) -> list[Measured]:
    """Play what was asked for."""
    console, start = Console(stderr=True), time.monotonic()
    names = tuple(options.only or NAMES)
    found: list[Measured] = []
    console.print("Starting Home Assistant and the model servers ...")
    async with stage(folder, kinds(options, names)) as opened:
        async for one in played(opened, names):
            found.append(one)
            if options.folder:
                write_records(folder / "requests", opened.cells)
            numbers = [asked.re_read for asked in one.asked]
            wrong = "; ".join(problems(one) or one.failures)
            passed = time.monotonic() - start
            line = f"{passed:4.0f} s {one.scenario}: {one.kind}: {numbers} {wrong}"
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    return found


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    add = parser.add_argument
    add("--only", action="append", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    add("--memory", action="append", choices=[str(memory) for memory in Memory])
    add("--path", action="append", choices=PATHS)
    add("--agent", action="append", choices=(CORE, OURS))
    add("--all", action="store_true", help="core's agent with all memories and paths, too")
    add("--json", type=Path, metavar="FILE", help="write the rows here, too")
    add("--report", type=Path, metavar="FILE", help="write a page with figures, too")
    add("--docs", action="store_true", help="write the table into docs/benchmarks.md, too")
    add("--folder", type=Path, help="keep the house, the logs and all requests here")
    add("--overhead", action="store_true", help="only measure our own time in a big house")
    return parser.parse_args()


def main() -> int:
    """Measure, and say whether everything was reached."""
    options = arguments()
    if options.report:
        try:
            check(options.report)
        except WarmerError as err:
            # A long measurement would be in vain.
            Console(stderr=True).print(f"Error: {err}", markup=False, soft_wrap=True)
            return 2
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="ollama-warm-bench-") as temporary:
        folder = options.folder or Path(temporary)
        if options.overhead:
            return 0 if asyncio.run(overhead(folder)) else 1
        found = asyncio.run(bench(options, folder))
    Console().print(table(found))
    if options.json:
        write_json(options.json, found)
    if options.report:
        write_bench_page(options.report, as_object(found))
    if options.docs:
        write_docs(DOCS, found)
    return 1 if any(problems(one) for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
