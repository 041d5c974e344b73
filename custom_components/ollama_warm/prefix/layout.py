"""The stable part of an agent's system text, and the tail that rides with a question.

A layout is told what Home Assistant rendered, never what moves: it keeps what all renders
have in common, and learns from each one that does not fit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
import hashlib
import re
from typing import Any, Self

from . import segments

_NUMBER = re.compile(r"\d+")
# A prompt with more moving lines than this is not one that a cache can serve.
_MOST_MEMORIES = 200
# A segment that came and went this often rides in the tail from then on.
_MOST_LOSSES = 2


@dataclass(frozen=True, slots=True)
class Split:
    """One render, told apart: `stable` and `tail` together are all of its segments."""

    stable: tuple[str, ...]
    tail: tuple[str, ...]
    lost: tuple[str, ...] = ()
    """Segments that left the stable part with this render, because they were not in it."""


@dataclass(slots=True)
class PrefixLayout:
    """What is known of one agent's system text. Survives restarts by `as_dict`."""

    stable: tuple[str, ...] = ()
    skeletons: set[str] = field(default_factory=set)
    """Lines known to move, with their numbers masked."""
    gaps: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Where lines were once replaced: the stable segment before that place -> the one behind
    it, and how many lines stood there."""
    losses: dict[str, int] = field(default_factory=dict)
    """Digest of a segment that went without being replaced -> how often."""
    _riding: frozenset[str] = field(default=frozenset(), compare=False)
    """The tail of the last render: what is in it has not just replaced something."""

    def split(self, render: Sequence[str]) -> Split:
        """Tell a render apart, and learn from it where it does not hold the stable part.

        The stable part that is returned is always contained in the render, so what was
        un-exposed or deleted is gone from it at once.
        """
        found = segments.places(self.stable, render)
        lost: tuple[str, ...] = ()
        if found is None:
            kept = segments.common(self.stable, render)
            found = segments.places(kept, render) or []
            lost = self._learn(kept, render, found)
            self.stable = tuple(kept)
        tail = _without(render, found)
        self._riding = frozenset(tail)
        return Split(self.stable, tail, lost)

    def rebase(self, renders: Sequence[Sequence[str]]) -> bool:
        """Take a new stable part: what all contexts have in common and is not known to move.

        `renders` holds one list of segments for each context, at least one. Returns whether
        the stable part has changed.
        """
        before = self.stable
        if before:
            self.split(renders[0])
        shared = list(renders[0])
        for render in renders[1:]:
            shared = segments.common(shared, render)
        self._learn_from_differences(renders, shared)
        stable = tuple(self._resting(shared))
        changed = stable != before
        self.stable = stable
        self._riding = frozenset(segment for render in renders for segment in render) - set(stable)
        return changed

    def _learn_from_differences(
        self, renders: Sequence[Sequence[str]], shared: Sequence[str]
    ) -> None:
        """Remember lines that differ between two renders in nothing but their numbers.

        The renders of one rebase are taken one after the other, and a clock may tick between.
        """
        common, seen = set(shared), dict[str, str]()
        for segment in (s for render in renders for s in render):
            if segment in common or segments.is_item(segment):
                continue
            skeleton = _skeleton(segment)
            if (
                seen.setdefault(skeleton, segment) != segment
                and len(self.skeletons) < _MOST_MEMORIES
            ):
                self.skeletons.add(skeleton)

    def _learn(
        self, kept: Sequence[str], render: Sequence[str], found: Sequence[int]
    ) -> tuple[str, ...]:
        """Remember which segments were replaced in place, and return all that were lost."""
        before = segments.places(kept, self.stable) or []
        lost: list[str] = []
        edges = zip(
            [-1, *before],
            [*before, len(self.stable)],
            [-1, *found],
            [*found, len(render)],
            strict=True,
        )
        for old_start, old_end, new_start, new_end in edges:
            gone = self.stable[old_start + 1 : old_end]
            if not gone:
                continue
            lost += gone
            fresh = [s for s in render[new_start + 1 : new_end] if s not in self._riding]
            if fresh:
                self._remember(gone, fresh, self._edge(old_start), self._edge(old_end))
            else:
                self._count_losses(gone)
        return tuple(lost)

    def _remember(self, gone: Sequence[str], fresh: Sequence[str], before: str, after: str) -> None:
        """Remember segments that took each other's place as moving.

        A list item counts only if no more than its numbers changed: an entity that takes
        another's place is a renamed or exchanged one, and rests again.
        """
        if len(self.skeletons) >= _MOST_MEMORIES:
            return
        old, new = {_skeleton(s) for s in gone}, {_skeleton(s) for s in fresh}
        same = old & new - {""}
        lines = {s for s in old | new if not segments.is_item(s)} - {""}
        self.skeletons |= same | lines
        if lines - same:
            self.gaps[before] = (after, max(len(gone), len(fresh)))

    def _count_losses(self, gone: Iterable[str]) -> None:
        """Count segments that went, so that one that keeps coming and going is known."""
        for segment in filter(None, gone):
            if len(self.losses) < _MOST_MEMORIES:
                self.losses[_digest(segment)] = self.losses.get(_digest(segment), 0) + 1

    def _resting(self, shared: Sequence[str]) -> Iterator[str]:
        """Yield the segments that are not known to move."""
        last = ""
        moving = 0
        for index, segment in enumerate(shared):
            if last in self.gaps and not moving:
                after, size = self.gaps[last]
                moving = _distance(shared, index, after, size)
            if moving:
                moving -= 1
                if not segments.is_item(segment):
                    continue
            if self._moves(segment):
                continue
            last = segment
            yield segment

    def _moves(self, segment: str) -> bool:
        """Return whether this very segment is known to move."""
        return bool(segment) and (
            _skeleton(segment) in self.skeletons
            or self.losses.get(_digest(segment), 0) >= _MOST_LOSSES
        )

    def _edge(self, index: int) -> str:
        """Return the stable segment at a place, empty beyond either end."""
        return self.stable[index] if 0 <= index < len(self.stable) else ""

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        return {
            "stable": list(self.stable),
            "skeletons": sorted(self.skeletons),
            "gaps": {before: list(gap) for before, gap in self.gaps.items()},
            "losses": dict(self.losses),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a layout as it was stored. Raises KeyError or TypeError on another shape."""
        return cls(
            stable=tuple(data["stable"]),
            skeletons=set(data["skeletons"]),
            gaps={
                before: (str(after), int(size)) for before, (after, size) in data["gaps"].items()
            },
            losses={digest: int(count) for digest, count in data["losses"].items()},
        )


def with_tail(tail: str, words: str) -> str:
    """Return a question with the text of its tail in front, as it is sent."""
    return f"{tail}\n\n{words}" if tail else words


def tail_text(tail: Iterable[str]) -> str:
    """Return a tail as a model can read it: sentences, then new devices under a heading."""
    sentences: list[str] = []
    devices: list[str] = []
    for segment in tail:
        if segments.is_item(segment):
            devices.append(segment)
        elif segment.strip():
            sentences.append(segment)
    parts = []
    if sentences:
        parts.append("\n".join(["Context:", *sentences]))
    if devices:
        parts.append("\n".join(["Additional devices:", *devices]))
    return "\n".join(parts)


def _without(render: Sequence[str], taken: Sequence[int]) -> tuple[str, ...]:
    """Return the segments of a render that stand at none of these places."""
    skip = set(taken)
    return tuple(s for index, s in enumerate(render) if index not in skip)


def _distance(shared: Sequence[str], index: int, after: str, size: int) -> int:
    """Return how many segments stand between a place and `after`, 0 if more than `size`.

    Where more stand there now than were replaced, the prompt was edited, and its new lines
    may well rest.
    """
    for count in range(1, size + 1):
        at_end = index + count == len(shared) and not after
        if at_end or (index + count < len(shared) and shared[index + count] == after):
            return count
    return 0


def _digest(segment: str) -> str:
    """Return a short name for a segment that does not tell what it said."""
    return hashlib.sha256(segment.encode()).hexdigest()[:16]


def _skeleton(segment: str) -> str:
    """Return a segment with its numbers masked, so that a clock is the same at any time."""
    return _NUMBER.sub("#", segment)
