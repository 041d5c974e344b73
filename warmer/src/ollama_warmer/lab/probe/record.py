"""What a run of the probe has brought so far, and its JSON object in the published shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ollama_warmer.lab.probe.plan import SWEEP_CALLS, Call, Kind, Phase, calls_of
from ollama_warmer.lab.probe.prompts import digest
from ollama_warmer.ollama.client import Answer

PROBE = "prefill_cache_probe"
NUM_PREDICT = 60
_NOTES = (
    "The probe expects nothing of the cache: pass only says that a call was answered. The aborted "
    "call is given up on purpose and therefore does not pass, unless its answer came before that. "
    "A count or time of null is unknown."
)
_NANO_PER_MILLI = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What one call brought; what is not known is None.

    Attributes:
        call: The call.
        prompt: Tokens of its prompt.
        cached: Tokens of it that the server did not read again.
        prefill_ms: Milliseconds for reading the rest, cut to a whole number.
        total_ms: Milliseconds from the server having the request to its answer.
        reply_digest: Stands for the answer's text, which is written nowhere.
        reply_chars: Length of that text.
        passed: Whether it was answered.
        trouble: Kind of error, if it was not.
    """

    call: Call
    prompt: int | None = None
    cached: int | None = None
    prefill_ms: int | None = None
    total_ms: int | None = None
    reply_digest: str | None = None
    reply_chars: int | None = None
    passed: bool = False
    trouble: str | None = None

    @property
    def re_read(self) -> int | None:
        """Tokens that were read again."""
        if self.prompt is None or self.cached is None:
            return None
        return self.prompt - self.cached

    @property
    def line(self) -> str:
        """The published line about the call; `null` for what is unknown."""
        shown = ["null" if value is None else str(value) for value in self._numbers]
        return "{}: prompt={} cached={} prefill={}ms total={}ms".format(self.call.role, *shown)

    @property
    def trouble_or_line(self) -> str:
        """The line, or the kind of error that took its place."""
        return f"{self.call.role}: {self.trouble}" if self.trouble else self.line

    @property
    def _numbers(self) -> tuple[int | None, ...]:
        return self.prompt, self.cached, self.prefill_ms, self.total_ms

    def as_json(self) -> dict[str, Any]:
        """Return the object in the summary's list of the phase."""
        names = ("prompt", "cached", "prefillMs", "totalMs")
        return {
            "label": self.call.role,
            **dict(zip(names, self._numbers, strict=True)),
            "replyDigest": self.reply_digest,
            "replyChars": self.reply_chars,
        }


def taken_from_answer(call: Call, answer: Answer) -> Taken:
    """Return what an answer says of its call."""
    return Taken(
        call=call,
        prompt=answer.prompt_tokens,
        cached=answer.cached_tokens,
        prefill_ms=_milliseconds(answer.raw, "prompt_eval_duration"),
        total_ms=_milliseconds(answer.raw, "total_duration"),
        reply_digest=digest(answer.text),
        reply_chars=len(answer.text),
        passed=True,
    )


def _milliseconds(raw: Mapping[str, Any], key: str) -> int | None:
    value = raw.get(key)
    return value // _NANO_PER_MILLI if type(value) is int and value >= 0 else None


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under what a run was made: results under different ones are never put together.

    Attributes:
        model: The model's name with its tag.
        model_digest: The build, as the server names it; None if it does not.
        ollama: Ollama's version.
        variant: What the system texts are made of.
        entries: Length of the glossary; None for a file.
        system_source: `glossary`, or the file's name.
        assets: Name and digest of the file.
        num_ctx: The window that was asked for, in tokens.
    """

    model: str
    model_digest: str | None
    ollama: str
    variant: str
    entries: int | None
    system_source: str
    assets: Mapping[str, str] = field(default_factory=dict)
    num_ctx: int


@dataclass(kw_only=True)
class Record:
    """A run, complete or not.

    Attributes:
        conditions: Under what it is made.
        machine: What it is made on, for people.
        measured_at: The date.
        environment: Ollama's settings as this program's environment has them.
        memory: How the model remembers, in words; None if unknown.
        runner: What reads its prompts; None if unknown.
        wanted: The phases to be run.
        lengths: Glossary lengths of the sweep.
        phases: What was taken in each phase so far.
        sweep: The same for each length of the sweep.
        disturbed: Why nothing of this run may be counted.
    """

    conditions: Conditions
    machine: str
    measured_at: str
    environment: Mapping[str, str] = field(default_factory=dict)
    memory: str | None = None
    runner: str | None = None
    wanted: tuple[Phase, ...] = tuple(Phase)
    lengths: tuple[int, ...] = ()
    phases: dict[Phase, list[Taken]] = field(default_factory=dict)
    sweep: dict[int, list[Taken]] = field(default_factory=dict)
    disturbed: list[str] = field(default_factory=list)

    @property
    def missing(self) -> tuple[Phase, ...]:
        """The phases that are still to be run."""
        return tuple(
            phase for phase in self.wanted if not whole(self.phases.get(phase), calls_of(phase))
        )

    @property
    def missing_lengths(self) -> tuple[int, ...]:
        """The lengths of the sweep that are still to be run."""
        return tuple(
            length for length in self.lengths if not whole(self.sweep.get(length), SWEEP_CALLS)
        )

    @property
    def complete(self) -> bool:
        """Whether all of it was run."""
        return not self.missing and not self.missing_lengths

    def keep_whole_phases(self) -> None:
        """Forget what was taken in the middle of a phase: its cache is gone."""
        self.phases = {
            phase: taken for phase, taken in self.phases.items() if whole(taken, calls_of(phase))
        }
        self.sweep = {
            length: taken for length, taken in self.sweep.items() if whole(taken, SWEEP_CALLS)
        }

    def forget(self) -> None:
        """Begin from nothing."""
        self.phases, self.sweep, self.disturbed = {}, {}, []

    def summary(self) -> dict[str, Any]:
        """Return the published summary: one list for each phase that was begun."""
        conditions = self.conditions
        return {
            "glossaryEntries": conditions.entries,
            "systemSource": conditions.system_source,
            "numCtx": conditions.num_ctx,
            "numPredict": NUM_PREDICT,
            "environment": dict(self.environment),
            **{
                phase.value: [taken.as_json() for taken in self.phases[phase]]
                for phase in Phase
                if phase in self.phases
            },
        }

    def as_json(self) -> dict[str, Any]:
        """Return the published object, and beside it what is needed to go on with the run."""
        conditions = self.conditions
        return {
            "probe": PROBE,
            "model": conditions.model,
            "variant": conditions.variant,
            "measuredAt": self.measured_at,
            "machine": self.machine,
            "ollama": conditions.ollama,
            "samples": 1,
            "temperature": 0.0,
            "assets": dict(conditions.assets),
            "summary": self.summary(),
            "notes": _NOTES,
            "calls": [
                _call_as_json(taken, number)
                for phase in Phase
                for number, taken in enumerate(self.phases.get(phase, ()))
            ],
            "modelDigest": conditions.model_digest,
            "memory": self.memory,
            "runner": self.runner,
            "phases": [phase.value for phase in self.wanted],
            "lengths": list(self.lengths),
            "sweep": [
                {"glossaryEntries": length, "calls": [taken.as_json() for taken in calls]}
                for length, calls in sorted(self.sweep.items())
            ],
            "complete": self.complete,
            "disturbed": list(self.disturbed),
        }


def whole(taken: Sequence[Taken] | None, calls: Sequence[Call]) -> bool:
    """Return whether all these calls were made, and all of them answered that should be."""
    return taken is not None and [
        (one.call, one.passed or one.call.kind is Kind.ABANDONED) for one in taken
    ] == [(call, True) for call in calls]


def _call_as_json(taken: Taken, number: int) -> dict[str, Any]:
    return {
        "case": taken.call.phase.value,
        "sample": number,
        "pass": taken.passed,
        "label": taken.line,
        "condition": taken.call.role,
        "ms": taken.total_ms,
    }
