"""The real warmer, run as somebody would run it."""

import asyncio
from dataclasses import dataclass
import json
import os
from pathlib import Path
import sys
import tempfile
from typing import Any

from .home_assistant import HomeAssistant, Room


@dataclass(frozen=True, slots=True)
class WarmerRun:
    """How a run of the warmer ended, and what it said."""

    exit_code: int
    report: dict[str, Any]
    errors: str

    @property
    def verdict(self) -> str:
        """The worst verdict of all targets."""
        return str(self.report.get("verdict"))


def configuration(url: str, agent: str, rooms: list[Room], log: Path | None = None) -> str:
    """Return the configuration for an agent: the app, these rooms, and the log that counts."""
    targets = [("app", None), *((room.name, room.device_id) for room in rooms)]
    lines = [f'agent = "{agent}"', "[home_assistant]", f'url = "{url}"']
    lines += ["[counts]", 'source = "file"', f'path = "{log}"'] if log else []
    for name, device in targets:
        lines += ["[[targets]]", f'name = "{name}"']
        lines += [f'device = "{device}"'] if device else []
    return "\n".join(lines)


async def run_warmer(
    house: HomeAssistant, agent: str, rooms: list[Room] | None = None, *, log: Path | None = None
) -> WarmerRun:
    """Run one round for an agent, with the token of the user without administrator's rights."""
    with tempfile.TemporaryDirectory() as folder:
        config = _write(folder, configuration(house.url, agent, rooms or [], log))
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("ollama-warmer")),
            *("warm", "--config", str(config), "--json"),
            *("--state", str(Path(folder, "state.json"))),
            env={**os.environ, "HA_TOKEN": house.warmer_token},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    report = json.loads(out) if out.strip() else {}
    return WarmerRun(process.returncode or 0, report, errors.decode())


def _write(folder: str, text: str) -> Path:
    """Write the configuration file and return its path."""
    path = Path(folder, "warmer.toml")
    path.write_text(text)
    return path
