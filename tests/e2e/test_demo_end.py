"""script/demo ends what it started, however it is ended itself."""

import asyncio
from collections.abc import Callable
import os
from pathlib import Path
import signal
import sys

import pytest

from tests.rig.models import Memory, tiny_model

pytestmark = pytest.mark.asyncio(loop_scope="function")

ROOT = Path(__file__).parents[2]


def below(parent: int) -> set[int]:
    """Return the processes that a process has started, and theirs."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue  # it has just ended
            # The name, in parentheses, may have anything in it.
            parents[int(entry.name)] = int(status.rpartition(")")[2].split()[1])
    found: set[int] = set()
    while new := {child for child, its in parents.items() if its in {parent, *found}} - found:
        found |= new
    return found


def named(process: int) -> str:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def left_in(folder: Path) -> list[Path]:
    """Return the demonstration's folders that are still there."""
    return list(folder.glob("ollama-warm-demo-*"))


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is true; fail if it does not become so."""
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110 - processes are no events
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "started"),
    [
        (signal.SIGTERM, "hass"),
        (signal.SIGTERM, "llama_process"),
        (signal.SIGHUP, "llama_process"),
        (signal.SIGINT, "hass"),
    ],
)
async def test_nothing_is_left_running(
    tmp_path: Path, number: signal.Signals, started: str
) -> None:
    """Home Assistant, the model server and the folder of both go, at whichever moment it comes."""
    for memory in (Memory.ATTENTION, Memory.RECURRENT):
        tiny_model(memory)
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.rig.demo", "--keep"),
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        # Whatever runs in a shell's background ignores it otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        await until(lambda: any(started in named(process) for process in below(demo.pid)))
        running = below(demo.pid)

        demo.send_signal(number)
        code = await asyncio.wait_for(demo.wait(), 90)

        assert code == (0 if number is signal.SIGINT else 128 + number)
        await until(lambda: not [process for process in running if named(process)])
        assert left_in(tmp_path) == []
    finally:
        for process in {*below(demo.pid), demo.pid} if demo.returncode is None else ():
            os.kill(process, signal.SIGKILL)
