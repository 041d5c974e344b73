"""Asks the agents what only an answer says: do counts arrive, and is the prompt the same again."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from ollama_warmer.config.config import Config, Target
from ollama_warmer.errors import WarmerError
from ollama_warmer.history.place import newest_of
from ollama_warmer.house.credentials import Token
from ollama_warmer.round.rounds import Observer, TargetResult, run_round
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.words import printable

# Ollama and llama.cpp keep a few tokens of the window for themselves.
_CUT = 8
# Some versions cut a prompt to about half of the window.
_HALF = (0.45, 0.55)
_MINUTE = 60.0
_CONFIRMATION = 2
# So that the next minute has begun by the clock of another machine, too.
_MARGIN = 1.5

_sleep = asyncio.sleep

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What was asked, and what came of it.

    Attributes:
        results: One for each agent that was asked.
        trouble: Why no one could be asked; none if someone was.
        paused: Seconds between a question and the one that confirms it.
    """

    results: tuple[TargetResult, ...] = ()
    trouble: str | None = None
    paused: float = 0.0

    @property
    def answered(self) -> bool:
        """Whether any agent answered."""
        return any(result.steps for result in self.results)


@dataclass(frozen=True, kw_only=True)
class Size:
    """How long an agent's prompt is.

    Attributes:
        tokens: Tokens of the longest one.
        since: When it was counted; none for a moment ago.
    """

    tokens: int
    since: datetime | None = None


class _Pause(Observer):
    """Lets time pass between a question and its confirmation, so that a clock shows."""

    def __init__(self, pause: float | None, say: Say) -> None:
        """Pause this long; none to wait for the next minute."""
        self.paused = 0.0
        self._pause = pause
        self._say = say
        self._asked: Counter[str] = Counter()

    # Python 3.11 has no @override.
    async def ready(self, target: Target) -> None:  # type: ignore[explicit-override]
        """Wait before the second question to a target, and before no other."""
        self._asked[target.name] += 1
        if self._asked[target.name] == 1:
            self._say(f"Asking {target.agent} ...")
        elif self._asked[target.name] == _CONFIRMATION:
            self.paused = await self._wait()

    async def _wait(self) -> float:
        seconds = self._pause
        if seconds is None:
            seconds = _MINUTE - datetime.now().astimezone().second + _MARGIN
            self._say(
                f"Waiting {seconds:.0f} s for the next minute, as a clock in the prompt would "
                "show then ..."
            )
        await _sleep(seconds)
        return seconds


async def measure(config: Config, token: Token, pause: float | None, say: Say) -> Measurement:
    """Return what two harmless questions to each agent of the configuration show.

    Args:
        config: Where Home Assistant is, and where counts come from.
        token: A long-lived access token.
        pause: Seconds between the two; none to wait until the next minute has begun.
        say: Hears what is going on.
    """
    one_each = {target.agent: target for target in reversed(config.targets)}
    targets = [it for it in config.targets if one_each[it.agent] is it]
    observer = _Pause(pause, say)
    try:
        outcome = await run_round(config, token, targets, observer=observer)
    except WarmerError as err:
        return Measurement(trouble=str(err))
    return Measurement(results=outcome.results, paused=observer.paused)


def measured_size(measurement: Measurement) -> Size | None:
    """Return the longest prompt that was counted; none if none was."""
    found = [
        step.counts.prompt
        for result in measurement.results
        for step in result.steps
        if step.counts.prompt is not None
    ]
    return Size(tokens=max(found)) if found else None


def remembered_size(paths: Sequence[Path]) -> Size | None:
    """Return the longest prompt of the last round that counted any; none if there is none.

    Args:
        paths: Where state files may be.

    Raises:
        StateError: A file is there and cannot be read.
    """
    for past in reversed(newest_of(paths).read()["rounds"]):
        found = [
            step["prompt"]
            for target in past["targets"]
            for step in target["steps"]
            if step["prompt"] is not None
        ]
        if found:
            return Size(tokens=max(found), since=datetime.fromisoformat(past["at"]))
    return None


def answered(measurement: Measurement) -> list[TargetResult]:
    """Return the results of the agents that answered."""
    return [it for it in measurement.results if it.steps and it.verdict is not Verdict.FAILED]


def counted(measurement: Measurement) -> list[TargetResult]:
    """Return the results of those whose answers came with counts."""
    return [it for it in answered(measurement) if it.steps[-1].counts.re_read is not None]


def agents_of(results: Sequence[TargetResult]) -> str:
    """Return the agents as sentences write them."""
    return ", ".join(printable(it.target.agent) for it in results)


def fits_window(measurement: Measurement | None, size: Size | None, window: int | None) -> bool:
    """Whether the prompt was not cut, as far as it is known.

    A prompt that is cut to a part of the window has the same length whatever is asked.
    """
    if size is None or window is None:
        return True
    asked = answered(measurement or Measurement())
    counted = [
        [step.counts.prompt for step in result.steps if step.counts.prompt is not None]
        for result in asked
        if result.verdict is not Verdict.WARM
    ]
    same = any(len(each) > 1 and all(a == b for a, b in pairwise(each)) for each in counted)
    low, high = (share * window for share in _HALF)
    cut = any(step.counts.facts.cut for result in asked for step in result.steps)
    return not cut and size.tokens < window - _CUT and not (same and low < size.tokens < high)
