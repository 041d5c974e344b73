"""What the warmer's tests share: a stand-in house and the command in front of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
import pytest

from ollama_warmer.cli import main
from ollama_warmer.house import client as home_assistant
from tests.warmer.support.house import AGENT, KITCHEN, TOKEN, House, open_house

Run = Callable[..., Awaitable[Result]]

TARGETS = f"""
[[targets]]
name = "app"

[[targets]]
name = "kitchen"
device = "{KITCHEN}"
"""


@pytest.fixture(autouse=True)
def quick_and_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Poll fast, and keep the token and the state of whoever runs the tests out of them."""
    monkeypatch.setattr(home_assistant, "_POLL_INTERVAL", 0.01)
    for name in ("HA_TOKEN", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """Return a house that answers warm, until a test says otherwise."""
    async with open_house(House()) as opened:
        yield opened


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a way to run the command against an address, with a configuration made for it."""

    async def run_it(
        url: str, *options: str, targets: str = TARGETS, timeouts: str = "", token: str = TOKEN
    ) -> Result:
        config = tmp_path / "home.toml"
        config.write_text(
            f'agent = "{AGENT}"\n[home_assistant]\nurl = "{url}"\n{timeouts}\n{targets}'
        )
        arguments = ["warm", "--config", str(config), *options]
        result = await asyncio.to_thread(
            CliRunner().invoke, main, arguments, env={"HA_TOKEN": token}
        )
        # What no person may ever see, whatever went wrong.
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert "Traceback" not in result.output
        assert token not in result.output
        return result

    return run_it


def parsed(result: Result) -> dict[str, Any]:
    """Return what `--json` printed."""
    report: dict[str, Any] = json.loads(result.stdout)
    return report
