"""Follows a log that a program prints."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
import os
import re
import signal

from ollama_warmer.counts.sources import Lines, Sink
from ollama_warmer.words import printable

_POLL = 0.05
_CHUNK = 1 << 18
# A program that follows a log first prints the end of it. That is over once it has been silent.
_QUIET = 0.3
_SETTLE = 3.0
_STOP = 2.0
# What a followed program has no use for.
_SECRETS = ("HA_TOKEN", "CREDENTIALS_DIRECTORY")
# A line of the log itself may quote what a person said, so it is never shown.
_OF_THE_LOG = re.compile(
    r"\b(?:time|level|msg)=|\bslot\s|\bsrv\s|\[GIN\]|\btask\b"
    r'|^\W*\{|"?MESSAGE"?\s*[:=]|^[\s\d,\]]*$'  # in a journal's or a container's own shape
)


class ProcessSource:
    """A program that prints a log and goes on as long as the log does."""

    at_once = False

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
        """Start the program if it does not run; what it prints first then is left out."""
        if self._process is None or self._process.returncode is not None:
            self._sink = None
            await self.end()
            await self._start()
        self._sink = sink

    def look(self) -> None:
        """Do nothing: a program hands its lines on when it likes."""

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
            await asyncio.sleep(_POLL)

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
