"""Takes the counts of a question from the model server's log."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
import time

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.counts.counts import Counts, Facts
from ollama_warmer.counts.from_file import FileSource
from ollama_warmer.counts.from_program import ProcessSource
from ollama_warmer.counts.lines import Window
from ollama_warmer.counts.sources import Source

_POLL = 0.005
# The lines about a request are there with its answer; another machine's arrive a little later.
_WAIT = 3.0
_QUIET = 0.15
# Two questions to one target differ by their own words only.
_WORDS = 64


class Log:
    """A log that is followed for a round."""

    def __init__(self, name: str, source: Source) -> None:
        """Say how sentences call it, and where its lines come from."""
        self.name = name
        self._source = source
        self._window = Window()
        self._read: tuple[int, int, int] | None = None
        self._between = Facts()

    async def begin(self, on_progress: Callable[[float], None] | None = None) -> None:
        """Listen, because a question is about to be sent.

        Args:
            on_progress: Is given the share of the prompt that has been read, 0 to 1, if the log
                says it: llama-server does from the fourth second on.
        """
        before, self._window = self._window, Window(on_progress=on_progress)
        interrupted = self._source.trouble is not None
        await self._source.begin(self._window.feed)
        self._between = Facts()
        if self._read is not None:
            requests, loads, gaps = self._read
            self._between = Facts(
                others=before.number - requests,
                loads=before.starts - loads,
                lost=interrupted or before.gaps > gaps,
            )
        self._read = None

    async def close(self) -> None:
        """Stop listening."""
        await self._source.end()

    async def counts(self, like: int | None = None) -> Counts:
        """Return what the question that was just answered cost.

        Args:
            like: Tokens of the prompt of this target's question before, if they are known.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + _WAIT
        while (now := loop.time()) < until:
            self._source.look()
            if self._all_there(like) or (
                self._window.over and now >= self._source.last_line_at + _QUIET
            ):
                break
            if self._window.empty and self._source.trouble:
                break
            await asyncio.sleep(_POLL)
        self._read = (self._window.number, self._window.starts, self._window.gaps)
        found = self._window.counts()
        # A log that broke off may have more to say about whose the lines are.
        because = self._source.trouble or found.reason or _another(found, like)
        if because is None:
            return replace(found, source=self.name, facts=self._with_between(found.facts))
        if self._window.empty and not self._window.gaps and not self._source.trouble:
            because = (
                "no request was written there while the question was answered. Is it the log of "
                "this agent's model server, and may the warmer's user read it? A llama-server of "
                "its own needs --log-verbosity 4, Ollama before 0.30 needs OLLAMA_DEBUG=1"
            )
        return Counts(reason=f"{self.name} gives no counts: {because}")

    def failure(self) -> str | None:
        """Return why the question that has just failed did, if the log shows it by now.

        A server refuses a prompt that is larger than its window, and says so to Ollama alone.
        """
        self._source.look()
        prompt, window = self._window.prompt, self._window.facts.window
        if self._window.number != 1 or prompt is None or window is None or prompt <= window:
            return None
        return (
            f"{self.name} shows a prompt of {prompt} tokens for a context window of {window}: "
            "raise the agent's num_ctx or expose less"
        )

    def _all_there(self, like: int | None) -> bool:
        """Return whether no line that matters can be missing, so that no one has to wait for one.

        A server writes in the order in which it works, and that the question's prompt begins long
        before its answer: before the prompt is read. So when the answer is here, a file shows at
        least that, and with it every request that was begun earlier; another's that is begun later
        does not concern the question. What is left to wait for is that each request that was begun
        has reported its cost and ended. If the one that did is someone else's, because the lines
        are late (a program hands them on when it likes, and whoever writes a file may hold them
        back), its prompt has another length than this target's had a moment ago.
        """
        if not self._window.complete:
            return False
        if like is None:
            return self._source.at_once
        prompt = self._window.prompt
        return prompt is not None and abs(prompt - like) <= _WORDS

    def _with_between(self, facts: Facts) -> Facts:
        """Return the facts with what happened since the question before was answered."""
        between = self._between
        return replace(
            facts, others=between.others, loads=facts.loads + between.loads, lost=between.lost
        )


def _another(found: Counts, like: int | None) -> str | None:
    """Return why counts are not surely the question's; none if nothing speaks against it.

    A prompt that has grown has at least as many tokens to read as it has more, and one that has
    become shorter was changed, mostly in the middle. Another's request is not bound by that.
    """
    if found.prompt is None or found.re_read is None or like is None:
        return None
    if abs(found.prompt - like) <= max(_WORDS, found.re_read):
        return None
    return (
        f"the request that was written there has a prompt of {found.prompt} tokens, and this "
        f"target's question before had one of {like}: likely it is another's. Is it the log of "
        "this agent's model server? Ask when no one else does"
    )


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
