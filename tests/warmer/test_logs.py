"""When a log has told all: no wait for what cannot come, and no guess at what still may."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
import shutil

import pytest

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.counts import logs
from ollama_warmer.counts.logs import Log, following
from tests.warmer.support.log_writer import add
from tests.warmer.test_lines import request

OURS, THEIRS = request(5104, 5080, task=7), request(2000, 1990, task=3)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "ollama.log"
    path.touch()
    return path


@pytest.fixture(name="file")
async def _file(path: Path) -> AsyncIterator[Log]:
    async with following(CountsConfig(source=CountsSource.FILE, path=path)) as log:
        assert log is not None
        await log.begin()
        yield log


@pytest.fixture(name="program")
async def _program(path: Path) -> AsyncIterator[Log]:
    command = (shutil.which("tail") or "tail", "-n", "0", "-s", "0.01", "-F", str(path))
    async with following(CountsConfig(source=CountsSource.COMMAND, command=command)) as log:
        assert log is not None
        await log.begin()
        yield log


async def seconds(log: Log, like: int | None = None) -> float:
    """Return how long the counts of our question took; they have to be right."""
    clock = asyncio.get_running_loop().time
    began = clock()
    assert (await log.counts(like)).cached == 5080
    return clock() - began


async def test_file_that_has_told_all(
    file: Log, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that has ended and told its cost is all there is to wait for."""
    monkeypatch.setattr(logs, "_QUIET", 60)
    add(path, OURS)
    assert await seconds(file) < 1
    await file.begin()
    add(path, OURS)
    assert await seconds(file, like=5110) < 1


async def test_file_of_another_length(
    file: Log, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt of another length than the one before may be someone else's: what else comes?"""
    monkeypatch.setattr(logs, "_QUIET", 0.4)
    add(path, THEIRS)
    asyncio.get_running_loop().call_later(0.2, add, path, OURS)
    found = await file.counts(like=5110)
    assert (found.prompt, found.re_read) == (None, None)
    assert "2 requests were written" in str(found.reason)
    # Nothing else: it is the question's, and has changed, if it read as much as it has changed.
    for like, length, cached, known in (
        (5110, 2000, 1990, False),
        (2000, 5104, 5080, False),
        (5110, 5180, 5170, False),
        (5110, 5180, 5100, True),
        (5110, 4800, 12, True),
        (5110, 900, 0, False),
        (5110, 5170, 5160, True),
    ):
        await file.begin()
        add(path, request(length, cached, task=9))
        found = await file.counts(like)
        assert (found.prompt == length) is known
        assert ("likely it is another's" in str(found.reason)) is not known


async def test_file_with_an_unfinished_request(file: Log, path: Path) -> None:
    """Whoever is still being read was begun in the question's time, and may be the question."""
    add(path, [*THEIRS, *OURS[:1]])
    asyncio.get_running_loop().call_later(0.3, add, path, OURS[1:])
    assert (await file.counts()).re_read is None


async def test_program_that_is_late(
    program: Log, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may hand on another's request first, and the question's a moment later."""
    monkeypatch.setattr(logs, "_QUIET", 0.4)
    await asyncio.sleep(0.2)
    add(path, THEIRS)
    asyncio.get_running_loop().call_later(0.2, add, path, OURS)
    assert "2 requests were written" in str((await program.counts()).reason)


async def test_program_that_has_told_all(
    program: Log, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt as long as the target's last one is the question's, whoever hands it on."""
    monkeypatch.setattr(logs, "_QUIET", 60)
    await asyncio.sleep(0.2)
    add(path, OURS)
    assert await seconds(program, like=5110) < 2
