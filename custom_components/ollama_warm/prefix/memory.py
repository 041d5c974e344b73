"""Which lines of a prompt are known to move, and for how long.

One change proves nothing: a lamp is renamed once, a house is exposed once. A line moves when it was
seen to change twice at its place at different times, and rests again a week after its last change.
Each line has a history of its own, so that its look-alikes stay where they are. What is remembered
are digests, never the text of a line.
"""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from . import shapes
from .changed_line import CHANGES, ChangedLine, digest, is_device, mask_of

FORGET_AFTER_S: Final = 7 * 24 * 3600.0
"""So long after its last change, a line rests again."""
# A prompt with more moving lines than this is not one that a cache can serve.
_MOST = 200
# Lines that rode along since the stable part was last taken; more than any house has.
_MOST_RIDING = 5_000


@dataclass(frozen=True, slots=True)
class Look:
    """A render beside the stable part: `before` and `found` are where what they share stands."""

    stable: Sequence[str]
    render: Sequence[str]
    before: Sequence[int]
    found: Sequence[int]

    def gap(self, number: int) -> range:
        """Return the places of the render between two shared segments."""
        start = self.found[number - 1] + 1 if number else 0
        end = self.found[number] if number < len(self.found) else len(self.render)
        return range(start, end)


@dataclass(slots=True)
class LineMemory:
    """What is known of the lines of one agent's prompt."""

    lines: list[ChangedLine] = field(default_factory=list)
    losses: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Digest of a segment that left the stable part -> how often, and when it did last."""
    riding: set[str] = field(default_factory=set)
    """Digests of what rode beside the stable part since that was taken: none of it is new."""

    def look(self, look: Look, now: float) -> None:
        """Compare a render with what is known, place by place, and note what has changed."""
        gaps: dict[int, list[tuple[int, ChangedLine]]] = defaultdict(list)
        for line in self.lines:
            if line.at is not None:
                gaps[bisect_left(look.before, line.at)].append((2 * line.at, line))
        if len(look.before) < len(look.stable):
            for index, line in self._gone(look, now):
                gaps[bisect_left(look.before, index)].append((2 * index + 1, line))
        for number, found in gaps.items():
            found.sort(key=lambda one: one[0])
            self._compare([line for _, line in found], look.gap(number), look.render, now)
        self._forget(now)

    def _gone(self, look: Look, now: float) -> list[tuple[int, ChangedLine]]:
        """Return what has left the stable part, with its history, and count that."""
        resting = _by_text(line for line in self.lines if line.at is None)
        kept = set(look.before)
        gone: list[tuple[int, ChangedLine]] = []
        for index, segment in enumerate(look.stable):
            if index in kept or not segment.strip():
                continue
            name = digest(segment)
            if not is_device(segment):
                self.losses[name] = (min(self.losses.get(name, (0,))[0] + 1, CHANGES), now)
            known = resting[name]
            gone.append((index, known.popleft() if known else ChangedLine.of(segment, 0, now)))
        return gone

    def _compare(
        self, lines: list[ChangedLine], gap: range, render: Sequence[str], now: float
    ) -> None:
        """Find the lines of one place again, as they were or as they have become."""
        # Whoever was there before comes first, then who has been away.
        lines = sorted(lines, key=lambda line: not line.there)
        for line in lines:
            line.place, line.there = gap.start, False
        names = {place: digest(render[place]) for place in gap if render[place].strip()}
        for line, place in _paired(lines, names, lambda line: line.text):
            line.place, line.there = place, True
        masks = {place: mask_of(render[place]) for place in names}
        fresh = {place: mask for place, mask in masks.items() if names[place] not in self.riding}
        # What moves is found again also where another context has just shown it.
        for some, among in ((lines, fresh), ([line for line in lines if line.moves], masks)):
            away = [line for line in some if not line.there]
            for line, place in _paired(away, among, lambda line: line.mask):
                line.change(render[place], place, now)
                masks.pop(place, None)
        words = [line for line in lines if not line.there and not line.device]
        new = {place: names[place] for place in fresh if place in masks}
        self._replace(words, new, render, now)
        known = {id(line) for line in self.lines}
        self.lines += [line for line in lines if line.changes and id(line) not in known]

    def _replace(
        self, lines: list[ChangedLine], fresh: dict[int, str], render: Sequence[str], now: float
    ) -> None:
        """Let new words take the place of old ones.

        A device that takes another's place is a renamed or exchanged one. What has been there
        before has come back, as when the house is exposed again, unless a line of its kind is
        known to move. Where more stand now than were replaced, the prompt was edited: its new
        lines may well rest, or be what a context says of itself, so they begin without a history.
        """
        moving = any(line.moves for line in lines)
        new = [
            place
            for place, name in fresh.items()
            if not is_device(render[place]) and (moving or name not in self.losses)
        ]
        if len(new) > len(lines):
            return
        for line, place in zip(lines, new, strict=False):
            line.change(render[place], place, now)

    def tick(
        self, beside: Iterable[str], render: Sequence[str], found: Sequence[int], now: float
    ) -> None:
        """Note lines of a render that others have with other numbers.

        The renders of one rebase are taken one after the other, and a clock may tick between.
        `found` is where what all have in common stands in this one, `beside` what they have not.
        """
        masks: dict[str, set[str]] = defaultdict(set)
        for segment in beside:
            masks[mask_of(segment)].add(segment)
        known = {line.place for line in self.lines if line.there}
        for place in sorted(set(range(len(render))) - set(found) - known):
            segment = render[place]
            if segment.strip() and masks.get(mask_of(segment), set()) - {segment}:
                self.lines.append(ChangedLine.of(segment, 1, now, place))
        self._forget(now)

    def moving(self, render: Sequence[str], places: Iterable[int]) -> set[int]:
        """Return which of these places of the render that was looked at hold a moving line."""
        moving = {line.place for line in self.lines if line.there and line.moves}
        often = {name for name, (count, _) in self.losses.items() if count >= CHANGES}
        return {
            place
            for place in places
            if place in moving or (often and digest(render[place]) in often)
        }

    def settle(self, render: Sequence[str], found: Sequence[int], places: Sequence[int]) -> None:
        """Take a new stable part: of `found`, where the last one stood, `places` are left."""
        resting = _by_text(line for line in self.lines if line.place is None)
        for place in sorted(set(found) - set(places)) if resting else ():
            if known := resting[digest(render[place])]:
                known.popleft().place = place
        self.lines.sort(key=lambda line: line.place or 0)
        for line in self.lines:
            if line.place is None:
                continue
            line.at = bisect_left(places, line.place)
            if line.there and line.at < len(places) and places[line.at] == line.place:
                line.at = None
            line.place = None

    def ride(self, tail: Iterable[str], now: float, *, again: bool = False) -> None:
        """Remember what rides along, since the stable part was taken or is taken `again`."""
        # A line that is known to change is found again by its history, whatever it says.
        names = {digest(segment) for segment in tail} - {line.text for line in self.lines}
        for name in names - self.riding:
            # What keeps coming and going has come once more.
            if name in self.losses and self.losses[name][0] >= CHANGES:
                self.losses[name] = (CHANGES, now)
        again = again or len(self.riding) > _MOST_RIDING
        self.riding = names if again else self.riding | names

    def _forget(self, now: float) -> None:
        """Drop what has not changed for a week, and the oldest where there is too much."""
        for line in self.lines:
            # A clock that was put back.
            line.when = min(line.when, now)
        self.lines = [line for line in self.lines if now - line.when < FORGET_AFTER_S]
        if len(self.lines) > _MOST:
            worth = sorted(self.lines, key=lambda line: (line.moves, line.when))[-_MOST:]
            keep = {id(line) for line in worth}
            self.lines = [line for line in self.lines if id(line) in keep]
        self.losses = {
            name: (count, min(when, now))
            for name, (count, when) in self.losses.items()
            if now - when < FORGET_AFTER_S
        }
        if len(self.losses) > _MOST:
            self.losses = dict(sorted(self.losses.items(), key=lambda one: one[1])[-_MOST:])

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        return {
            "lines": [line.as_dict() for line in self.lines],
            "losses": {name: list(loss) for name, loss in self.losses.items()},
            "riding": sorted(self.riding),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a memory as it was stored.

        Raises KeyError, TypeError or ValueError for whatever has not exactly its shape.
        """
        losses = {
            name: (shapes.count(count), shapes.seconds(when))
            for name, (count, when) in shapes.mapping(data["losses"]).items()
        }
        return cls(
            lines=[
                ChangedLine.from_dict(shapes.mapping(line)) for line in shapes.items(data["lines"])
            ],
            losses=losses,
            riding=set(shapes.texts(data["riding"])),
        )


def _by_text(lines: Iterable[ChangedLine]) -> dict[str, deque[ChangedLine]]:
    """Return lines by what they say; the same may be said at several places."""
    found: dict[str, deque[ChangedLine]] = defaultdict(deque)
    for line in lines:
        found[line.text].append(line)
    return found


def _paired(
    lines: Iterable[ChangedLine], names: dict[int, str], name_of: Callable[[ChangedLine], str]
) -> list[tuple[ChangedLine, int]]:
    """Give each line the first place that has its name, and take that from the places."""
    places: dict[str, deque[int]] = defaultdict(deque)
    for place, name in names.items():
        places[name].append(place)
    pairs = [(line, found.popleft()) for line in lines if (found := places[name_of(line)])]
    for _, place in pairs:
        del names[place]
    return pairs
