"""Reads the calls of a probe's run file: phases, roles, counts and times."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_warmer.pages import values
from ollama_warmer.pages.bars import Bar
from ollama_warmer.pages.probe_phases import PHASES, Phase

ABORTED = "aborted"
# Which calls are the first new conversation with a system prompt, and which are later ones.
COLD = (
    ("identical-repeat", "cold"),
    ("first-divergence", "delta-cold"),
    ("first-divergence", "echo-cold"),
)
FIRST = (
    ("new-question", "new-question"),
    ("first-divergence", "delta-fresh-1"),
    ("first-divergence", "echo-fresh-1"),
)
LATER = (
    ("growing-conversation", "turn-1"),
    *(
        ("ordering", role)
        for role in (
            *("seed", "after-exact", "after-question", "after-question-2"),
            *("after-exact-2", "extend-base", "after-extend"),
        )
    ),
    *(
        ("first-divergence", f"{arm}-fresh-{number}")
        for arm in ("delta", "echo")
        for number in "23"
    ),
)
TURNS = (("growing-conversation", "turn-2"), ("growing-conversation", "turn-3"))
REPEAT = (("identical-repeat", "identical"),)
OTHER_PROMPT = (("interleaved", "back-to-a"),)
RETRY = (("retry-after-abort", "retry"),)


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call.

    Attributes:
        phase: Id of its phase.
        role: What it was in the phase.
        prompt: Tokens of the prompt; none if unknown.
        cached: Those that were cached; none if unknown.
        prefill_ms: Milliseconds in which the prompt was read; none if unknown.
        total_ms: Milliseconds from the request to the end of the answer; none if unknown.
        digest: The beginning of the answer's hash.
    """

    phase: str
    role: str
    prompt: int | None
    cached: int | None
    prefill_ms: int | None
    total_ms: int | None
    digest: str

    @property
    def re_read(self) -> int | None:
        """Tokens that were read again; none if unknown."""
        return values.re_read(self.prompt, self.cached)

    @property
    def aborted(self) -> bool:
        """Whether its asker hung up, as the phase wants it."""
        return self.role == ABORTED and self.total_ms is None

    @property
    def prefill_s(self) -> float | None:
        """Seconds in which the prompt was read; none if unknown."""
        return None if self.prefill_ms is None else self.prefill_ms / 1000

    @property
    def total_s(self) -> float | None:
        """Seconds from the request to the end of the answer; none if unknown."""
        return None if self.total_ms is None else self.total_ms / 1000

    @property
    def bar(self) -> Bar:
        """The call for a figure."""
        return Bar(
            label=self.role.replace("-", " "),
            prompt=self.prompt,
            cached=self.cached,
            note="" if self.prefill_s is None else values.time(self.prefill_s),
            aborted=self.aborted,
        )


class Run:
    """The calls of a run, by phase."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        """Read a run file's object; phases without calls are left out."""
        summary = values.mapping(run.get("summary"))
        everything = ((phase, _calls(phase, summary.get(phase.id))) for phase in PHASES)
        self.phases: list[tuple[Phase, list[Call]]] = [
            (phase, calls) for phase, calls in everything if calls
        ]

    @property
    def calls(self) -> list[Call]:
        """All calls, in the order in which they were sent."""
        return [call for _, calls in self.phases for call in calls]

    @property
    def largest(self) -> int:
        """Tokens of the longest prompt."""
        return max((call.prompt or 0 for call in self.calls), default=0)

    def pick(self, which: Iterable[tuple[str, str]]) -> list[Call]:
        """Return the calls of these phases and roles that were made."""
        wanted = set(which)
        return [call for call in self.calls if (call.phase, call.role) in wanted]

    def of_phase(self, name: str) -> Sequence[Call]:
        """Return the calls of a phase."""
        return [call for call in self.calls if call.phase == name]


def _calls(phase: Phase, listed: object) -> list[Call]:
    return [
        Call(
            phase=phase.id,
            role=str(one.get("label") or "call"),
            prompt=values.count(one.get("prompt")),
            cached=values.count(one.get("cached")),
            prefill_ms=values.count(one.get("prefillMs")),
            total_ms=values.count(one.get("totalMs")),
            digest=str(one.get("replyDigest") or ""),
        )
        for one in values.objects(listed)
    ]
