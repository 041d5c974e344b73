"""The daemon as a process: its start, its signals, and what systemd hears of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest

from tests.warmer.support.daemon_process import Systemd, running
from tests.warmer.support.house import TOKEN, open_house, reply
from tests.warmer.support.live_house import LiveHouse, until, write_config

STUBBORN = "trap '' TERM; echo $$ > {pid}; while :; do sleep 0.1; done"


def is_gone(process: int) -> bool:
    """Whether a process has ended, also if no one has taken note of it yet."""
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or " Z " in status.read_text()


@pytest.fixture(name="live")
async def _live() -> AsyncIterator[LiveHouse]:
    """Return a house that answers warm."""
    async with open_house(LiveHouse()) as opened:
        assert isinstance(opened, LiveHouse)
        yield opened


@pytest.fixture(name="systemd")
async def _systemd(tmp_path: Path) -> AsyncIterator[Systemd]:
    """Return who is told how the service stands."""
    listener = Systemd(tmp_path)
    yield listener
    listener.close()


async def test_first_minute(live: LiveHouse, tmp_path: Path, systemd: Systemd) -> None:
    """It tells that it is ready, warms at once, keeps the beat, and says good-bye."""
    environ = {**systemd.environ, "WATCHDOG_USEC": "400000"}
    async with running(write_config(tmp_path, live.url), environ=environ) as daemon:
        told = "STATUS=last round "
        await until(lambda: systemd.heard("WATCHDOG=1") >= 5 and systemd.heard(told))
        assert systemd.heard("READY=1") == 1
        assert systemd.heard(told) >= 1
        assert systemd.heard("(start): warm, 2 of 2 targets warm; next round ") >= 1
        code, seconds = await daemon.end()

    assert (code, systemd.heard("STOPPING=1")) == (0, 1)
    assert seconds < 2
    (only,) = daemon.rounds
    assert (only["occasion"], only["verdict"]) == ("start", "warm")
    assert [target["name"] for target in only["targets"]] == ["app", "kitchen"]
    assert "app: warm, re-read 24 of 5,104 tokens, then 24 of 5,104 tokens" in daemon.said


async def test_lines_for_the_journal(live: LiveHouse, tmp_path: Path) -> None:
    """Under systemd every line has its priority."""
    config = write_config(tmp_path, live.url)
    # The journal is known by the number of its socket, which a shell can tell.
    script = 'export JOURNAL_STREAM=$(stat -Lc %d:%i /dev/fd/2); exec "$@"'
    command = ("sh", "-c", script, "-", sys.executable, "-m", "ollama_warmer", "run")
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--config", str(config), "--state", str(tmp_path / "state.json")),
        env={"HA_TOKEN": TOKEN, "PATH": "/usr/bin:/bin"},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = await process.stderr.readuntil(b"Round (start): ")
    process.terminate()
    said += (await process.communicate())[1]

    assert all(line.startswith("<6>") for line in said.decode().splitlines())
    assert "<6>Round (start): warm, " in said.decode()


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("interval = 0", "run.interval: has to be above 0"),
        ('listen = "0.0.0.0:9877"', "run.listen: can be reached from other machines"),
    ],
)
async def test_wrong_configuration(live: LiveHouse, tmp_path: Path, run: str, words: str) -> None:
    """A configuration that is wrong from the start ends it, with what is wrong."""
    async with running(write_config(tmp_path, live.url, run)) as daemon:
        assert await daemon.exit_code() == 2
    assert words in daemon.said


async def test_end_in_the_middle_of_a_question(live: LiveHouse, tmp_path: Path) -> None:
    """Whoever ends it does not wait for the model."""
    live.answers = [(60, reply())]
    async with running(write_config(tmp_path, live.url)) as daemon:
        await until(lambda: live.questions)
        code, seconds = await daemon.end()

    assert code == 0
    assert seconds < 2


async def test_end_with_a_program_that_does_not_listen(live: LiveHouse, tmp_path: Path) -> None:
    """A program that reads a log and ignores the signal is ended as well."""
    pid_file = tmp_path / "pid"
    script = STUBBORN.format(pid=pid_file)
    counts = f'[counts]\nsource = "command"\ncommand = ["sh", "-c", "{script}"]'
    live.answers = [(60, reply())]
    async with running(write_config(tmp_path, live.url, more=counts)) as daemon:
        await until(lambda: live.questions and pid_file.exists())
        code, seconds = await daemon.end()

    assert code == 0
    assert seconds < 2
    assert is_gone(int(pid_file.read_text()))


async def test_end_while_connecting(tmp_path: Path, systemd: Systemd) -> None:
    """A Home Assistant that takes the connection and says nothing holds up no one."""
    accepted = asyncio.Event()

    async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set()
        await asyncio.sleep(30)
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with running(write_config(tmp_path, url), environ=systemd.environ) as daemon:
        await accepted.wait()
        code, seconds = await daemon.end()
    server.close()

    assert (code, systemd.heard("STOPPING=1")) == (0, 1)
    assert seconds < 2


async def test_end_while_home_assistant_starts(live: LiveHouse, tmp_path: Path) -> None:
    """A house that never finishes starting holds up no one, either."""
    live.states = ["STARTING"]
    async with running(write_config(tmp_path, live.url)) as daemon:
        await until(lambda: live.asked)
        code, seconds = await daemon.end()

    assert (code, live.questions) == (0, [])
    assert seconds < 2


def test_end_with_a_thread_that_hangs() -> None:
    """A thread, such as one that resolves a name, is left behind."""
    script = (
        "import asyncio, time\n"
        "from ollama_warmer.daemon.ending import leave\n"
        "loop = asyncio.new_event_loop()\n"
        "loop.run_in_executor(None, time.sleep, 30)\n"
        "loop.run_until_complete(asyncio.sleep(0.1))\n"
        "leave(7)\n"
    )
    started = time.monotonic()
    code = subprocess.run([sys.executable, "-c", script], check=False).returncode

    assert code == 7
    assert time.monotonic() - started < 10


async def test_refused_token(live: LiveHouse, tmp_path: Path, systemd: Systemd) -> None:
    """It goes on, says so, and does not show the token again: that gets a machine banned."""
    live.token = "another"
    async with running(
        write_config(tmp_path, live.url, "interval = 0.1"), environ=systemd.environ
    ) as daemon:
        await until(lambda: systemd.heard("STATUS=Home Assistant refused the token"))
        await asyncio.sleep(2)
        assert systemd.heard("READY=1") == 1
        assert len(live.logins) == 1
        code, seconds = await daemon.end()

    assert (code, daemon.said.count("refused the token")) == (0, 1)
    assert seconds < 2


async def test_new_token_by_signal(live: LiveHouse, tmp_path: Path) -> None:
    """After a reload the token comes from its file again."""
    token_file = tmp_path / "token"
    token_file.touch(mode=0o600)
    token_file.write_text("an.old.token")
    config = write_config(tmp_path, live.url)
    async with running(config, "--token-file", str(token_file)) as daemon:
        await daemon.has_said("refused the token")
        token_file.write_text(TOKEN)
        daemon.signal(signal.SIGHUP)
        await daemon.has_said("Round (configuration read again): warm")

    assert "an.old.token" not in daemon.said


async def test_good_configuration_by_signal(
    live: LiveHouse, tmp_path: Path, systemd: Systemd
) -> None:
    """The new configuration is in force at once, and systemd knows when."""
    config = write_config(tmp_path, live.url)
    async with running(config, environ=systemd.environ) as daemon:
        await daemon.has_said("Round (start): warm")
        config.write_text(config.read_text().replace('name = "app"', 'name = "phone"'))
        daemon.signal(signal.SIGHUP)
        await daemon.has_said("Round (configuration read again): warm")
        await daemon.has_said("phone: warm")

    assert systemd.heard("READY=1") == 2
    order = [it for it in systemd.messages if it.startswith(("READY", "RELOADING"))]
    assert [it.partition("=")[0] for it in order] == ["READY", "RELOADING", "READY"]


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        (b"\x00\xff garbage", "is not text in UTF-8: save it as UTF-8"),
        (b"targets = 5", "targets: has to be a list of tables"),
        (None, "cannot be read: No such file or directory"),
    ],
)
async def test_garbage_by_signal(
    live: LiveHouse, tmp_path: Path, systemd: Systemd, content: bytes | None, mistake: str
) -> None:
    """A configuration that is wrong is told of, and the old one goes on."""
    config = write_config(tmp_path, live.url, "interval = 0.2")
    async with running(config, environ=systemd.environ) as daemon:
        await daemon.has_said("Round (start): warm")
        if content is None:
            config.unlink()
        else:
            config.write_bytes(content)
        daemon.signal(signal.SIGHUP)
        await daemon.has_said("Keeping the previous configuration")
        before = len(daemon.rounds)
        await until(lambda: len(daemon.rounds) > before + 2)
        assert systemd.heard("READY=1") == 2
        assert systemd.heard("STATUS=the new configuration is wrong: see the log") >= 1

    assert mistake in daemon.said
    assert daemon.rounds[-1]["verdict"] == "warm"
