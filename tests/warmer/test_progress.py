"""The line on a terminal while a question is under way."""

import asyncio
from collections.abc import Sequence
import os
from pathlib import Path
import pty
import sys

import pytest

from tests.warmer.support.house import AGENT, TOKEN, House, Message, reply
from tests.warmer.support.log_writer import APP, add, file_counts
from tests.warmer.test_lines import request

PROGRESS = (
    "slot print_timing: id  0 | task 7 | prompt processing, n_tokens = 99, progress = 0.40, t"
)


async def on_a_terminal(
    house: House, folder: Path, *options: str, streams: Sequence[str], counts: str = ""
) -> tuple[str, str, str]:
    """Run `warm` with some of its streams on a terminal.

    Returns what the terminal showed, and what the pipes for standard output and error got.
    """
    config = folder / "home.toml"
    config.write_text(
        f'agent = "{AGENT}"\n[home_assistant]\nurl = "{house.url}"\n{counts}{APP}', "utf-8"
    )
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ollama_warmer", "warm", "--config", str(config), *options),
        env={**os.environ, "HA_TOKEN": TOKEN, "TERM": "xterm", "COLUMNS": "120"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=theirs if "stdout" in streams else asyncio.subprocess.PIPE,
        stderr=theirs if "stderr" in streams else asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    os.set_blocking(ours, False)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 1 << 16):
            shown += data
    except OSError:
        pass  # the end of a terminal that no one writes to any more
    os.close(ours)
    assert process.returncode == 0
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
    texts = [data.decode(encoding) for data in (shown, out or b"", errors or b"")]
    return texts[0], texts[1], texts[2]


@pytest.fixture(name="path")
def _slow(house: House, tmp_path: Path) -> Path:
    """A house of which the model server's log tells how far it is, for half a second."""
    path = tmp_path / "ollama.log"

    def answer(_: Message) -> object:
        new, *rest = request(5104, 5080, task=7)
        loop = asyncio.get_running_loop()
        add(path, [new])
        loop.call_later(0.1, add, path, [PROGRESS])
        loop.call_later(0.6, add, path, rest)
        return 0.6, reply(None)

    house.overrides["conversation/process"] = answer
    return path


async def test_line_says_what_is_waited_for(house: House, tmp_path: Path, path: Path) -> None:
    """Target, question, seconds and how far the server is; the table is not disturbed by it."""
    shown, out, _ = await on_a_terminal(
        house, tmp_path, streams=["stderr"], counts=file_counts(path)
    )

    assert "app: warm-up, 0 s" in shown
    assert "app: confirmation, 0 s" in shown
    assert "40% of the prompt read" in shown
    assert "app: warm, " in out
    assert "% of the prompt read" not in out


@pytest.mark.parametrize(
    ("options", "streams", "times"),
    [
        ((), ["stdout"], 0),
        (("--json",), ["stderr"], 0),
        (("--json",), ["stdout", "stderr"], 1),
    ],
)
async def test_where_it_is_shown(
    house: House, tmp_path: Path, options: Sequence[str], streams: list[str], times: int
) -> None:
    """Only on a terminal, and not beside JSON that goes to a program."""
    shown, out, errors = await on_a_terminal(house, tmp_path, *options, streams=streams)

    assert min(shown.count("app: warm-up"), 1) == times
    assert "app: warm-up" not in out
    assert errors == ""
