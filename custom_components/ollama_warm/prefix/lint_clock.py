"""Which parts of a date and time a piece of template lets through, down to the microsecond."""

from enum import IntFlag
import re


class ClockPart(IntFlag):
    """The parts of a moment, the fastest first."""

    NONE = 0
    MICROSECOND = 1
    SECOND = 2
    MINUTE = 4
    HOUR = 8
    DAY = 16
    MONTH = 32
    YEAR = 64


DATE = ClockPart.DAY | ClockPart.MONTH | ClockPart.YEAR
TIME = ClockPart.MICROSECOND | ClockPart.SECOND | ClockPart.MINUTE | ClockPart.HOUR
ALL = DATE | TIME
_TO_MINUTE = ClockPart.HOUR | ClockPart.MINUTE
_TO_SECOND = _TO_MINUTE | ClockPart.SECOND

# Home Assistant's "Time & Date" integration: entities that are clocks.
SENSORS = {
    "sensor.time": _TO_MINUTE,
    "sensor.time_utc": _TO_MINUTE,
    "sensor.date": DATE,
    "sensor.date_time": DATE | _TO_MINUTE,
    "sensor.date_time_utc": DATE | _TO_MINUTE,
    "sensor.date_time_iso": DATE | _TO_MINUTE,
    "sensor.time_date": DATE | _TO_MINUTE,
}

# What an attribute of a moment shows of it.
ATTRIBUTES = {
    "microsecond": ClockPart.MICROSECOND,
    "second": ClockPart.SECOND,
    "minute": ClockPart.MINUTE,
    "hour": ClockPart.HOUR,
    "day": ClockPart.DAY,
    "month": ClockPart.MONTH,
    "year": ClockPart.YEAR,
    "tzinfo": ClockPart.NONE,
    "fold": ClockPart.NONE,
}

# The order in which `replace` takes the parts.
REPLACED = ("year", "month", "day", "hour", "minute", "second", "microsecond")

_TIMESPECS = {
    "hours": DATE | ClockPart.HOUR,
    "minutes": DATE | _TO_MINUTE,
    "seconds": DATE | _TO_SECOND,
}

_DIRECTIVE = re.compile(r"%[-_^#:0-9EO]*([A-Za-z%])")
_LETTERS = {
    "f": ClockPart.MICROSECOND,
    "S": ClockPart.SECOND,
    "M": ClockPart.MINUTE,
    **dict.fromkeys("sc", DATE | _TO_SECOND),
    **dict.fromkeys("TXr", _TO_SECOND),
    "R": _TO_MINUTE,
    **dict.fromkeys("HIklpP", ClockPart.HOUR),
    **dict.fromkeys("de", ClockPart.DAY),
    **dict.fromkeys("aAuwjUWVDFx", DATE),
    **dict.fromkeys("Bbhm", ClockPart.MONTH),
    **dict.fromkeys("YyGgC", ClockPart.YEAR),
}

# Where the parts stand in 2026-01-31T23:59:59.000000+01:00.
_ISO = (
    (0, 4, ClockPart.YEAR),
    (5, 7, ClockPart.MONTH),
    (8, 10, ClockPart.DAY),
    (11, 13, ClockPart.HOUR),
    (14, 16, ClockPart.MINUTE),
    (17, 19, ClockPart.SECOND),
    (19, 26, ClockPart.MICROSECOND),
)


def of_format(text: str | None) -> ClockPart:
    """Return the parts that a strftime format prints, all if the format is not known."""
    if text is None:
        return ALL
    parts = ClockPart.NONE
    for letter in _DIRECTIVE.findall(text):
        parts |= _LETTERS.get(letter, ClockPart.NONE)
    return parts


def of_timespec(text: str | None) -> ClockPart:
    """Return the parts that `isoformat` prints with this timespec."""
    return _TIMESPECS.get(text or "", ALL)


def of_slice(start: int, stop: int) -> ClockPart:
    """Return the parts that stand between two places of an ISO text."""
    parts = ClockPart.NONE
    for first, end, part in _ISO:
        if start < end and stop > first:
            parts |= part
    return parts


def finest(parts: ClockPart) -> ClockPart:
    """Return the part that moves most often."""
    return parts & ClockPart(-int(parts) & ALL)
