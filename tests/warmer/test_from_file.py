"""A file that is renamed, emptied or created again while it is read."""

import asyncio
from collections.abc import AsyncIterator
import os
from pathlib import Path

import pytest

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.counts import from_file as log_file
from ollama_warmer.counts.logs import Log, following
from tests.warmer.support.log_writer import add
from tests.warmer.test_lines import request

OLD, NEW = request(5000, 0, task=1), request(5104, 5080, task=7)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "ollama.log"
    add(path, OLD)
    return path


@pytest.fixture(name="log")
async def _log(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Log]:
    monkeypatch.setattr(log_file, "_POLL", 0.01)
    async with following(CountsConfig(source=CountsSource.FILE, path=path)) as log:
        assert log is not None
        await log.begin()
        yield log


async def cached(log: Log) -> int | None:
    """Return the cached tokens of the question, of which the whole prompt has to be right."""
    found = await log.counts()
    assert found.prompt == 5104, found
    return found.cached


@pytest.mark.parametrize("pause", [0, 0.05])
async def test_renamed(log: Log, path: Path, pause: float) -> None:
    """A file that is renamed in mid-read is read to its end, then its successor."""
    with path.open("a") as old:
        old.write(NEW[0] + "\n")
        old.flush()
        os.rename(path, f"{path}.1")  # noqa: PTH104
        await asyncio.sleep(pause)
        old.write(NEW[1] + "\n")
    add(path, NEW[2:])
    assert await cached(log) == 5080


@pytest.mark.parametrize("pause", [0, 0.05])
async def test_emptied(log: Log, path: Path, pause: float) -> None:
    """A file that is emptied is read from its beginning."""
    add(path, NEW[:1])
    await asyncio.sleep(0.05)
    os.truncate(path, 0)
    await asyncio.sleep(pause)
    add(path, NEW[1:])
    assert await cached(log) == 5080


async def test_emptied_and_soon_longer_than_before(log: Log, path: Path) -> None:
    """Its size does not show that it was emptied, but what stands in front of the place does."""
    add(path, NEW[:1])
    await asyncio.sleep(0.05)
    os.truncate(path, 0)
    add(path, ["srv  update_slots: all slots are idle"] * 100)
    add(path, NEW[1:])
    assert await cached(log) == 5080


async def test_emptied_under_a_writer_that_does_not_append(log: Log, path: Path) -> None:
    """Such a writer goes on where it was, behind a hole of zeros as long as no line may be."""
    add(path, ["srv  update_slots: all slots are idle"] * 1000)
    with path.open("r+") as writer:
        writer.seek(0, os.SEEK_END)
        writer.write(NEW[0] + "\n")
        writer.flush()
        await asyncio.sleep(0.05)
        os.truncate(path, 0)
        writer.write("\n".join(NEW[1:]) + "\n")
    assert await cached(log) == 5080


async def test_emptied_before_the_question(log: Log, path: Path) -> None:
    """What was in the file before does not come back."""
    os.truncate(path, 0)
    await log.begin()
    add(path, NEW)
    assert await cached(log) == 5080
