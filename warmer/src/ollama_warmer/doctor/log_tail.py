"""Reads the end of the model server's log, wherever it is."""

import asyncio
from dataclasses import dataclass, field
import os
from pathlib import Path
import stat

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.counts.from_program import ProcessSource
from ollama_warmer.counts.sources import Lines
from ollama_warmer.doctor.load_lines import LoadLog

# Some weeks of a home's log; a model that stays loaded was loaded far back in it.
_BYTES = 32 * 1024 * 1024
_LINES = 200_000
_CHUNK = 1 << 20
# A program that follows a log prints the end of it first, and is silent then.
_FIRST_LINE = 5.0
_QUIET = 0.5
_LONGEST_READ = 30.0
_POLL = 0.05
_CORRECT = "Correct `path` under [counts], or let the warmer's user read it"


@dataclass(kw_only=True)
class Tail:
    """The end of a log.

    Attributes:
        name: How sentences call the log; none if the configuration names none.
        trouble: Why it could not be read, with what to do; none if it could.
        found: What is in it.
    """

    name: str | None = None
    trouble: str | None = None
    found: LoadLog = field(default_factory=LoadLog)


async def read_tail(config: CountsConfig) -> Tail:
    """Return the end of the log that the configuration names."""
    match config.source:
        case CountsSource.FILE if config.path is not None:
            return await asyncio.to_thread(_of_file, config.path)
        case CountsSource.JOURNALD:
            command = ["journalctl", "--follow", "--output=cat", f"--lines={_LINES}"]
            return await _of_program(
                f"the journal of {config.unit}", [*command, f"--unit={config.unit}"]
            )
        case CountsSource.DOCKER:
            command = ["docker", "logs", "--follow", f"--tail={_LINES}", str(config.container)]
            return await _of_program(f"the log of the container {config.container}", command)
        case CountsSource.COMMAND:
            return await _of_program(f'what "{config.command[0]}" prints', list(config.command))
        case _:
            return Tail()


def _of_file(path: Path) -> Tail:
    tail = Tail(name=f"the log {path}")
    lines = Lines()
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            tail.trouble = f"it is not a file. {_CORRECT}"
            return tail
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _BYTES))
            while data := file.read(_CHUNK):
                for line in lines.feed(data):
                    tail.found.feed(line)
    except OSError as err:
        tail.trouble = f"it cannot be read: {err.strerror}. {_CORRECT}"
    return tail


async def _of_program(name: str, command: list[str]) -> Tail:
    """Read what a program prints until it is silent, and end it then."""
    tail = Tail(name=name)
    source = ProcessSource(lambda: command, prints_old_lines=False)
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        await source.begin(tail.found.feed)
        while source.trouble is None and (now := clock()) < started + _LONGEST_READ:
            wait = _QUIET if tail.found.lines else _FIRST_LINE
            if now > max(started, source.last_line_at) + wait:
                break
            await asyncio.sleep(_POLL)
    finally:
        tail.trouble = source.trouble
        await source.end()
    return tail
