"""Takes the counts of a question from the model server's log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
import time

from ollama_warmer.config import CountsConfig, CountsSource
from ollama_warmer.counts import Counts
from ollama_warmer.log_lines import Window
from ollama_warmer.log_sources import FileSource, ProcessSource, Source

_POLL = 0.02
# The lines about a request are there with its answer; another machine's arrive a little later.
_WAIT = 3.0
_QUIET = 0.15


class Log:
    """A log that is followed for a round."""

    def __init__(self, name: str, source: Source) -> None:
        """Say how sentences call it, and where its lines come from."""
        self.name = name
        self._source = source
        self._window = Window()

    async def begin(self) -> None:
        """Listen, because a question is about to be sent."""
        self._window = Window()
        await self._source.begin(self._window.feed)

    async def close(self) -> None:
        """Stop to listen."""
        await self._source.end()

    async def counts(self) -> Counts:
        """Return what the question that was just answered cost."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _WAIT
        while (now := loop.time()) < until:
            if self._window.complete and now >= self._source.last_line_at + _QUIET:
                break
            if self._window.empty and self._source.trouble:
                break
            await asyncio.sleep(_POLL)
        found = self._window.counts()
        if found.re_read is not None:
            return replace(found, source=self.name)
        because = found.reason
        if self._window.empty:
            because = self._source.trouble or (
                "no request was written there while the question was answered. Is it the log of "
                "this agent's model server, and may the warmer's user read it? A llama-server of "
                "its own needs --log-verbosity 4, Ollama before 0.30 needs OLLAMA_DEBUG=1"
            )
        return Counts(prompt=found.prompt, reason=f"{self.name} gives no counts: {because}")


def _open(config: CountsConfig) -> Log | None:
    """Return the log that the configuration names, if it names one."""
    match config.source:
        case CountsSource.FILE if config.path is not None:
            return Log(f"the log {config.path}", FileSource(config.path))
        case CountsSource.JOURNALD:
            command = ("journalctl", "--follow", "--output=cat", f"--unit={config.unit}")
            # The beginning is a moment and not a number of lines, so that nothing gets lost
            # however slowly the program starts.
            source = ProcessSource(
                lambda: (*command, "--lines=all", f"--since=@{time.time():.6f}"),
                prints_old_lines=False,
            )
            return Log(f"the journal of {config.unit}", source)
        case CountsSource.DOCKER:
            source = ProcessSource(
                lambda: (
                    *("docker", "logs", "--follow", f"--since={time.time():.6f}"),
                    str(config.container),
                ),
                prints_old_lines=False,
            )
            return Log(f"the log of the container {config.container}", source)
        case CountsSource.COMMAND:
            source = ProcessSource(lambda: config.command, prints_old_lines=True)
            return Log(f'what "{config.command[0]}" prints', source)
        case _:
            return None


@asynccontextmanager
async def following(config: CountsConfig) -> AsyncIterator[Log | None]:
    """Follow the log that the configuration names, if any, until the round is over."""
    log = _open(config)
    try:
        yield log
    finally:
        if log is not None:
            await log.close()
