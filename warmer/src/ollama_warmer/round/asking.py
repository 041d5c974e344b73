"""Asks a target one question at a time, and has each one counted."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
import secrets
from typing import Any

from ollama_warmer.config.config import CountsSource, Target
from ollama_warmer.counts.counts import Counts, from_reply
from ollama_warmer.counts.logs import Log
from ollama_warmer.errors import CommandFailed, NoAnswer, WarmerError
from ollama_warmer.house.client import HomeAssistant, Question, Reply
from ollama_warmer.round.verdicts import Verdict

# Our own agent knows by this start that nothing of the conversation is to be done or remembered.
CONVERSATION = "ollama_warm."
# Home Assistant's code for an error that an agent did not turn into an answer, as core's Ollama
# agent does not when its server dies in the middle of one (2026.11).
_BROKE = "unknown_error"
_LOOK = "look at the logs of Home Assistant and of the model server"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One question that was answered.

    Attributes:
        step: `warm-up`, `confirmation` or `second confirmation`.
        counts: What the model server says about it.
        seconds: From sending the question to having the answer.
    """

    step: str
    counts: Counts
    seconds: float


class Observer:
    """Hears what a round does; a base whose methods do nothing.

    What a method raises ends the round, except that `ready` may raise a WarmerError: that fails
    the target.
    """

    async def ready(self, target: Target) -> None:
        """Return when a question may be sent, for example when no one talks any more."""

    def asking(self, target: Target, step: str) -> None:
        """Take note that a question is being sent."""

    def reading(self, target: Target, share: float) -> None:
        """Take note of the share of the prompt that was read, 0 to 1, where a log says it."""

    def answered(self, target: Target, step: Step) -> None:
        """Take note of an answer, with its counts."""


@dataclass(frozen=True, kw_only=True)
class Meter:
    """Finds out what a question cost."""

    source: CountsSource
    log: Log | None

    async def begin(self, on_progress: Callable[[float], None]) -> None:
        """Get ready, because a question is about to be sent."""
        if self.log is not None:
            await self.log.begin(on_progress)

    async def read(self, response: Mapping[str, Any], like: int | None) -> Counts:
        """Return the counts of the question that was just answered.

        The agent's own are the best, as no one else's question can be among them.

        Args:
            response: Home Assistant's intent response.
            like: Tokens of the prompt of this target's question before, if they are known.
        """
        if self.source is CountsSource.NONE:
            return Counts(reason='the configuration says that no one counts (source = "none")')
        counts = from_reply(response)
        if counts.re_read is not None or self.log is None:
            return counts
        logged = await self.log.counts(like)
        if counts.verdict in {None, Verdict.UNKNOWN} or logged.re_read is None:
            return logged
        return replace(logged, verdict=counts.verdict, reason=counts.reason)

    def failure(self) -> str | None:
        """Return why the question that has just failed did, if a log shows it."""
        return self.log.failure() if self.log is not None else None


class Asker:
    """Asks over one connection, never two questions at once."""

    def __init__(
        self, home: HomeAssistant, meter: Meter, observer: Observer, *, within: float
    ) -> None:
        """Take what is needed to ask.

        Args:
            home: The connection.
            meter: Counts.
            observer: Is waited for before a question, and hears of it.
            within: Seconds to wait for an answer.
        """
        self._home = home
        self._meter = meter
        self._observer = observer
        self._within = within
        self._late: asyncio.Task[Reply] | None = None

    async def ask(self, target: Target, step: str, text: str, like: int | None = None) -> Step:
        """Return the step of a question that was answered.

        Args:
            target: Whom to ask, as which device.
            step: Which of the target's questions it is.
            text: The question.
            like: Tokens of the prompt of this target's question before, if they are known.

        Raises:
            WarmerError: There was no answer, or it is an error.
        """
        clock = asyncio.get_running_loop().time
        await self._let_the_late_one_come()
        await self._observer.ready(target)
        await self._meter.begin(lambda share: self._observer.reading(target, share))
        self._observer.asking(target, step)
        asked = clock()
        reply = await self._answer(target, step, text)
        seconds = clock() - asked
        if reply.error_code is not None:
            # Not the words of the answer: they may quote what a person said.
            raise WarmerError(
                f'the agent answered the {step} with the error "{reply.error_code}": '
                f"{self._meter.failure() or _LOOK}"
            )
        counts = await self._meter.read(reply.response, like)
        done = Step(step=step, counts=counts, seconds=seconds)
        self._observer.answered(target, done)
        return done

    async def close(self) -> None:
        """Wait for nothing any more."""
        late, self._late = self._late, None
        if late is not None:
            late.cancel()
            await asyncio.gather(late, return_exceptions=True)

    async def _answer(self, target: Target, step: str, text: str) -> Reply:
        question = Question(
            text=text,
            agent=target.agent,
            device=target.device,
            language=target.language,
            # A conversation of its own, or the second question would replay the first.
            conversation_id=f"{CONVERSATION}{secrets.token_hex(8)}",
        )
        answering = asyncio.create_task(self._home.process(question, 2 * self._within))
        try:
            await asyncio.wait({answering}, timeout=self._within)
        finally:
            if not answering.done():
                self._late = answering
        if self._late is not None:
            raise NoAnswer(
                f"Home Assistant did not answer the {step} within {self._within:g} s: the server "
                "goes on with it, raise home_assistant.answer_timeout"
            )
        try:
            return await answering
        except CommandFailed as err:
            if err.code != _BROKE:
                raise
            raise WarmerError(
                f"the agent broke down over the {step}: {self._meter.failure() or _LOOK}"
            ) from err

    async def _let_the_late_one_come(self) -> None:
        """Wait as long again for an answer that was given up.

        The server goes on with its question all the same, and whatever is sent meanwhile waits
        behind it and is given up in its turn: soon a whole house of cold prompts stands in line.
        """
        if self._late is not None:
            await asyncio.wait({self._late})
            await self.close()
