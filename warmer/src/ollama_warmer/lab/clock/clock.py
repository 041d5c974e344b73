"""The clock demonstration: what a moving time costs in four places of a prompt.

It replaces what the model server keeps of the house's own prompt. So it ends with a round of the
warmer, which puts that prompt back and confirms it, whatever happened before.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ollama_warmer.config.config import Config
from ollama_warmer.errors import ExitCode, WarmerError
from ollama_warmer.house.credentials import Token
from ollama_warmer.lab.clock.options import Production
from ollama_warmer.lab.clock.patterns import Pattern, Sample, judge
from ollama_warmer.lab.clock.prompt import Placement, Prompt, moving_words, times
from ollama_warmer.ollama.client import Answer, Ollama
from ollama_warmer.round.dry_run import plan
from ollama_warmer.round.rounds import Round, TargetResult, run_round
from ollama_warmer.words import printable

SAMPLES = 3
# A token of such texts has three to five characters. Ollama cuts a prompt that is too long without
# a word, to its window or to half of it: by these two a cut one is known.
_LONGEST_TOKEN = 6
_FULL = 0.95

Watch = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Placed:
    """What the time costs in one place.

    Attributes:
        placement: The place.
        switch: The requests before the first sample; they pay the change of the prompt.
        samples: The questions that count; none if the place does not exist on this model.
        pattern: What is re-read at each question.
        words: The pattern with its figures, as a sentence.
    """

    placement: Placement
    switch: tuple[Sample, ...] = ()
    samples: tuple[Sample, ...] = ()
    pattern: Pattern
    words: str


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Asks one model, with a time that moves on from question to question.

    Attributes:
        ollama: The server.
        production: What to ask with.
        prompt: What all questions have in common.
        watch: Is given in a few words what is done now.
    """

    ollama: Ollama
    production: Production
    prompt: Prompt
    watch: Watch

    async def places(self, start: datetime) -> AsyncIterator[Placed]:
        """Yield what the time costs in each place; `start` is the first time that is shown.

        Raises:
            WarmerError: The prompt does not fit the window, or the server did not answer.
        """
        shown = times(start)
        for placement in Placement:
            yield await self._place(placement, shown)

    async def _place(self, placement: Placement, shown: Iterator[datetime]) -> Placed:
        if placement is Placement.TOOL and not self.prompt.tools:
            words = f"{printable(self.production.model)} takes no tools"
            return Placed(placement=placement, pattern=Pattern.UNKNOWN, words=words)
        switch, samples = [], []
        for number in range(placement.warm_ups):
            self.watch(f"time {placement.words}: switch {number + 1} of {placement.warm_ups}")
            switch.append(await self._ask(placement, next(shown)))
        for number in range(SAMPLES):
            self.watch(f"time {placement.words}: question {number + 1} of {SAMPLES}")
            last = next(shown)
            samples.append(await self._ask(placement, last))
        pattern, words = judge(samples, moving_words(placement, last))
        return Placed(
            placement=placement,
            switch=tuple(switch),
            samples=tuple(samples),
            pattern=pattern,
            words=words,
        )

    async def _ask(self, placement: Placement, shown: datetime) -> Sample:
        messages = self.prompt.messages(placement, shown)
        if placement is not Placement.TOOL:
            return Sample(answer=await self._chat(messages))
        # As an agent does it: the question first, then the same with the tool's answer behind it.
        asked = await self._chat(messages[:2])
        return Sample(asked=asked, answer=await self._chat(messages))

    async def _chat(self, messages: Sequence[dict[str, Any]]) -> Answer:
        answer = await self.ollama.chat(self.body(messages))
        self._check_fit(answer.prompt_tokens)
        return answer

    def body(self, messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the body of a request of /api/chat, without `stream`."""
        body: dict[str, Any] = {
            "model": self.production.model,
            "messages": list(messages),
            "think": self.production.think,
            "options": {"num_ctx": self.production.num_ctx, "num_predict": 1},
            # Newer servers then answer with an error where they would cut the prompt.
            "truncate": False,
        }
        if self.prompt.tools:
            body["tools"] = list(self.prompt.tools)
        if self.production.keep_alive is not None:
            body["keep_alive"] = self.production.keep_alive
        return body

    def _check_fit(self, tokens: int | None) -> None:
        window = self.production.num_ctx
        if tokens is None:
            return
        if tokens > window * _FULL or self.prompt.characters > tokens * _LONGEST_TOKEN:
            raise WarmerError(
                f"The prompt of {self.prompt.characters:,} characters does not fit the window of "
                f"{window:,} tokens, so nothing was counted: take a shorter text with --prompt-file"
            )


@dataclass(frozen=True, kw_only=True)
class HouseToRestore:
    """The house whose prompt is put back afterwards."""

    config: Config
    token: Token

    async def check(self) -> None:
        """Make sure that its prompt can be put back, before anything is replaced.

        Raises:
            WarmerError: Home Assistant cannot be reached, or misses an agent or a device.
        """
        for each in await plan(self.config, self.token, self.config.targets):
            if each.problem is not None:
                raise WarmerError(
                    f"The prompt of {each.target.name} could not be put back afterwards, so "
                    f"nothing was asked: {each.problem}"
                )

    async def put_back(self) -> Round:
        """Warm all targets and confirm them; raises WarmerError as `run_round` does."""
        return await run_round(self.config, self.token, self.config.targets)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a demonstration ended.

    Attributes:
        placed: The places that were measured.
        restored: The round that put the house's prompt back; none without a house.
        errors: What went wrong, in order.
        interrupted: Whether someone ended it early.
    """

    placed: tuple[Placed, ...]
    restored: Round | None
    errors: tuple[WarmerError, ...]
    interrupted: bool

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with."""
        if self.errors:
            return self.errors[-1].exit_code
        if self.interrupted or any(one.pattern is Pattern.UNKNOWN for one in self.placed):
            return ExitCode.NOT_ALL_WARM
        return ExitCode.ALL_WARM if self.restored is None else self.restored.exit_code


async def demonstrate(lab: Clock, house: HouseToRestore | None, start: datetime) -> Outcome:
    """Measure, and then put the house's prompt back, also after an error or Ctrl-C."""
    placed: list[Placed] = []
    errors: list[WarmerError] = []
    restored, interrupted = None, False
    try:
        async for one in lab.places(start):
            placed.append(one)  # noqa: PERF401 - what was measured before an error is kept
    except WarmerError as err:
        errors.append(err)
    except asyncio.CancelledError:
        # Reported to the caller, who ends; leaving now would leave the house with a cold prompt.
        interrupted = True
    if house is not None:
        lab.watch("putting the prompt of the house back")
        try:
            restored = await house.put_back()
        except WarmerError as err:
            errors.append(err)
    return Outcome(
        placed=tuple(placed), restored=restored, errors=tuple(errors), interrupted=interrupted
    )


def worst(outcome: Round) -> TargetResult:
    """Return the target that stands worst."""
    return max(outcome.results, key=lambda result: result.verdict.severity)
