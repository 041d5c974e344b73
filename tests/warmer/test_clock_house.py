"""`ollama-warmer clock` puts the prompt of the house back, whatever happens meanwhile."""

import asyncio
from collections.abc import AsyncIterator
import json
import os
from pathlib import Path
import signal
import sys

import pytest

from ollama_warmer.round.verdicts import Verdict
from tests.warmer.conftest import TARGETS, parsed
from tests.warmer.support.clock_server import MODEL, Body, Server, clocked, serving
from tests.warmer.support.house import AGENT, COLD, TOKEN, House, reply


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Return a server with the model in memory."""
    async with serving(Server()) as opened:
        yield opened


def configured(folder: Path, house: House, server: Server, more: str = "") -> str:
    """Write a configuration for both servers, and return its path."""
    path = folder / "home.toml"
    path.write_text(
        f'agent = "{AGENT}"\n[home_assistant]\nurl = "{house.url}"\n'
        f'[ollama]\nurl = "{server.url}"\nmodel = "{MODEL}"\n{more}\n{TARGETS}'
    )
    return str(path)


async def test_the_house_is_warm_again(server: Server, house: House, tmp_path: Path) -> None:
    """With a configuration every target is warmed and confirmed at the end."""
    result = await clocked(server, "--json", "--config", configured(tmp_path, house, server))

    assert result.exit_code == 0
    assert len(house.questions) == 2 * 2
    restored = parsed(result)["restored"]
    assert "the confirmation re-read 24 of 5104 tokens" in restored.pop("reason")
    assert restored == {
        "prompt": 5104,
        "cached": 5080,
        "re_read": 24,
        "verdict": "warm",
        "target": "app",
    }
    assert "Put back, kitchen: warm" in result.stderr


async def test_the_house_is_not_warm_again(server: Server, house: House, tmp_path: Path) -> None:
    """That is said, and the exit code says it, too."""
    house.answers = [reply(), reply(), reply(COLD), reply(COLD)]

    result = await clocked(server, "--json", "--config", configured(tmp_path, house, server))

    assert result.exit_code == 1
    restored = parsed(result)["restored"]
    assert (restored["target"], restored["verdict"]) == ("kitchen", Verdict.COLD)


async def test_after_an_error_the_house_is_warmed_all_the_same(
    server: Server, house: House, tmp_path: Path
) -> None:
    """What was measured is shown, and what went wrong is said."""
    server.refuse_after = 5

    result = await clocked(server, "--json", "--config", configured(tmp_path, house, server))

    assert result.exit_code == 1
    assert "Error: Ollama at" in result.stderr
    assert len(house.questions) == 2 * 2
    run = parsed(result)
    assert [one["placement"] for one in run["placements"]] == ["top"]
    assert run["restored"]["verdict"] == "warm"


async def test_a_house_that_goes_away_meanwhile(
    server: Server, house: House, tmp_path: Path
) -> None:
    """The counts are shown, and that the prompt could not be put back."""

    def cached(_: Body) -> int:
        house.token = "another"  # from now on the house refuses ours
        return 4780

    server.cached = cached

    result = await clocked(server, "--json", "--config", configured(tmp_path, house, server))

    assert result.exit_code == 4
    assert len(parsed(result)["placements"]) == 4
    assert "Error: " in result.stderr


async def test_no_way_back_no_demonstration(server: Server, house: House, tmp_path: Path) -> None:
    """A device that is gone is found before anything is replaced."""
    house.devices = []

    result = await clocked(server, "--config", configured(tmp_path, house, server))

    assert result.exit_code == 1
    assert "The prompt of kitchen could not be put back afterwards" in result.stderr
    assert not server.bodies


async def test_ctrl_c_leaves_a_warm_house(server: Server, house: House, tmp_path: Path) -> None:
    """Who ends it early gets what was measured, and the house its prompt."""
    server.delay = 0.05
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("ollama-warmer")),
        *("clock", "--yes", "--json", "--config", configured(tmp_path, house, server)),
        env={**os.environ, "HA_TOKEN": TOKEN},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Whatever runs in a shell's background ignores it otherwise.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while len(server.bodies) < 6:  # noqa: ASYNC110 - bodies are no event
        await asyncio.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = await process.communicate()

    assert process.returncode == 130, errors.decode()
    assert "Error: interrupted, not everything was measured" in errors.decode()
    assert "Traceback" not in errors.decode()
    run = json.loads(out)
    assert [one["placement"] for one in run["placements"]] == ["top"]
    assert run["restored"]["verdict"] == "warm"
    assert len(house.questions) == 2 * 2


async def test_the_agents_keep_alive_is_sent(server: Server, house: House, tmp_path: Path) -> None:
    """The configuration's options are those of every request."""
    options = 'keep_alive = -1\nthink = "low"\nnum_ctx = 8192'

    await clocked(server, "--config", configured(tmp_path, house, server, options))

    assert {(body["keep_alive"], body["think"]) for body in server.bodies} == {(-1, "low")}
