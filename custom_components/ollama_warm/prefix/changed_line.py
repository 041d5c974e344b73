"""The history of one line of a prompt that was seen to change, in digests."""

from dataclasses import asdict, dataclass, field
import hashlib
import re
from typing import Any, Final, Self

from . import shapes

CHANGES: Final = 2
"""So often a line changes before it counts as one that moves."""
_NUMBER = re.compile(r"\d+")
# How Home Assistant's own list begins each device, as of 2026.10 (homeassistant/llm.py).
_DEVICE = "- names:"


@dataclass(slots=True)
class ChangedLine:
    """A line that was seen to change."""

    text: str
    """Digest of what it said when it was last seen."""
    mask: str
    """Digest of the same without its numbers, or of a device's names."""
    device: bool
    at: int | None
    """How many stable segments stand in front of it; None where it is one of them."""
    changes: int
    when: float
    """The last change, in seconds of any clock that goes on over a restart."""
    there: bool = True
    """Whether it was in the last render that was looked at."""
    place: int | None = field(default=None, compare=False)
    """Where it is, or would be, in the render that is looked at now."""

    @property
    def moves(self) -> bool:
        """Return whether this line has changed often enough."""
        return self.changes >= CHANGES

    def change(self, segment: str, place: int, now: float) -> None:
        """Note what took this line's place."""
        self.text, self.mask = digest(segment), mask_of(segment)
        self.changes = min(self.changes + 1, CHANGES)
        self.when, self.place, self.there = now, place, True

    @classmethod
    def of(cls, segment: str, changes: int, now: float, place: int | None = None) -> Self:
        """Return the history of a line that has changed so often until now."""
        text, mask, device = digest(segment), mask_of(segment), is_device(segment)
        return cls(text, mask, device, None, changes, now, place=place)

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        stored = asdict(self)
        del stored["place"]
        return stored

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Return a line as it was stored. Raises KeyError or TypeError on another shape."""
        at = stored["at"]
        return cls(
            text=shapes.text(stored["text"]),
            mask=shapes.text(stored["mask"]),
            device=shapes.flag(stored["device"]),
            at=None if at is None else shapes.count(at),
            changes=shapes.count(stored["changes"]),
            when=shapes.seconds(stored["when"]),
            there=shapes.flag(stored["there"]),
        )


def digest(segment: str) -> str:
    """Return a short name for a segment that does not reveal what it said."""
    return hashlib.sha256(segment.encode(errors="surrogatepass")).hexdigest()[:16]


def mask_of(segment: str) -> str:
    """Return a name that a segment shares with what it becomes when it only moves.

    That is its text without numbers, so that a clock is the same at any time. A device is the
    same as long as its names are, whatever else is said of it.
    """
    if is_device(segment):
        return digest(segment.partition("\n")[0])
    return digest(_NUMBER.sub("#", segment))


def is_device(segment: str) -> bool:
    """Return whether a segment is one of Home Assistant's own list.

    Only people change that list, so nothing in it moves by being renamed, hidden or shown.
    """
    return segment.startswith(_DEVICE)
