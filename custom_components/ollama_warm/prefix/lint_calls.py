"""What Home Assistant's template functions, filters, attributes and methods let through.

Each function here returns None where nothing special is known: then everything that went in
may come out.
"""

from collections.abc import Callable
from dataclasses import replace

from . import lint_clock as clock
from .lint_clock import ClockPart
from .lint_values import CLOCKS, COLLECTIONS, FIXED, Arguments, Mover, Shape, Value, moved_by

_DEFAULT_FORMAT = "%Y-%m-%d %H:%M:%S"
# Attributes of a state object, or of an entity, that rest while the entity is as it is.
_RESTING = frozenset({
    "entity_id", "domain", "object_id", "name", "friendly_name", "unit_of_measurement",
    "device_class", "state_class", "icon", "supported_features",
})  # fmt: skip
_CHANGED = frozenset({"last_changed", "last_updated", "last_reported"})
_OF_STATE = frozenset({"states", "is_state", "has_value", "state_translated"})
_OF_ATTRIBUTE = frozenset({"state_attr", "is_state_attr", "state_attr_translated"})
_RELATIVE = frozenset({"relative_time", "time_since", "time_until"})
_READ_CONTEXT = {"device_id": Mover.DEVICE, "context": Mover.PERSON}


def _moment(args: Arguments) -> Value:
    return Value(Shape.MOMENT, args.subject.clock)


def _same_stamp(args: Arguments) -> Value | None:
    return Value(Shape.STAMP, args.subject.clock) if args.subject.shape is Shape.STAMP else None


def _iso_text(args: Arguments) -> Value | None:
    return Value(Shape.ISO, args.subject.clock) if args.subject.shape is Shape.MOMENT else None


def _custom(args: Arguments) -> Value:
    text = args.text(1, "format_string", _DEFAULT_FORMAT)
    return Value(clock=args.subject.clock & clock.of_format(text))


def _state(args: Arguments) -> Value:
    if parts := clock.SENSORS.get(args.text(0, "entity_id") or ""):
        return Value(clock=parts)
    return moved_by(Mover.STATE)


def _state_attribute(args: Arguments) -> Value:
    return FIXED if args.text(1, "name") in _RESTING else moved_by(Mover.STATE)


def _shuffled(args: Arguments) -> Value:
    return FIXED if args.find(1, "seed") else moved_by(Mover.RANDOM)


_FUNCTIONS: dict[str, Callable[[Arguments], Value | None]] = {
    **dict.fromkeys(("now", "utcnow"), lambda _: Value(Shape.MOMENT, clock.ALL)),
    "today_at": lambda args: Value(Shape.MOMENT, clock.DATE | args.subject.clock),
    **dict.fromkeys(("as_datetime", "as_local", "strptime"), _moment),
    "as_timestamp": lambda args: Value(Shape.STAMP, args.subject.clock),
    **dict.fromkeys(("int", "float", "round", "abs"), _same_stamp),
    "string": _iso_text,
    "timestamp_custom": _custom,
    **dict.fromkeys(
        ("timestamp_local", "timestamp_utc"), lambda args: Value(Shape.ISO, args.subject.clock)
    ),
    **dict.fromkeys(("timedelta", "as_timedelta"), lambda _: Value(Shape.DELTA)),
    **dict.fromkeys(_RELATIVE, lambda _: moved_by(Mover.RELATIVE_TIME)),
    **dict.fromkeys(_OF_STATE, _state),
    **dict.fromkeys(_OF_ATTRIBUTE, _state_attribute),
    "expand": lambda _: Value(Shape.STATES),
    "closest": lambda _: replace(moved_by(Mover.STATE), shape=Shape.STATE),
    **dict.fromkeys(("distance", "issue", "issues"), lambda _: moved_by(Mover.STATE)),
    **dict.fromkeys(("random", "lipsum"), lambda _: moved_by(Mover.RANDOM)),
    "shuffle": _shuffled,
}


def function(name: str, args: Arguments) -> Value | None:
    """Return what a function, filter or test with this name gives for these arguments."""
    if args.subject.shape in COLLECTIONS and name in _LISTS:
        return _LISTS[name](args)
    rule = _FUNCTIONS.get(name)
    value = rule(args) if rule else _by_name(name, args)
    return value and value.widened(args.subject.moves | args.rest)


def _by_name(name: str, args: Arguments) -> Value | None:
    """Return what a filter returns that is given the name of another filter or test."""
    if name not in ("map", "select", "reject"):
        return None
    inner = args.text(1, "")
    if inner in _RELATIVE:
        return moved_by(Mover.RELATIVE_TIME)
    if inner in _OF_STATE:
        return moved_by(Mover.STATE)
    if inner in _OF_ATTRIBUTE:
        return _state_attribute(Arguments(args.positional[1:]))
    return None


def _same_list(args: Arguments) -> Value:
    """Return a list of the same states, in an order or choice that may hang on an attribute."""
    value = Value(Shape.STATES, moves=args.subject.moves | args.rest)
    by = args.text(1, "attribute")
    return value if by is None else replace(value, movers=_reads(by))


def _chosen(args: Arguments) -> Value:
    """Return a list of those states that pass a test."""
    return Value(
        Shape.STATES, movers=frozenset({Mover.STATE}), moves=args.subject.moves | args.rest
    )


def _mapped(args: Arguments) -> Value:
    """Return a list of what `map` reads from each state."""
    by = args.text(99, "attribute")
    movers = frozenset({Mover.STATE}) if by is None else _reads(by)
    return Value(movers=movers, moves=args.subject.moves | args.rest)


def _one(args: Arguments) -> Value:
    """Return one state of a list."""
    return Value(Shape.STATE, moves=args.subject.moves | args.rest)


def _reads(path: str) -> frozenset[Mover]:
    """Return what moves when this attribute of a state is read."""
    return frozenset() if path.rpartition(".")[2] in _RESTING else frozenset({Mover.STATE})


_LISTS: dict[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(("list", "sort", "reverse", "unique", "groupby"), _same_list),
    **dict.fromkeys(("selectattr", "rejectattr"), _same_list),
    **dict.fromkeys(("select", "reject"), _chosen),
    "map": _mapped,
    **dict.fromkeys(("first", "last", "min", "max"), _one),
    # How many there are rests, unless they were chosen by what they do.
    **dict.fromkeys(("count", "length"), lambda args: Value(moves=args.subject.moves)),
}


def attribute(value: Value, name: str) -> Value | None:
    """Return what an attribute of a value lets through."""
    found = _read(value, name)
    return found and found.widened(value.moves)


def _read(value: Value, name: str) -> Value | None:
    match value.shape:
        case Shape.ROOT:
            return Value(Shape.STATE if "." in name else Shape.DOMAIN, text=name)
        case Shape.DOMAIN:
            return Value(Shape.STATE, text=f"{value.text}.{name}")
        case Shape.STATE:
            return _of_state(value, name)
        case Shape.CONTEXT:
            return moved_by(_READ_CONTEXT[name]) if name in _READ_CONTEXT else FIXED
    return _of_time(value, name)


def _of_time(value: Value, name: str) -> Value | None:
    """Return what an attribute of a time or a span lets through."""
    if value.shape in CLOCKS and name in clock.ATTRIBUTES:
        return Value(clock=value.clock & clock.ATTRIBUTES[name])
    if value.shape is Shape.DELTA and name == "days":
        return Value(clock=ClockPart.DAY if value.clock else ClockPart.NONE)
    return None


def _of_state(value: Value, name: str) -> Value:
    """Return what an attribute of a state object lets through."""
    if name in _CHANGED:
        return Value(Shape.MOMENT, clock.ALL)
    if name == "attributes":
        return Value(Shape.STATE)
    if name in _RESTING:
        return FIXED
    if parts := clock.SENSORS.get(value.text or ""):
        return Value(clock=parts)
    return moved_by(Mover.STATE)


def _replaced(value: Value, args: Arguments) -> Value:
    parts = value.clock
    for index, name in enumerate(clock.REPLACED):
        if args.find(index, name):
            parts &= ~clock.ATTRIBUTES[name]
    return replace(value, clock=parts, at=None)


def _iso_format(value: Value, args: Arguments) -> Value:
    parts = value.clock & clock.of_timespec(args.text(1, "timespec", "auto"))
    return Value(Shape.ISO if value.shape is Shape.MOMENT else Shape.OTHER, parts)


_METHODS: dict[str, Callable[[Value, Arguments], Value]] = {
    "strftime": lambda value, args: Value(
        clock=value.clock & clock.of_format(args.text(0, "format"))
    ),
    "isoformat": _iso_format,
    "replace": _replaced,
    "timestamp": lambda value, _: Value(Shape.STAMP, value.clock),
    "date": lambda value, _: Value(Shape.MOMENT, value.clock & clock.DATE),
    **dict.fromkeys(
        ("time", "timetz"), lambda value, _: Value(Shape.TIME, value.clock & clock.TIME)
    ),
    "astimezone": lambda value, _: replace(value, at=None),
    "ctime": lambda value, _: Value(clock=value.clock & ~ClockPart.MICROSECOND),
    **dict.fromkeys(
        ("weekday", "isoweekday", "isocalendar", "toordinal"),
        lambda value, _: Value(clock=value.clock & clock.DATE),
    ),
    **dict.fromkeys(("utcoffset", "tzname", "dst"), lambda *_: FIXED),
}


def method(value: Value, name: str, args: Arguments) -> Value | None:
    """Return what a method of a value gives for these arguments."""
    if name == "format" and value.text is not None and ":%" in value.text:
        given = (*args.positional, *args.named.values())
        parts = ClockPart.NONE
        for one in given:
            parts |= one.clock
        moves = value.moves.union(*(one.moves for one in given))
        return Value(clock=parts & clock.of_format(value.text), moves=moves)
    if value.shape not in CLOCKS or name not in _METHODS:
        return None
    return _METHODS[name](value, args).widened(value.moves | args.everything)
