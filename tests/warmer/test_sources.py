"""Logs that grow: files, programs that print, and what goes wrong with them."""

import asyncio
from collections.abc import AsyncIterator
import os
from pathlib import Path
import shutil
import sys

import pytest

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.counts import from_file as log_file, from_program as log_program, logs
from ollama_warmer.counts.counts import Counts
from ollama_warmer.counts.logs import Log, following
from tests.warmer.support.log_writer import add
from tests.warmer.test_lines import fixture, request

OLD, NEW = request(5000, 0, task=1), request(5104, 5080, task=7)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait as long for a log as a test wants to."""
    monkeypatch.setattr(logs, "_WAIT", 1.0)
    monkeypatch.setattr(log_file, "_POLL", 0.01)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "ollama.log"
    add(path, OLD)
    return path


@pytest.fixture(name="log")
async def _log(path: Path) -> AsyncIterator[Log]:
    async with following(CountsConfig(source=CountsSource.FILE, path=path)) as log:
        assert log is not None
        await log.begin()
        yield log


def known(path: object, cached: int = 5080) -> Counts:
    """Return counts of the question, from a file."""
    return Counts(prompt=5104, cached=cached, re_read=5104 - cached, source=f"the log {path}")


async def test_only_what_is_new_counts(log: Log, path: Path) -> None:
    """What was in the file before, and what the question before wrote, are left out."""
    add(path, NEW)
    assert await log.counts() == known(path)
    await log.begin()
    add(path, request(5104, 5000, task=9))
    assert await log.counts() == known(path, 5000)


async def test_line_in_two_pieces(log: Log, path: Path) -> None:
    """A line counts once it is whole."""
    first, *rest = NEW
    with path.open("a") as file:
        file.write(first[:40])
        file.flush()
        await asyncio.sleep(0.05)
        file.write(first[40:] + "\n")
    add(path, rest)
    assert await log.counts() == known(path)


async def test_lines_that_come_after_the_answer(log: Log, path: Path) -> None:
    """The last lines may be written a little later than the answer."""
    add(path, NEW[:1])
    waiting = asyncio.create_task(log.counts())
    await asyncio.sleep(0.2)
    add(path, NEW[1:])
    assert await waiting == known(path)


async def test_file_that_comes_late(tmp_path: Path) -> None:
    """Ollama makes its file again when it starts."""
    path = tmp_path / "server.log"
    async with following(CountsConfig(source=CountsSource.FILE, path=path)) as log:
        assert log is not None
        await log.begin()
        add(path, NEW)
        await asyncio.sleep(0.05)
        assert await log.counts() == known(path)


async def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    """The reason says what to do."""
    for path, why in ((tmp_path, "it is not a file"), (tmp_path / "x", "No such file")):
        async with following(CountsConfig(source=CountsSource.FILE, path=path)) as log:
            assert log is not None
            await log.begin()
            found = await log.counts()
            assert found.re_read is None
            assert f"the log {path} gives no counts: it cannot be read: {why}" in str(found.reason)
            assert "Correct `path` under [counts]" in str(found.reason)


async def test_silent_log(log: Log, path: Path) -> None:
    """A log without a request says what may be wrong with it."""
    add(path, ["nothing of interest", *NEW[1:]])
    found = await log.counts()
    assert found.re_read is None
    assert "no request was written there while the question was answered" in str(found.reason)


async def test_two_clients(log: Log, path: Path) -> None:
    """Two clients at once are not guessed, and the reason names the log."""
    add(path, fixture("llama_server_b10050_two_clients"))
    found = await log.counts()
    assert found == Counts(
        reason=f"the log {path} gives no counts: 2 requests were written there in between, and "
        "which of them is the question's cannot be known: ask when no one else does"
    )


async def test_long_lines_take_no_memory(log: Log, path: Path) -> None:
    """A line without an end is cut, and the next one is read."""
    add(path, ["x" * 3_000_000, *NEW])
    assert await log.counts() == known(path)


def command(*words: str) -> CountsConfig:
    """Return the configuration for a program."""
    return CountsConfig(source=CountsSource.COMMAND, command=words)


async def test_program(path: Path) -> None:
    """A program's old lines are left out, and what it prints later counts."""
    tail = shutil.which("tail") or "tail"
    async with following(command(tail, "-n", "100", "-F", str(path))) as log:
        assert log is not None
        for cached in (5080, 5000):
            await log.begin()
            add(path, request(5104, cached, task=cached))
            found = await log.counts()
            assert (found.prompt, found.cached) == (5104, cached)
            assert found.source == f'what "{tail}" prints'


def running(number: str) -> bool:
    """Return whether a process lives."""
    status = Path("/proc", number, "status")
    return status.exists() and "Z (zombie)" not in status.read_text()


async def test_program_ends_with_the_round(tmp_path: Path) -> None:
    """Nothing that was started is left behind, and no secret was handed to it."""
    script = tmp_path / "follow"
    script.write_text(
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(os.getpid(), child.pid, os.environ.get('HA_TOKEN'), flush=True)\n"
        f"open({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}} '\n"
        "    + str(os.environ.get('HA_TOKEN')))\n"
        "time.sleep(60)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HA_TOKEN", "secret")
        async with following(command(sys.executable, str(script))) as log:
            assert log is not None
            await log.begin()
    parent, child, token = (tmp_path / "pids").read_text().split()
    assert token == "None"
    assert not running(parent)
    # The child was told at the same moment, and no one waits for it.
    async with asyncio.timeout(5):
        while running(child):  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)


async def test_program_that_ends_is_started_again(path: Path) -> None:
    """A program that ends is unknown with its last words, and gets another chance."""
    shell = shutil.which("sh") or "sh"
    async with following(command(shell, "-c", "echo 'no such container' >&2; exit 3")) as log:
        assert log is not None
        for _ in range(2):
            await log.begin()
            found = await log.counts()
            assert str(found.reason) == (
                f'what "{shell}" prints gives no counts: the program that reads it ended with '
                "exit code 3 and said: no such container. Try it by hand, as the warmer's user"
            )


async def test_program_that_ends_has_not_told_all(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole request is another's as well as the question's if the log broke off behind it."""
    add(path, NEW)
    stand_in = tmp_path / "docker"
    stand_in.write_text(
        f"#!/bin/sh\ntest -e {tmp_path}/again && exec tail -n {len(NEW)} -F {path}\n"
        f"tail -n {len(NEW)} {path}; touch {tmp_path}/again\nexit 255\n"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    async with following(CountsConfig(source=CountsSource.DOCKER, container="gpu")) as log:
        assert log is not None
        await log.begin()
        async with asyncio.timeout(5):
            # Its lines may be here a moment before its end.
            while (found := await log.counts()).reason is None:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0)
        assert (found.prompt, found.re_read) == (None, None)
        assert "the program that reads it ended with exit code 255" in str(found.reason)
        # What was written until it runs again is not known either.
        await log.begin()
        assert (await log.counts()).facts.lost


@pytest.mark.parametrize(
    "line",
    [
        'time=1 msg="hello"',
        '{"MESSAGE":"hello"}',
        '{"log":"hello","stream":"stderr"}',
        "MESSAGE=hello",
        '    "MESSAGE" : "hello",',
        '{"MESSAGE":[104,101,108,108,111]}',
    ],
)
async def test_no_line_of_a_log_is_a_last_word(tmp_path: Path, line: str) -> None:
    """In no shape is it shown, since it may quote someone."""
    path = tmp_path / "lines"
    add(path, [line])
    shell = shutil.which("sh") or "sh"
    async with following(command(shell, "-c", f"cat {path} >&2; exit 3")) as log:
        assert log is not None
        await log.begin()
        reason = str((await log.counts()).reason)
        assert "exit code 3. Try it by hand" in reason


async def test_log_line_is_never_a_last_word(tmp_path: Path) -> None:
    """A line of the log may quote someone, so it is not shown."""
    shell = shutil.which("sh") or "sh"
    async with following(command(shell, "-c", "echo 'time=1 msg=\"hello\"' >&2; exit 3")) as log:
        assert log is not None
        await log.begin()
        assert "hello" not in str((await log.counts()).reason)


async def test_program_that_is_not_there() -> None:
    """The reason says that it cannot be started."""
    async with following(command("/nowhere/program")) as log:
        assert log is not None
        await log.begin()
        assert "/nowhere/program cannot be started: No such file" in str(
            (await log.counts()).reason
        )


@pytest.mark.parametrize(
    ("config", "asked"),
    [
        (
            CountsConfig(source=CountsSource.JOURNALD, unit="ollama"),
            "journalctl --follow --output=cat --unit=ollama --lines=all --since=@",
        ),
        (
            CountsConfig(source=CountsSource.DOCKER, container="gpu"),
            "docker logs --follow --since=",
        ),
    ],
)
async def test_journal_and_container(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch, config: CountsConfig, asked: str
) -> None:
    """Their own programs are asked; a container's log comes on the standard error."""
    program, _, arguments = asked.partition(" ")
    stand_in = tmp_path / program
    stand_in.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nexec tail -n 0 -F {path} >&2\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    async with following(config) as log:
        assert log is not None
        await log.begin()
        await asyncio.sleep(0.3)
        add(path, NEW)
        assert (await log.counts()).re_read == 24
    assert (tmp_path / "asked").read_text().startswith(arguments)


@pytest.mark.parametrize("source", [it for it in CountsSource if it in {"auto", "reply", "none"}])
async def test_no_log(source: CountsSource) -> None:
    """Without a log nothing is followed."""
    async with following(CountsConfig(source=source)) as log:
        assert log is None


async def test_program_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that will not end is ended."""
    monkeypatch.setattr(log_program, "_STOP", 0.1)
    script = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(os.getpid(), flush=True)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(60)\n"
    )
    async with following(command(sys.executable, "-c", script)) as log:
        assert log is not None
        await log.begin()
    assert not running((tmp_path / "pid").read_text())
