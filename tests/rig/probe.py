"""The real probe, run as somebody would run it, and what llama.cpp's log says of the same calls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import copy
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import re
import signal
import sys
from typing import Any

from ollama_warmer.lab.probe.plan import PLAN, Kind

from .models import Memory, tiny_model
from .ollama import OllamaStandIn, Record, ServedModel

_STARTING = 'msg="starting llama-server"'
_LINE = re.compile(
    r"\| task (?P<task>\d+) \| (?:new prompt, .*task\.n_tokens = (?P<prompt>\d+)"
    r"|prompt eval time =.*/ +(?P<read>\d+) tokens)"
)


@dataclass(frozen=True, slots=True)
class Probed:
    """How a run of the probe ended, and what it said."""

    exit_code: int
    run: dict[str, Any]
    errors: str

    @property
    def re_read(self) -> dict[str, int | None]:
        """Tokens that each call re-read, by its role; None where a count is missing."""
        rows = [
            row
            for phase, rows in self.run["summary"].items()
            if isinstance(rows, list) and phase in self.run["phases"]
            for row in rows
        ]
        return {
            row["label"]: None if row["cached"] is None else row["prompt"] - row["cached"]
            for row in rows
        }

    @property
    def said(self) -> str:
        """The sentences of the verdict."""
        return " ".join(self.run["verdict"])

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of one of the tables T1 to T7."""
        rows: list[dict[str, Any]] = self.run["tables"][table]["rows"]
        return rows


@dataclass
class Measured:
    """A run of the probe with what the server knows of it."""

    probed: Probed
    log: str = ""
    records: list[Record] = field(default_factory=list)

    @property
    def run(self) -> dict[str, Any]:
        """The run's JSON object."""
        return self.probed.run

    @property
    def re_read(self) -> dict[str, int]:
        """Tokens that each completed call re-read, by its role."""
        return {role: cost for role, cost in self.probed.re_read.items() if cost is not None}

    def task(self, number: int) -> str:
        """Return llama.cpp's lines about a request of the first load; 0 is the warm-up."""
        load = self.log.split(_STARTING)[1]
        tasks = list(dict.fromkeys(re.findall(r"task (\d+) \| new prompt", load)))
        return "\n".join(line for line in load.splitlines() if f"| task {tasks[number]} |" in line)

    def with_counts_of_the_log(self) -> dict[str, Any]:
        """Return the run with the log's counts of every completed call in the place of its own."""
        found = copy.deepcopy(self.run)
        first, *lengths = logged_loads(self.log)
        rows = [row for phase in self.run["phases"] for row in found["summary"][phase]]
        lists = [([row for row in rows if row["prompt"] is not None], self._completed(first))]
        lists += [
            (one["calls"], [(prompt, prompt - (read or 0)) for prompt, read in load[1:]])
            for one, load in zip(found["sweep"], lengths, strict=True)
        ]
        for rows, counts in lists:
            for row, (prompt, cached) in zip(rows, counts, strict=True):
                row |= {"prompt": prompt, "cached": cached}
        return found

    def _completed(self, load: list[tuple[int, int | None]]) -> list[tuple[int, int]]:
        """Return (prompt, cached) of the completed calls of a load, without its warm-up."""
        aborted = 1 + [call.kind for call in PLAN].index(Kind.ABANDONED)
        if not self.run["calls"][aborted - 1]["pass"] and len(load) == 1 + len(PLAN):
            load = [*load[:aborted], *load[aborted + 1 :]]
        return [(prompt, prompt - read) for prompt, read in load[1:] if read is not None]


@asynccontextmanager
async def one_model(name: str, folder: Path) -> AsyncIterator[OllamaStandIn]:
    """Serve one model alone, because a measurement beside another one is none.

    Args:
        name: Kind of memory and path, such as `recurrent-rendered`.
        folder: Takes llama.cpp's log.
    """
    memory, _, path = name.partition("-")
    gguf = tiny_model(Memory(memory))
    model = ServedModel(name, Memory(memory), gguf, "native" if path == "native" else "rendered")
    async with OllamaStandIn([model], log_dir=folder) as server:
        yield server


async def measure(name: str, folder: Path, *options: str) -> Measured:
    """Run the probe on a model of the rig, as `one_model` names it."""
    async with one_model(name, folder) as server:
        log = server.log_path(name)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        probed = await run_probe(server.url, name, folder, "--log", str(log), *options)
        return Measured(probed, log.read_text(errors="replace"), list(server.records))


async def run_probe(
    url: str, model: str, folder: Path, *options: str, interrupt_after: str | None = None
) -> Probed:
    """Run the probe on a model; its result goes to the folder.

    Args:
        url: Address of the server.
        model: Name of the model.
        folder: Takes the result.
        options: More options of the command.
        interrupt_after: Beginning of the line after which Ctrl-C is pressed.
    """
    place = ("--output", str(folder), "--machine", "rig")
    return await _run("--url", url, "--model", model, *place, *options, until=interrupt_after)


async def resume_probe(url: str, file: Path) -> Probed:
    """Go on with an interrupted run."""
    return await _run("--url", url, "--resume", str(file))


async def _run(*options: str, until: str | None = None) -> Probed:
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("ollama-warmer")),
        *("probe", "--yes", "--json", *options),
        env=dict(os.environ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Whatever runs in a shell's background ignores it otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    seen = await _read_until(process, until) if until else ""
    out, errors = await process.communicate()
    run = json.loads(out) if out.strip() else {}
    return Probed(process.returncode or 0, run, seen + errors.decode())


async def _read_until(process: asyncio.subprocess.Process, line: str) -> str:
    """Read standard error until a line begins so, and press Ctrl-C."""
    seen = ""
    if process.stderr is not None:
        async for one in process.stderr:
            seen += one.decode()
            if one.decode().startswith(line):
                break
    process.send_signal(signal.SIGINT)
    return seen


def logged_loads(log: str) -> list[list[tuple[int, int | None]]]:
    """Return (prompt, read) of every request in llama.cpp's log, one list for each load.

    A request that was given up has no count of what was read.
    """
    loads = []
    for part in log.split(_STARTING)[1:]:
        requests: dict[str, list[int | None]] = {}
        for match in _LINE.finditer(part):
            if match["prompt"]:
                requests[match["task"]] = [int(match["prompt"]), None]
            else:
                requests[match["task"]][1] = int(match["read"])
        loads.append([(prompt or 0, read) for prompt, read in requests.values()])
    return loads
