"""Follows a log where it is: in a file, or in what a program prints."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
import os
from pathlib import Path
import re
import signal
import stat
from typing import BinaryIO, Protocol

from ollama_warmer.words import printable

Sink = Callable[[str], None]

_POLL = 0.1
_CHUNK = 1 << 18
_LONGEST_LINE = 1 << 14
# A program that follows a log first prints the end of it. That is over once it has been silent.
_QUIET = 0.3
_SETTLE = 3.0
_STOP = 2.0
# What a followed program has no use for.
_SECRETS = ("HA_TOKEN", "CREDENTIALS_DIRECTORY")
# A line of the log itself may quote what somebody said, so it is never shown.
_OF_THE_LOG = re.compile(r"\b(?:time|level|msg)=|\bslot\s|\bsrv\s|\[GIN\]|\btask\b")


class Source(Protocol):
    """Where lines come from, one after the other, to whoever listens."""

    trouble: str | None
    """Why nothing can be read, with what to do; none while it can."""

    @property
    def last_line_at(self) -> float:
        """When the newest line came, on the event loop's clock."""

    async def begin(self, sink: Sink) -> None:
        """Hand every line that is written from now on to this sink, to no other."""

    async def end(self) -> None:
        """Stop to follow."""


class Lines:
    """Cuts bytes into lines; the rest of a line that is too long is left out."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete now."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:_LONGEST_LINE]
        return [line[:_LONGEST_LINE].decode(errors="replace") for line in lines]


class FileSource:
    """A file that grows, and may be renamed, made anew or emptied."""

    def __init__(self, path: Path) -> None:
        """Say which file; it is opened when a question begins."""
        self.trouble: str | None = None
        self._path = path
        self._file: BinaryIO | None = None
        self._lines = Lines()
        self._sink: Sink | None = None
        self._task: asyncio.Task[None] | None = None
        self._last_line_at = 0.0

    @property
    def last_line_at(self) -> float:
        """When the newest line came."""
        return self._last_line_at

    async def begin(self, sink: Sink) -> None:
        """Leave out what is in the file, and follow it from there."""
        self._sink = None
        if self._file is None:
            self._open(os.SEEK_END)
        self._poll()
        self._sink = sink
        if self._task is None:
            self._task = asyncio.create_task(self._follow())

    async def end(self) -> None:
        """Close the file."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._file is not None:
            self._file.close()
        self._task = self._file = None

    async def _follow(self) -> None:
        while True:
            self._poll()
            await asyncio.sleep(_POLL)

    def _poll(self) -> None:
        """Read what is new, also from a file that has taken the place of the old one."""
        try:
            self._read()
            replaced = self._is_replaced()
        except OSError as err:
            self._cannot(err.strerror)
            return
        if replaced:
            # The writer may have written to the old one until a moment ago.
            self._read()
            if self._file is not None:
                self._file.close()
            self._file, self._lines = None, Lines()
            self._open(os.SEEK_SET)
            self._read()

    def _is_replaced(self) -> bool:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            # Renamed, and the new one is not there yet.
            return False
        if self._file is None:
            return True
        opened = os.fstat(self._file.fileno())
        return (found.st_dev, found.st_ino) != (opened.st_dev, opened.st_ino)

    def _open(self, whence: int) -> None:
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):
                self._cannot("it is not a file")
                return
            self._file = self._path.open("rb", buffering=0)
            self._file.seek(0, whence)
        except OSError as err:
            self._cannot(err.strerror)
            return
        self.trouble = None

    def _cannot(self, why: str | None) -> None:
        self.trouble = (
            f"it cannot be read: {why}. Correct `path` under [counts], or let the warmer's user "
            "read it"
        )

    def _read(self) -> None:
        if self._file is None:
            return
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)
            self._lines = Lines()
        while data := self._file.read(_CHUNK):
            for line in self._lines.feed(data):
                self._last_line_at = asyncio.get_running_loop().time()
                if self._sink is not None:
                    self._sink(line)


class ProcessSource:
    """A program that prints a log and goes on as long as the log does."""

    def __init__(self, command: Callable[[], Sequence[str]], *, prints_old_lines: bool) -> None:
        """Say what to run.

        Args:
            command: Returns the program and its arguments at the time of each start.
            prints_old_lines: Whether it begins with lines from before its start.
        """
        self.trouble: str | None = None
        self._command = command
        self._settle = prints_old_lines
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._sink: Sink | None = None
        self._last_line_at = 0.0
        self._last_words = ""

    @property
    def last_line_at(self) -> float:
        """When the newest line came."""
        return self._last_line_at

    async def begin(self, sink: Sink) -> None:
        """Start the program if it does not run, and leave out what it has printed so far."""
        self._sink = None
        if self._process is None or self._process.returncode is not None:
            await self.end()
            await self._start()
        self._sink = sink

    async def _start(self) -> None:
        command = self._command()
        environment = {name: it for name, it in os.environ.items() if name not in _SECRETS}
        self._last_words = ""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as err:
            why = err.strerror if isinstance(err, OSError) else str(err)
            self.trouble = f"{command[0]} cannot be started: {why}. Install it, or name another"
            return
        self.trouble = None
        process = self._process
        self._tasks = [asyncio.create_task(self._watch(process))]
        if self._settle:
            await self._until_silent(process)

    async def _until_silent(self, process: asyncio.subprocess.Process) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        while (now := loop.time()) < started + _SETTLE and process.returncode is None:
            if self._last_line_at >= started and now > self._last_line_at + _QUIET:
                return
            await asyncio.sleep(_POLL / 2)

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        # Programs that show a container's log print its standard error to their own.
        await asyncio.gather(
            self._pump(process.stdout, errors=False), self._pump(process.stderr, errors=True)
        )
        code = await process.wait()
        said = f" and said: {self._last_words}" if self._last_words else ""
        self.trouble = (
            f"the program that reads it ended with exit code {code}{said}. Try it by hand, as the "
            "warmer's user"
        )

    async def _pump(self, stream: asyncio.StreamReader | None, *, errors: bool) -> None:
        lines = Lines()
        while stream is not None and (data := await stream.read(_CHUNK)):
            for line in lines.feed(data):
                self._last_line_at = asyncio.get_running_loop().time()
                if errors and line.strip() and not _OF_THE_LOG.search(line):
                    self._last_words = printable(line.strip())
                if self._sink is not None:
                    self._sink(line)

    async def end(self) -> None:
        """End the program and everything that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is not None:
                break  # its number may be another program's by now
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP):
                    await process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
