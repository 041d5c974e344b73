"""Runs the probe: one call after the other, each on its own connection, watched all the time."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ollama_warmer.errors import OllamaError, WarmerError
from ollama_warmer.lab.probe.disturbance import FEW, found_in, overflows
from ollama_warmer.lab.probe.plan import (
    ANCHOR,
    SWEEP_CALLS,
    Call,
    Kind,
    Phase,
    calls_of,
    with_needed,
)
from ollama_warmer.lab.probe.prompts import SystemSource
from ollama_warmer.lab.probe.record import NUM_PREDICT, Record, Taken, taken_from_answer
from ollama_warmer.lab.probe.watch import KEEP_ALIVE, DisturbedError, Watch, unload_quietly
from ollama_warmer.ollama.client import Ollama

Message = dict[str, str]

NUM_CTX = 8192
# Loads the model, so that no later call pays for that.
WARM_UP: tuple[Message, ...] = (
    {"role": "system", "content": "You are terse."},
    {"role": "user", "content": "Say OK."},
)
_UNLOAD_WITHIN = 5.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is sent, and at which pace.

    Attributes:
        model: The model's name.
        source: Where the system texts come from.
        num_ctx: The window in tokens.
        abandon_after: Seconds until the client gives the aborted call up.
        wait: Seconds between that and the retry.
        patience: Seconds to wait until other models are unloaded.
    """

    model: str
    source: SystemSource
    num_ctx: int = NUM_CTX
    abandon_after: float = 0.4
    wait: float = 5.0
    patience: float = 60.0

    def body(self, messages: Sequence[Message]) -> dict[str, Any]:
        """Return the body of a call; thinking would use up the answer's 60 tokens."""
        return {
            "model": self.model,
            "think": False,
            "keep_alive": KEEP_ALIVE,
            "options": {"temperature": 0, "num_ctx": self.num_ctx, "num_predict": NUM_PREDICT},
            "messages": list(messages),
        }


class Observer(Protocol):
    """Hears how a run goes on."""

    def starting(self, calls: Sequence[Call]) -> None:
        """Take all calls that are still to come, because the plan was made or changed."""

    def asking(self, call: Call) -> None:
        """Take it that a call is about to be sent."""

    def answered(self, taken: Taken, seconds: float) -> None:
        """Take a call's outcome, and how long it took with its wait."""

    def note(self, words: str) -> None:
        """Take a sentence for the person who waits."""


class Probe:
    """One run."""

    def __init__(
        self,
        ollama: Ollama,
        settings: Settings,
        record: Record,
        *,
        save: Callable[[], None],
        observer: Observer,
    ) -> None:
        """Send nothing yet.

        Args:
            ollama: The server; every call has to have a connection of its own.
            settings: What is sent.
            record: Takes what the calls bring; phases that are whole in it are not run again,
                except where others need them.
            save: Called after every call.
            observer: Hears how it goes on.
        """
        self._ollama = ollama
        self._settings = settings
        self._record = record
        self._save = save
        self._observer = observer
        self._watch = Watch(ollama, settings.model, patience=settings.patience)
        self._announced = False
        self._ours = False

    async def run(self) -> None:
        """Run what the record lacks, and unload the model at the end, however that comes.

        Raises:
            OllamaError: A call failed; what came before it is in the record.
            WarmerError: Another model stays in memory, the model has a smaller window, or the
                record cannot be saved.
        """
        self._record.keep_whole_phases()
        try:
            await self._run_phases()
            if not self._announced:
                self._announce(())
            for length in self._record.missing_lengths:
                await self._run_length(length)
        except DisturbedError as why:
            self._record.disturbed.append(str(why))
            self._ours &= not why.in_use
        finally:
            try:
                self._save()
            finally:
                if self._ours:
                    await unload_quietly(self._watch, within=_UNLOAD_WITHIN)

    async def _run_phases(self) -> None:
        record = self._record
        if not record.missing:
            return
        # A phase that the record has is only run again for what it leaves in the cache.
        rehearsed = tuple(phase for phase in record.wanted if phase not in record.missing)
        anchor = [phase for phase in ANCHOR if phase in rehearsed]
        phases = with_needed([*anchor, *record.missing])
        self._announce(phases)
        await self._load_anew()
        for phase in phases:
            if phase not in rehearsed:
                await self._take(calls_of(phase), record.phases.setdefault(phase, []))
                continue
            again: list[Taken] = []
            await self._take(calls_of(phase), again, keep=False)
            if not agree(record.phases[phase], again):
                self._observer.note(
                    f"The server counts {phase} differently from the file (its batch is chosen "
                    "again at each load), so nothing of the file is kept: the run begins again."
                )
                record.forget()
                await self._run_phases()
                return
        await self._watch.look()

    async def _run_length(self, length: int) -> None:
        """Run one length of the sweep, on a model that has read nothing yet."""
        await self._load_anew()
        settings = replace(self._settings, source=SystemSource(entries=length))
        await self._take(SWEEP_CALLS, self._record.sweep.setdefault(length, []), settings=settings)
        await self._watch.look()

    def _announce(self, phases: Sequence[Phase]) -> None:
        self._announced = True
        calls = [call for phase in phases for call in calls_of(phase)]
        self._observer.starting([*calls, *(SWEEP_CALLS * len(self._record.missing_lengths))])

    async def _load_anew(self) -> None:
        await self._watch.settle()
        self._ours = True
        await self._ollama.chat(self._settings.body(WARM_UP))
        await self._watch.ready()
        asked, context = self._settings.num_ctx, self._watch.context
        # A larger one is what a runner gives that takes no notice of the option, as MLX's does.
        if context is not None and context < asked:
            raise WarmerError(
                f"{self._settings.model} was loaded with a window of {context} tokens where "
                f"{asked} were asked for: it has no more. Name {context} with --num-ctx"
            )

    async def _take(
        self,
        calls: Sequence[Call],
        into: list[Taken],
        *,
        settings: Settings | None = None,
        keep: bool = True,
    ) -> None:
        """Make calls that belong together, and keep what each brings."""
        settings = settings or self._settings
        replies: dict[str, str] = {}
        by_role = {call.role: call for call in calls}
        for call in calls:
            await self._watch.look()
            messages = conversation(call, by_role, replies, settings.source)
            self._observer.asking(call)
            since = asyncio.get_running_loop().time()
            taken = await self._ask(call, settings.body(messages), replies, into)
            if keep:
                self._save()
            self._observer.answered(taken, asyncio.get_running_loop().time() - since)
            if keep and calls is not SWEEP_CALLS:
                self._check_counts()
            if overflows(taken.prompt, settings.num_ctx, NUM_PREDICT) and calls is SWEEP_CALLS:
                self._observer.note(f"A glossary of {settings.source.entries} does not fit.")

    async def _ask(
        self, call: Call, body: Mapping[str, Any], replies: dict[str, str], into: list[Taken]
    ) -> Taken:
        """Send one call, and return what it brought; a failure is kept and then raised."""
        since = asyncio.get_running_loop().time()
        abandoned = call.kind is Kind.ABANDONED
        try:
            async with asyncio.timeout(self._settings.abandon_after if abandoned else None):
                answer = await self._ollama.chat(body)
        except TimeoutError as err:
            taken = Taken(call=call, trouble=type(err).__name__)
            self._watch.abandoned(since)
        except OllamaError as err:
            into.append(Taken(call=call, trouble=type(err).__name__))
            raise
        else:
            taken = taken_from_answer(call, answer)
            replies[call.role] = answer.text
            self._watch.answered(call, answer, since)
        into.append(taken)
        if abandoned:
            await asyncio.sleep(self._settings.wait)
        return taken

    def _check_counts(self) -> None:
        if found := found_in(self._record.summary()):
            raise DisturbedError(found[0], in_use=False)


def conversation(
    call: Call, by_role: Mapping[str, Call], replies: Mapping[str, str], source: SystemSource
) -> list[Message]:
    """Return the messages of a call; a reply that is missing is replayed as an empty one.

    Args:
        call: The call.
        by_role: The calls of its phase by their roles.
        replies: The answers to them so far, by role.
        source: Where the system texts come from.
    """
    if call.follows is None:
        before: list[Message] = [{"role": "system", "content": source.prompt(call.tag)}]
    else:
        before = [
            *conversation(by_role[call.follows], by_role, replies, source),
            {"role": "assistant", "content": replies.get(call.follows, "")},
        ]
    return [*before, {"role": "user", "content": call.question}]


def agree(old: Sequence[Taken], new: Sequence[Taken]) -> bool:
    """Return whether two runs of a phase cost the same, but for a few tokens.

    What a retry finds depends on when the client gave the call before it up.
    """
    for before, after in zip(old, new, strict=True):
        if before.call.kind in {Kind.ABANDONED, Kind.RETRY}:
            continue
        costs = before.re_read, after.re_read
        if None in costs:
            if costs[0] is not costs[1]:
                return False
        elif abs((costs[0] or 0) - (costs[1] or 0)) > FEW:
            return False
    return True
