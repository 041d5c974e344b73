"""The `hass` process: its start, its end and its log."""

import asyncio
import os
from pathlib import Path
import re
import signal
import sys

from .hass_api import HassError

TAIL_LINES = 40
STOP_SECONDS = 30

# What this house does without. All three concern integrations that Home Assistant always starts.
KNOWN_ERRORS = (
    "[haffmpeg.core] FFmpeg fails",  # no ffmpeg program: only cameras and real microphones need it
    "Setup failed for 'analytics'",  # needs the Supervisor's client, and would call home
    "Error loading libturbojpeg",  # only cameras need it
    # A page was left while aiohttp was sending to it; Home Assistant logs that as nobody's error.
    "ClientConnectionResetError: Cannot write to closing transport",
)


class HassProcess:
    """One configuration folder and, at times, the process that runs in it."""

    def __init__(self, folder: Path, executable: Path | None = None) -> None:
        """Prepare to run in the folder."""
        self.folder = folder
        self.executable = executable or Path(sys.executable).with_name("hass")
        self.log_path = folder / "home-assistant.log"
        self._process: asyncio.subprocess.Process | None = None

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the process; it takes some seconds until it answers."""
        if self.running:
            raise HassError("Home Assistant runs already")
        if not self.executable.exists():
            raise HassError(f"{self.executable} is missing: run script/bootstrap")
        # What is printed before the log file is opened, such as a broken import, is kept as well.
        with (self.folder / "hass.out").open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                self.executable,
                "-c",
                self.folder,
                "--skip-pip",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=_environment(),
            )

    async def wait(self) -> int | None:
        """Wait for the process to end, and return its exit status."""
        return await self._process.wait() if self._process else None

    async def stop(self) -> None:
        """End the process in an orderly way, as a restart of the host would."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is not None:
            raise HassError(self.explain(f"ended by itself with status {process.returncode}"))
        process.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise HassError(self.explain(f"did not stop in {STOP_SECONDS} s")) from None
        if code != 0:
            raise HassError(self.explain(f"stopped with exit status {code}"))

    async def kill(self) -> None:
        """End the process at once, as a power cut would."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    def explain(self, what: str) -> str:
        """Return what went wrong, with the end of the log."""
        return f"Home Assistant {what}. The end of its log:\n{self.tail()}"

    def tail(self, lines: int = TAIL_LINES) -> str:
        """Return the last lines of the log, or of the output if there is no log yet."""
        for path in (self.log_path, self.folder / "hass.out"):
            if path.exists() and (text := path.read_text(errors="replace")):
                return "\n".join(text.splitlines()[-lines:])
        return "(nothing was written)"

    def unexpected_errors(self) -> list[str]:
        """Return the ERROR and CRITICAL records of this run, except the known ones."""
        records = self._records("(?:ERROR|CRITICAL)")
        return [record for record in records if not any(known in record for known in KNOWN_ERRORS)]

    def log_records(self, level: str) -> list[str]:
        """Return the first lines of all records of a level (a pattern) in this run's log."""
        return [record.partition("\n")[0] for record in self._records(level)]

    def _records(self, level: str) -> list[str]:
        """Return whole records, which a traceback makes many lines long."""
        stamp = r"^\d{4}-\d\d-\d\d \S+ "
        records = re.split(rf"(?m)(?={stamp})", self.log_path.read_text(errors="replace"))
        pattern = re.compile(rf"{stamp}{level} \(")
        return [record.rstrip() for record in records if pattern.match(record)]


def _environment() -> dict[str, str]:
    """Return our environment without what would change how Home Assistant runs."""
    unwanted = {
        "PYTHONPATH",
        "PYTEST_CURRENT_TEST",
        "SETUP_PORT",
        "SUPERVISOR",
        # Compiled modules halve the time that a start takes.
        "PYTHONDONTWRITEBYTECODE",
    }
    return {name: value for name, value in os.environ.items() if name not in unwanted}
