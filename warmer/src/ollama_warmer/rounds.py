"""Warms every target once and confirms each with another question."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import secrets
from typing import Any

from ollama_warmer.config import Config, CountsSource, Target
from ollama_warmer.counts import Counts, from_reply
from ollama_warmer.credentials import Token
from ollama_warmer.errors import CannotConnect, CommandFailed, ExitCode, WarmerError
from ollama_warmer.home_assistant import HomeAssistant, Question, connect
from ollama_warmer.logs import Log, following
from ollama_warmer.questions import fill
from ollama_warmer.verdicts import Verdict, judge
from ollama_warmer.words import listing, printable

# Our own agent knows by this start that nothing of the conversation is to be done or remembered.
CONVERSATION = "ollama_warm."
WARM_UP = "warm-up"
CONFIRMATION = "confirmation"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One question that was answered.

    Attributes:
        step: `warm-up` or `confirmation`.
        counts: What the model server says about it.
        seconds: From sending the question to having the answer.
    """

    step: str
    counts: Counts
    seconds: float


class Observer:
    """Is told what a round does; a base whose methods do nothing.

    What a method raises ends the round, except that `ready` may raise a WarmerError: that fails
    the target.
    """

    async def ready(self, target: Target) -> None:
        """Return when a question may be sent, for example when nobody talks any more."""

    def asking(self, target: Target, step: str) -> None:
        """Take note that a question is being sent."""

    def answered(self, target: Target, step: Step) -> None:
        """Take note of an answer, with its counts."""


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
    one would only wait behind it. After a lost connection the next target is asked on a new one.

    Args:
        config: Where Home Assistant is and where counts come from.
        token: The access token.
        targets: What to warm, in this order.
        observer: Is told of each question, and waited for before it.

    Raises:
        CannotConnect: Home Assistant cannot be reached, before any target was asked.
        AuthenticationFailed: Home Assistant refused the token, before any target was asked.
        NotUnderstood: Home Assistant answers in an unknown shape.
    """
    async with following(config.counts) as log:
        meter = _Meter(source=config.counts.source, log=log)
        return await _run_round(config, token, targets, meter, observer or Observer())


async def _run_round(
    config: Config,
    token: Token,
    targets: Sequence[Target],
    meter: "_Meter",
    observer: Observer,
) -> Round:
    results: list[TargetResult] = []
    server = config.home_assistant
    try:
        while len(results) < len(targets):
            async with connect(server.url, token) as home:
                await home.wait_until_running(server.start_timeout)
                asker = _Asker(
                    home=home, meter=meter, within=server.answer_timeout, observer=observer
                )
                house = await _look_around(home)
                for target in targets[len(results) :]:
                    results.append(await _warm(asker, house, target))
                    if not home.connected:
                        break
    except WarmerError as err:
        if not results:
            raise
        results += [_failed(target, err) for target in targets[len(results) :]]
        return Round(results=tuple(results), stopped=err)
    last = results[-1].error
    return Round(results=tuple(results), stopped=last if isinstance(last, CannotConnect) else None)


@dataclass(frozen=True, kw_only=True)
class _Meter:
    """Finds out what a question cost."""

    source: CountsSource
    log: Log | None

    async def begin(self) -> None:
        """Get ready, because a question is about to be sent."""
        if self.log is not None:
            await self.log.begin()

    async def read(self, response: Mapping[str, Any]) -> Counts:
        """Return the counts of the question that was just answered.

        The agent's own are the best, as nobody else's question can be among them.
        """
        if self.source is CountsSource.NONE:
            return Counts(reason='the configuration says that nobody counts (source = "none")')
        counts = from_reply(response)
        if counts.re_read is not None or self.log is None:
            return counts
        logged = await self.log.counts()
        if counts.verdict in {None, Verdict.UNKNOWN} or logged.re_read is None:
            return logged
        return replace(logged, verdict=counts.verdict, reason=counts.reason)


@dataclass(frozen=True, kw_only=True)
class _Asker:
    """Asks, and has it counted."""

    home: HomeAssistant
    meter: _Meter
    within: float
    observer: Observer

    async def ask(self, target: Target, step: str, text: str) -> Step:
        """Return the step of a question that was answered; raise a WarmerError otherwise."""
        clock = asyncio.get_running_loop().time
        question = Question(
            text=text,
            agent=target.agent,
            device=target.device,
            language=target.language,
            # A conversation of its own, or the second question would replay the first.
            conversation_id=f"{CONVERSATION}{secrets.token_hex(8)}",
        )
        await self.observer.ready(target)
        await self.meter.begin()
        self.observer.asking(target, step)
        asked = clock()
        reply = await self.home.process(question, self.within)
        seconds = clock() - asked
        if reply.error_code is not None:
            # Not the words of the answer: they may quote what somebody said.
            raise WarmerError(
                f'the agent answered the {step} with the error "{reply.error_code}": look at Home '
                "Assistant's log"
            )
        done = Step(step=step, counts=await self.meter.read(reply.response), seconds=seconds)
        self.observer.answered(target, done)
        return done


@dataclass(frozen=True, kw_only=True)
class _House:
    """What Home Assistant knows; an error where it does not tell."""

    agents: frozenset[str] | CommandFailed
    devices: frozenset[str] | CommandFailed

    def check(self, target: Target) -> None:
        """Raise a WarmerError for a target that would miss.

        Home Assistant takes any device id without a word, and the warm-up would then warm the
        prompt of no device at all.
        """
        for what, wanted, known in (
            ("conversation agent", target.agent, self.agents),
            ("device", target.device, self.devices),
        ):
            if wanted is None:
                continue
            if isinstance(known, CommandFailed):
                raise WarmerError(
                    f"the {what} cannot be checked, Home Assistant does not list what it has to "
                    f"the user of this token: {known.message} ({known.code})"
                )
            if wanted not in known:
                there_are = f": it has {listing(known)}" if what != "device" else ""
                raise WarmerError(f'Home Assistant has no {what} "{printable(wanted)}"{there_are}')


async def _look_around(home: HomeAssistant) -> _House:
    agents: frozenset[str] | CommandFailed
    devices: frozenset[str] | CommandFailed
    try:
        agents = await home.agents()
    except CommandFailed as err:
        agents = err
    try:
        devices = await home.devices()
    except CommandFailed as err:
        devices = err
    return _House(agents=agents, devices=devices)


async def _warm(asker: _Asker, house: _House, target: Target) -> TargetResult:
    steps: list[Step] = []
    try:
        house.check(target)
        steps.append(await asker.ask(target, WARM_UP, fill(target.text)))
        question = fill(target.confirm_text)
        steps.append(await asker.ask(target, CONFIRMATION, question))
    except WarmerError as err:
        return _failed(target, err, steps)
    verdict, reason = judge(question, steps[-1].counts)
    return TargetResult(target=target, steps=tuple(steps), verdict=verdict, reason=reason)


def _failed(target: Target, err: WarmerError, steps: Sequence[Step] = ()) -> TargetResult:
    return TargetResult(
        target=target, steps=tuple(steps), verdict=Verdict.FAILED, reason=str(err), error=err
    )
