"""Which parts of a date and time a piece of template lets through, down to the microsecond."""

from enum import IntFlag
import re


class Part(IntFlag):
    """The parts of a moment, the fastest first."""

    NONE = 0
    MICROSECOND = 1
    SECOND = 2
    MINUTE = 4
    HOUR = 8
    DAY = 16
    MONTH = 32
    YEAR = 64


DATE = Part.DAY | Part.MONTH | Part.YEAR
TIME = Part.MICROSECOND | Part.SECOND | Part.MINUTE | Part.HOUR
ALL = DATE | TIME
_TO_MINUTE = Part.HOUR | Part.MINUTE
_TO_SECOND = _TO_MINUTE | Part.SECOND

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

# What an attribute of a moment tells of it.
ATTRIBUTES = {
    "microsecond": Part.MICROSECOND,
    "second": Part.SECOND,
    "minute": Part.MINUTE,
    "hour": Part.HOUR,
    "day": Part.DAY,
    "month": Part.MONTH,
    "year": Part.YEAR,
    "tzinfo": Part.NONE,
    "fold": Part.NONE,
}

# The order in which `replace` takes the parts.
REPLACED = ("year", "month", "day", "hour", "minute", "second", "microsecond")

_TIMESPECS = {
    "hours": DATE | Part.HOUR,
    "minutes": DATE | _TO_MINUTE,
    "seconds": DATE | _TO_SECOND,
}

_DIRECTIVE = re.compile(r"%[-_^#:0-9EO]*([A-Za-z%])")
_LETTERS = {
    "f": Part.MICROSECOND,
    "S": Part.SECOND,
    "M": Part.MINUTE,
    **dict.fromkeys("sc", DATE | _TO_SECOND),
    **dict.fromkeys("TXr", _TO_SECOND),
    "R": _TO_MINUTE,
    **dict.fromkeys("HIklpP", Part.HOUR),
    **dict.fromkeys("de", Part.DAY),
    **dict.fromkeys("aAuwjUWVDFx", DATE),
    **dict.fromkeys("Bbhm", Part.MONTH),
    **dict.fromkeys("YyGgC", Part.YEAR),
}

# Where the parts stand in 2026-01-31T23:59:59.000000+01:00.
_ISO = (
    (0, 4, Part.YEAR),
    (5, 7, Part.MONTH),
    (8, 10, Part.DAY),
    (11, 13, Part.HOUR),
    (14, 16, Part.MINUTE),
    (17, 19, Part.SECOND),
    (19, 26, Part.MICROSECOND),
)


def of_format(text: str | None) -> Part:
    """Return the parts that a strftime format prints, all if the format is not known."""
    if text is None:
        return ALL
    parts = Part.NONE
    for letter in _DIRECTIVE.findall(text):
        parts |= _LETTERS.get(letter, Part.NONE)
    return parts


def of_timespec(text: str | None) -> Part:
    """Return the parts that `isoformat` prints with this timespec."""
    return _TIMESPECS.get(text or "", ALL)


def of_slice(start: int, stop: int) -> Part:
    """Return the parts that stand between two places of an ISO text."""
    parts = Part.NONE
    for first, end, part in _ISO:
        if start < end and stop > first:
            parts |= part
    return parts


def finest(parts: Part) -> Part:
    """Return the part that moves most often."""
    return parts & Part(-int(parts) & ALL)
