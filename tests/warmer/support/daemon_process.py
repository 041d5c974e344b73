"""The real daemon as a process, and a systemd that listens to it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
import os
from pathlib import Path
import resource
import signal
import socket
import sys
import time
from typing import Any

from tests.warmer.support.house import TOKEN
from tests.warmer.support.live_house import rounds, until

_SECRETS = ("HA_TOKEN", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY", "JOURNAL_STREAM")


class DaemonProcess:
    """A running `ollama-warmer run`."""

    def __init__(self, process: asyncio.subprocess.Process, state: Path) -> None:
        """Take over a process, and read what it says."""
        self.state = state
        self.said = ""
        self._process = process
        self._reading = asyncio.create_task(self._read())

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """The rounds that it has kept."""
        return rounds(self.state)

    @property
    def resident_mb(self) -> float:
        """Its resident memory in megabytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def allow_files(self) -> None:
        """Take a limit on the size of its files away."""
        anything = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, anything)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def has_said(self, words: str, *, times: int = 1) -> None:
        """Wait until it has written something to its log."""
        try:
            await until(lambda: self.said.count(words) >= times)
        except TimeoutError:
            raise AssertionError(f"It did not say {words!r}, but:\n{self.said}") from None

    async def end(self) -> tuple[int, float]:
        """End it as systemd does; return its exit code and the seconds that it took."""
        started = time.monotonic()
        self.signal(signal.SIGTERM)
        code = await self._process.wait()
        return code, time.monotonic() - started

    async def exit_code(self) -> int:
        """Wait until it ends by itself."""
        await self._reading
        return await self._process.wait()

    async def close(self) -> None:
        """End it the hard way if it still runs, and check that it kept its secrets."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await self._reading
        assert "Traceback" not in self.said
        assert TOKEN not in self.said
        assert not self.state.exists() or TOKEN not in self.state.read_text()

    async def _read(self) -> None:
        assert self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self.said += line.decode()


@asynccontextmanager
async def running(
    config: Path,
    *options: str,
    environ: dict[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
) -> AsyncIterator[DaemonProcess]:
    """Run the daemon with a configuration; its rounds are kept beside it."""
    state = config.with_name("state.json")
    clean = {key: value for key, value in os.environ.items() if key not in _SECRETS}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ollama_warmer", "run", "--config", str(config)),
        *("--state", str(state), *options),
        env={**clean, "HA_TOKEN": TOKEN, **(environ or {})},
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=preexec,
    )
    daemon = DaemonProcess(process, state)
    try:
        yield daemon
    finally:
        await daemon.close()


class Systemd:
    """The other end of the socket that sd_notify writes to; belongs to one event loop."""

    def __init__(self, folder: Path) -> None:
        """Listen in a folder."""
        self.path = folder / "notify"
        self.messages: list[str] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)  # noqa: FBT003 - the library's own signature
        self._socket.bind(str(self.path))
        asyncio.get_running_loop().add_reader(self._socket, self._read)

    @property
    def environ(self) -> dict[str, str]:
        """What the service gets to know of it."""
        return {"NOTIFY_SOCKET": str(self.path)}

    def heard(self, words: str) -> int:
        """Return how many messages with these words have come."""
        return sum(words in message for message in self.messages)

    def close(self) -> None:
        """Stop listening."""
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()

    def _read(self) -> None:
        self.messages.append(self._socket.recv(65_536).decode())
