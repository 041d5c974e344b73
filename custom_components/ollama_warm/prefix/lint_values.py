"""What is known of the value of a template expression without computing it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto

from jinja2 import nodes

from .lint_clock import ClockPart, finest


class Mover(StrEnum):
    """What makes a piece of a prompt move. The value is the key of its translation."""

    SECONDS = "seconds"
    MINUTES = "minutes"
    HOURS = "hours"
    DAY = "day"
    MONTH_OR_LONGER = "month_or_longer"
    STATE = "state"
    RANDOM = "random"
    RELATIVE_TIME = "relative_time"
    PERSON = "person"
    DEVICE = "device"
    SYNTAX = "syntax"


class Shape(Enum):
    """What sort of thing a value is, as far as it decides what can be read from it."""

    OTHER = auto()
    MOMENT = auto()
    """A date and time, or a date."""
    TIME = auto()
    DELTA = auto()
    """The difference of two moments."""
    STAMP = auto()
    """Seconds since 1970."""
    ISO = auto()
    """A moment as ISO text."""
    ROOT = auto()
    """`states` itself."""
    DOMAIN = auto()
    """`states.light`."""
    STATES = auto()
    """A list of state objects."""
    STATE = auto()
    """One state object, or its attributes."""
    CONTEXT = auto()
    """`llm_context`."""


COLLECTIONS = frozenset({Shape.ROOT, Shape.DOMAIN, Shape.STATES})
CLOCKS = frozenset({Shape.MOMENT, Shape.TIME})

type Move = tuple[Mover, nodes.Node]
type Moves = frozenset[Move]

# What printing a whole thing of this shape shows.
_PRINTED = {
    Shape.STATES: Mover.STATE,
    Shape.STATE: Mover.STATE,
    Shape.CONTEXT: Mover.DEVICE,
}
_PACE = {
    ClockPart.MICROSECOND: Mover.SECONDS,
    ClockPart.SECOND: Mover.SECONDS,
    ClockPart.MINUTE: Mover.MINUTES,
    ClockPart.HOUR: Mover.HOURS,
    ClockPart.DAY: Mover.DAY,
    ClockPart.MONTH: Mover.MONTH_OR_LONGER,
    ClockPart.YEAR: Mover.MONTH_OR_LONGER,
}


@dataclass(frozen=True, slots=True)
class Value:
    """An expression's value: its shape, the parts of a clock in it, and what else moves."""

    shape: Shape = Shape.OTHER
    clock: ClockPart = ClockPart.NONE
    movers: frozenset[Mover] = frozenset()
    """What moves because of the expression itself, until it is `anchored`."""
    moves: Moves = frozenset()
    """What moves because of something within the expression."""
    text: str | None = None
    """The text of a literal, or the id of the state or domain."""
    at: nodes.Node | None = None
    """The expression that the clock or the shape came from."""

    def anchored(self, node: nodes.Node) -> Value:
        """Return the value as that of an expression, where its own movers are at home."""
        own = frozenset((mover, node) for mover in self.movers)
        return replace(self, movers=frozenset(), moves=self.moves | own, at=self.at or node)

    def named(self, node: nodes.Node) -> Value:
        """Return the value as read from a variable: all of it moves where the name stands."""
        return replace(self, moves=frozenset((mover, node) for mover, _ in self.moves), at=node)

    def widened(self, moves: Moves) -> Value:
        """Return the value with more that moves in it."""
        return replace(self, moves=self.moves | moves) if moves else self

    @property
    def compact(self) -> Value:
        """Return the value as a variable holds it: with no more than one move by each mover."""
        return replace(self, moves=frozenset(dict(self.moves).items()))

    @property
    def settled(self) -> Moves:
        """Return all that moves when the value is printed as it is. It must be anchored."""
        found = set(self.moves)
        if self.at is not None:
            if self.clock:
                found.add((_PACE[finest(self.clock)], self.at))
            if mover := _PRINTED.get(self.shape):
                found.add((mover, self.at))
        return frozenset(found)


FIXED = Value()


def moved_by(mover: Mover) -> Value:
    """Return a value that moves because of the expression itself."""
    return Value(movers=frozenset({mover}))


def union(values: Iterable[Value]) -> Moves:
    """Return all that moves when these values are printed."""
    return frozenset().union(*(value.settled for value in values))


def join(first: Value, second: Value) -> Value:
    """Return what is known of a value that is the one or the other."""
    if first is second:
        return first
    if first.shape is second.shape is not Shape.OTHER:
        return Value(
            first.shape,
            first.clock | second.clock,
            moves=first.moves | second.moves,
            at=first.at or second.at,
        )
    return Value(moves=first.settled | second.settled)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call, the value that a filter is given first among them."""

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)

    @property
    def subject(self) -> Value:
        """Return the first argument."""
        return self.positional[0] if self.positional else FIXED

    @property
    def rest(self) -> Moves:
        """Return all that moves in the arguments behind the first."""
        return union((*self.positional[1:], *self.named.values()))

    @property
    def everything(self) -> Moves:
        """Return all that moves in the arguments."""
        return self.subject.settled | self.rest

    def find(self, index: int, name: str) -> Value | None:
        """Return an argument by its place or its name, None if it was not given."""
        if index < len(self.positional):
            return self.positional[index]
        return self.named.get(name)

    def text(self, index: int, name: str, default: str | None = None) -> str | None:
        """Return a literal argument, None if it was given and is not a literal."""
        value = self.find(index, name)
        return default if value is None else value.text
