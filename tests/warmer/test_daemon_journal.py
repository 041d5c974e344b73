"""What the daemon says of its own mistakes: where they are, and no one's words."""

import asyncio
from collections.abc import Iterator
import io
import logging
import os
from pathlib import Path
import pty
import re
from typing import TextIO

import pytest

from ollama_warmer.daemon import journal, tasks
from ollama_warmer.daemon.loop import _log_unhandled

SECRET = "what someone said"


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """Return what is written to the log, and put the log back afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("ollama_warmer")
    before = (root.handlers, root.level, ours.level)
    stream = io.StringIO()
    journal.set_up(stream, {"JOURNAL_STREAM": "1:2"})
    yield stream
    root.handlers = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


async def test_task_that_stumbles(said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts again, and the log tells the place and not the words."""
    monkeypatch.setattr(tasks, "_FIRST_WAIT", 0.01)
    again = asyncio.Event()
    calls: list[int] = []

    async def stumble() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError(SECRET)
        again.set()
        await asyncio.sleep(60)

    task = tasks.endless("Watching", stumble)
    await again.wait()
    task.cancel()

    lines = said.getvalue().splitlines()
    assert lines[0] == "Watching failed because of a bug in ollama-warmer, and starts again"
    assert lines[1].startswith("ValueError at tasks.py:")
    assert SECRET not in said.getvalue()


async def test_what_nobody_waits_for(said: io.StringIO) -> None:
    """The event loop's own complaints are told in the same way."""
    loop = asyncio.get_running_loop()
    _log_unhandled(loop, {"message": SECRET, "exception": ValueError(SECRET)})
    _log_unhandled(loop, {"message": SECRET})

    assert said.getvalue() == (
        "A bug in ollama-warmer: ValueError at \nUnexpected internal error\n"
    )


def test_levels(said: io.StringIO) -> None:
    """Our own information is written, and of libraries only what is wrong."""
    logging.getLogger("ollama_warmer.daemon").info("ours\n\nin two lines")
    logging.getLogger("aiohttp").info("theirs")
    logging.getLogger("aiohttp").warning("wrong")

    assert said.getvalue() == "ours\nin two lines\nwrong\n"


def written_to(stream: TextIO, environ: dict[str, str] | None = None) -> None:
    """Write two lines of the log to a stream, and put the log back afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("ollama_warmer")
    before = (root.handlers, root.level, ours.level)
    journal.set_up(stream, environ or {})
    ours.warning("one\ntwo")
    root.handlers = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


TIMED = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) one\r?\n\1 two\r?\n")


def test_times_on_a_terminal() -> None:
    """Each line says when it was written, as no one else does."""
    ours, its = pty.openpty()
    with os.fdopen(its, "w") as terminal:
        written_to(terminal)
        shown = os.read(ours, 65_536).decode()
    os.close(ours)

    assert TIMED.fullmatch(shown)


def test_times_in_a_file(tmp_path: Path) -> None:
    """The same where cron or a shell keeps what is said."""
    file = tmp_path / "log"
    with file.open("w") as stream:
        written_to(stream)

    assert TIMED.fullmatch(file.read_text())


def test_no_times_where_others_keep_them(tmp_path: Path) -> None:
    """A container's engine at the end of a pipe, and the journal, have clocks of their own."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        written_to(pipe)
    assert os.read(reading, 65_536) == b"one\ntwo\n"
    os.close(reading)
    with (tmp_path / "journal").open("w") as stream:
        is_it = os.fstat(stream.fileno())
        written_to(stream, {"JOURNAL_STREAM": f"{is_it.st_dev}:{is_it.st_ino}"})
    assert (tmp_path / "journal").read_text() == "<4>one\n<4>two\n"
