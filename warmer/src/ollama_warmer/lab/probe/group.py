"""Decides by counts alone how a model build comes back to a prompt that it has read before.

Nothing but the counts is asked: two builds of the same weights can differ, and what a name or an
architecture says of a model is not what its runner does with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import Any

from ollama_warmer.lab.probe.disturbance import FEW, re_read, row_of
from ollama_warmer.lab.probe.plan import PLAN, Kind
from ollama_warmer.lab.probe.words import span

_NEARLY_ALL = 0.75
# With less than this a prompt's own marks and words are too large a share of it.
_SHORTEST = 4 * FEW
_BATCHES = tuple(2**power for power in range(7, 14))
_AROUND = 32


class Group(StrEnum):
    """How a build comes back."""

    TRUNCATES = "truncates anywhere"
    """Or keeps a state so close to the question that it looks the same."""
    ONE_BATCH_BACK = "one batch back"
    """Goes on from a checkpoint a batch before the question."""
    ONCE = "once per system prompt"
    """Keeps a snapshot where prompts branch: the first branch on a text reads it all again."""
    NO_REUSE = "no reuse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Tokens that were read again, of the calls whose counts are known.

    Attributes:
        cold: The first request on each system text.
        first: The first new conversation on each.
        later: The later ones.
        repeats: Exact repeats.
        turns: Turns that go on with a conversation.
        uncounted: How many of all these calls were answered without counts.
    """

    cold: Sequence[int] = ()
    first: Sequence[int] = ()
    later: Sequence[int] = ()
    repeats: Sequence[int] = ()
    turns: Sequence[int] = ()
    uncounted: int = 0

    @property
    def new(self) -> list[int]:
        """All new conversations."""
        return [*self.first, *self.later]


@dataclass(frozen=True, kw_only=True)
class GroupFinding:
    """A group, and what it was decided by.

    Attributes:
        group: The group.
        batch: Tokens that a new conversation goes back; None outside ONE_BATCH_BACK.
        reason: Why, with the counts; a sentence without its full stop.
    """

    group: Group
    batch: int | None = None
    reason: str


def costs_of(summary: Mapping[str, Any]) -> Costs:
    """Return the costs in the `summary` of a run, which may lack phases and calls."""
    lists = {
        Kind.COLD: "cold",
        Kind.FIRST_NEW: "first",
        Kind.LATER_NEW: "later",
        Kind.REPEAT: "repeats",
        Kind.TURN: "turns",
    }
    found: dict[str, list[int]] = {name: [] for name in lists.values()}
    uncounted = 0
    for call in PLAN:
        row = row_of(summary, call.phase, call.role)
        if row is None or call.kind not in lists:
            continue
        if (cost := re_read(row)) is None:
            uncounted += 1
        else:
            found[lists[call.kind]].append(cost)
    return Costs(**found, uncounted=uncounted)


def group_of(costs: Costs) -> GroupFinding:
    """Return the group that the costs of a build show."""
    if trouble := _cannot_tell(costs):
        return GroupFinding(group=Group.UNKNOWN, reason=trouble)
    whole = min(costs.cold)
    seen = _Shares(whole - FEW, costs)
    if seen.first_whole == 1 and seen.later_warm >= _NEARLY_ALL:
        return GroupFinding(
            group=Group.ONCE,
            reason=f"the first new conversation on a system text re-read {span(costs.first)} "
            f"tokens, as many as a cold one, and the later ones {span(costs.later)}",
        )
    if seen.warm >= _NEARLY_ALL:
        return GroupFinding(
            group=Group.TRUNCATES,
            reason=f"{seen.count_warm} of {len(costs.new)} new conversations re-read no more than "
            f"{FEW} tokens{_others(cost for cost in costs.new if cost > FEW)}",
        )
    if seen.whole >= _NEARLY_ALL:
        return GroupFinding(
            group=Group.NO_REUSE,
            reason=f"new conversations re-read {span(costs.new)} tokens, cold ones "
            f"{span(costs.cold)}",
        )
    if seen.same_step >= _NEARLY_ALL:
        return GroupFinding(
            group=Group.ONE_BATCH_BACK,
            batch=_batch(seen.step),
            reason=f"new conversations re-read {span(costs.new)} tokens each, whatever came "
            f"before, where a cold one reads {span(costs.cold)}",
        )
    return GroupFinding(
        group=Group.UNKNOWN,
        reason=f"new conversations re-read {span(costs.new)} tokens without a pattern that is "
        f"known ({seen.count_warm} of {len(costs.new)} of them at most {FEW})",
    )


class _Shares:
    """Which shares of the new conversations cost next to nothing, everything, or one step."""

    def __init__(self, whole: int, costs: Costs) -> None:
        new = costs.new
        between = [cost for cost in new if FEW < cost < whole]
        self.step = int(median(between)) if between else 0
        self.count_warm = sum(cost <= FEW for cost in new)
        self.warm = self.count_warm / len(new)
        self.whole = sum(cost >= whole for cost in new) / len(new)
        self.first_whole = sum(cost >= whole for cost in costs.first) / len(costs.first)
        self.later_warm = sum(cost <= FEW for cost in costs.later) / len(costs.later)
        self.same_step = sum(abs(cost - self.step) <= FEW for cost in between) / len(new)


def _cannot_tell(costs: Costs) -> str | None:
    """Return why no group can be found, if none can."""
    if costs.uncounted and not (costs.cold or costs.new):
        return (
            "the server does not report how many tokens were cached: Ollama does from 0.33.3 on. "
            "Update it"
        )
    if costs.uncounted:
        return f"{costs.uncounted} answers came without counts"
    missing = [
        words
        for words, found in (
            ("cold request", costs.cold),
            ("first new conversation", costs.first),
            ("later new conversation", costs.later),
        )
        if not found
    ]
    if missing:
        return f"there is no {' and no '.join(missing)} in this run: run all phases"
    if min(costs.cold) < _SHORTEST:
        return (
            f"a prompt of {min(costs.cold)} tokens is too short to distinguish its reuse from its "
            "own words: take more --entries, or a longer file"
        )
    return None


def _batch(step: int) -> int:
    """Return the batch that a step stands for: a power of two if one is near."""
    return next((batch for batch in _BATCHES if abs(batch - step) <= _AROUND), step)


def _others(costs: Iterable[int]) -> str:
    others = ", ".join(f"{cost:,}" for cost in costs)
    return f", the others {others}" if others else ""
