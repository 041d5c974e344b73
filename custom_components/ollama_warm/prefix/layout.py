"""The stable part of an agent's system text, and the tail that rides with a question.

A layout is given what Home Assistant rendered, never what moves: it keeps what all renders
have in common, and learns from each one that does not fit.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from . import segments, shapes
from .changed_line import is_device
from .memory import LineMemory, Look

_CONTEXT = "Context:"
_DEVICES = "Additional devices:"


@dataclass(frozen=True, slots=True)
class Split:
    """One render, split: `stable` and `tail` together are all of its segments."""

    stable: tuple[str, ...]
    tail: tuple[str, ...]
    lost: tuple[str, ...] = ()
    """Segments that left the stable part with this render, because they were not in it."""
    learned: tuple[str, ...] = ()
    """Those of the tail that ride there because they are known to move."""


@dataclass(slots=True)
class PrefixLayout:
    """What is known of one agent's system text. Survives restarts by `as_dict`.

    `now` is the time in seconds, of any clock that goes on over a restart.
    """

    stable: tuple[str, ...] = ()
    memory: LineMemory = field(default_factory=LineMemory)

    def split(self, render: Sequence[str], now: float = 0.0) -> Split:
        """Split a render, and learn from it where it does not hold the stable part.

        The stable part that is returned is always contained in the render, so what was
        un-exposed or deleted is gone from it at once.
        """
        lost, found = self._look(render, now)
        held = set(found)
        tail = [place for place in range(len(render)) if place not in held]
        moving = self.memory.moving(render, tail)
        self.memory.settle(render, found, found)
        self.memory.ride((render[place] for place in tail), now)
        return Split(
            self.stable,
            tuple(render[place] for place in tail),
            lost,
            tuple(render[place] for place in tail if place in moving),
        )

    def rebase(self, renders: Sequence[Sequence[str]], now: float = 0.0) -> bool:
        """Take a new stable part: what all contexts have in common and is not known to move.

        `renders` holds one list of segments for each context, at least one. Returns whether
        the stable part has changed.
        """
        before = self.stable
        first = renders[0]
        _, found = self._look(first, now)
        shared = list(first)
        for render in renders[1:]:
            shared = segments.common(shared, render)
        places = segments.places(shared, first) or []
        beside = {segment for render in renders for segment in render}.difference(shared)
        self.memory.tick(beside, first, places, now)
        moving = self.memory.moving(first, places)
        at_rest = [place for place in places if place not in moving]
        self.memory.settle(first, found, at_rest)
        self.stable = tuple(first[place] for place in at_rest)
        self.memory.ride(beside.union(first[place] for place in moving), now, again=True)
        return self.stable != before

    def _look(self, render: Sequence[str], now: float) -> tuple[tuple[str, ...], list[int]]:
        """Drop from the stable part what a render does not hold, and learn from the difference.

        Return what was dropped, and where the rest stands in the render.
        """
        stable = self.stable
        found = segments.places(stable, render)
        if found is not None:
            self.memory.look(Look(stable, render, range(len(stable)), found), now)
            return (), found
        self.stable = tuple(segments.common(stable, render))
        found = segments.places(self.stable, render) or []
        before = segments.places(self.stable, stable) or []
        self.memory.look(Look(stable, render, before, found), now)
        kept = set(before)
        return tuple(s for place, s in enumerate(stable) if place not in kept), found

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        return {"stable": list(self.stable), "memory": self.memory.as_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a layout as it was stored.

        Raises KeyError, TypeError or ValueError for whatever has not exactly its shape, such as
        the earlier one that held masked lines in clear.
        """
        stable = shapes.texts(data["stable"])
        memory = LineMemory.from_dict(shapes.mapping(data["memory"]))
        if any(line.at is not None and line.at > len(stable) for line in memory.lines):
            raise ValueError("a line stands behind the end")
        return cls(stable, memory)


def with_tail(tail: str, words: str) -> str:
    """Return a question with the text of its tail in front, as it is sent."""
    return f"{tail}\n\n{words}" if tail else words


def tail_text(tail: Iterable[str]) -> str:
    """Return a tail as a model can read it: sentences, then new devices under a heading."""
    sentences: list[str] = []
    devices: list[str] = []
    for segment in tail:
        if is_device(segment):
            devices.append(segment)
        elif segment.strip():
            sentences.append(segment)
    parts = []
    if sentences:
        parts.append("\n".join([_CONTEXT, *sentences]))
    if devices:
        parts.append("\n".join([_DEVICES, *devices]))
    return "\n".join(parts)


def tail_without(text: str, is_left_out: Callable[[str], bool]) -> str:
    """Return the text of a tail without some of its segments."""
    tail = (s for s in segments.split(text) if s not in (_CONTEXT, _DEVICES))
    return tail_text(s for s in tail if not is_left_out(s))
