"""Warms every target once and confirms each with another question."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from ollama_warmer.config.config import Config, HomeAssistantConfig, Target
from ollama_warmer.counts.logs import following
from ollama_warmer.errors import AuthenticationFailed, CannotConnect, ExitCode, WarmerError
from ollama_warmer.house import inventory
from ollama_warmer.house.client import HomeAssistant, connect
from ollama_warmer.house.credentials import Token
from ollama_warmer.house.inventory import Inventory
from ollama_warmer.questions import fill
from ollama_warmer.round.asking import CONVERSATION, Asker, Meter, Observer, Step
from ollama_warmer.round.verdicts import (
    CONFIRMATION,
    SECOND_CONFIRMATION,
    WARM_UP,
    Verdict,
    asks_for_another,
    conclude,
)

__all__ = ["CONVERSATION", "Observer", "Round", "Step", "TargetResult", "run_round"]

# Between two attempts to reach a Home Assistant that was there a moment ago.
_PAUSE = 1.0


@dataclass(frozen=True, kw_only=True)
class TargetResult:
    """How one target stands after its round.

    Attributes:
        target: The target.
        steps: The questions that were answered, in order.
        verdict: The verdict of the confirmation, or `failed`.
        reason: One sentence that says why.
        error: What went wrong, if it failed.
    """

    target: Target
    steps: tuple[Step, ...] = ()
    verdict: Verdict
    reason: str
    error: WarmerError | None = None

    def as_object(self) -> dict[str, Any]:
        """Return it for JSON: counts in tokens, null if unknown, times in seconds, no questions."""
        return {
            "name": self.target.name,
            "agent": self.target.agent,
            "device": self.target.device,
            "steps": [
                {
                    "step": step.step,
                    **step.counts.as_object(),
                    "seconds": round(step.seconds, 3),
                }
                for step in self.steps
            ],
            "verdict": str(self.verdict),
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True)
class Round:
    """How all targets stand.

    Attributes:
        results: One for each target, in order.
        stopped: The error after which Home Assistant was not reached again.
    """

    results: tuple[TargetResult, ...]
    stopped: WarmerError | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all targets."""
        return max((result.verdict for result in self.results), key=lambda it: it.severity)

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with."""
        if self.stopped is not None:
            return self.stopped.exit_code
        return ExitCode.ALL_WARM if self.verdict is Verdict.WARM else ExitCode.NOT_ALL_WARM


async def run_round(
    config: Config, token: Token, targets: Sequence[Target], *, observer: Observer | None = None
) -> Round:
    """Warm the targets one after the other, because they share one model server.

    No question is sent twice: a server goes on with a question whose asker has left, and a second
    one would only wait behind it. After a lost connection the next target is asked on a new one,
    for which Home Assistant has as long as for a start.

    Args:
        config: Where Home Assistant is and where counts come from.
        token: The access token.
        targets: What to warm, in this order.
        observer: Hears of each question, and is waited for before it.

    Raises:
        CannotConnect: Home Assistant cannot be reached, before any target was asked.
        AuthenticationFailed: Home Assistant refused the token, before any target was asked.
        NotUnderstood: Home Assistant answers in an unknown shape.
    """
    async with following(config.counts) as log:
        meter = Meter(source=config.counts.source, log=log)
        return await _run_round(config, token, targets, meter, observer or Observer())


async def _run_round(
    config: Config,
    token: Token,
    targets: Sequence[Target],
    meter: Meter,
    observer: Observer,
) -> Round:
    results: list[TargetResult] = []
    server = config.home_assistant
    try:
        while len(results) < len(targets):
            async with AsyncExitStack() as stack:
                home, there = await _reach(stack, server, token, again=bool(results))
                asker = Asker(home, meter, observer, within=server.answer_timeout)
                stack.push_async_callback(asker.close)
                for target in targets[len(results) :]:
                    results.append(await _warm(asker, there, target))
                    if not home.connected:
                        break
    except WarmerError as err:
        if not results:
            raise
        results += [_failed(target, err) for target in targets[len(results) :]]
        return Round(results=tuple(results), stopped=err)
    if isinstance(results[-1].error, CannotConnect):
        results[-1] = await _looked_into(results[-1], server, token)
    last = results[-1].error
    is_gone = isinstance(last, (CannotConnect, AuthenticationFailed))
    return Round(results=tuple(results), stopped=last if is_gone else None)


async def _looked_into(
    result: TargetResult, server: HomeAssistantConfig, token: Token
) -> TargetResult:
    """Return the result of a target whose connection was cut, with the reason.

    Home Assistant cuts connections without a word when their token is deleted. Before any other
    target it is connected to once more, and says so then; after the last one, only here.
    """
    try:
        async with connect(server.url, token):
            return result
    except AuthenticationFailed as err:
        return replace(result, reason=str(err), error=err)
    except WarmerError:
        return result


async def _reach(
    stack: AsyncExitStack, server: HomeAssistantConfig, token: Token, *, again: bool
) -> tuple[HomeAssistant, Inventory]:
    """Connect, and see what there is.

    A Home Assistant whose connection broke has often only been restarted: it is tried again for as
    long as it may take to start.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + server.start_timeout
    while True:
        try:
            async with AsyncExitStack() as attempt:
                home = await attempt.enter_async_context(connect(server.url, token))
                await home.wait_until_running(server.start_timeout)
                there = await inventory.take(home)
                stack.push_async_exit(attempt.pop_all())
                return home, there
        except CannotConnect:
            if not again or clock() >= deadline:
                raise
        await asyncio.sleep(min(_PAUSE, max(deadline - clock(), 0)))


async def _warm(asker: Asker, there: Inventory, target: Target) -> TargetResult:
    steps: list[Step] = []
    questions: list[str] = []

    async def ask(step: str, template: str) -> None:
        questions.append(fill(template, questions))
        like = steps[-1].counts.prompt if steps else None
        steps.append(await asker.ask(target, step, questions[-1], like))

    try:
        there.check(target)
        await ask(WARM_UP, target.text)
        await ask(CONFIRMATION, target.confirm_text)
        if asks_for_another(questions, [step.counts for step in steps]):
            await ask(SECOND_CONFIRMATION, target.confirm_text)
    except WarmerError as err:
        return _failed(target, err, steps)
    verdict, reason = conclude(questions, [step.counts for step in steps])
    return TargetResult(target=target, steps=tuple(steps), verdict=verdict, reason=reason)


def _failed(target: Target, err: WarmerError, steps: Sequence[Step] = ()) -> TargetResult:
    return TargetResult(
        target=target, steps=tuple(steps), verdict=Verdict.FAILED, reason=str(err), error=err
    )
