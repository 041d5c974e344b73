"""Reads values out of a JSON object and words them; what is missing or odd is unknown, never 0."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
import math
from typing import Any

from ollama_warmer.pages.markup import words

UNKNOWN = "unknown"
Json = Mapping[str, Any]
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def count(value: object) -> int | None:
    """Return a count of tokens; none for anything that is not a whole number from 0 on."""
    return value if isinstance(value, int) and type(value) is int and value >= 0 else None


def seconds(value: object) -> float | None:
    """Return a time in seconds; none for anything that is not a number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def re_read(prompt: int | None, cached: int | None) -> int | None:
    """Return the tokens that were read again; none if a count is missing or both contradict."""
    if prompt is None or cached is None or cached > prompt:
        return None
    return prompt - cached


def mapping(value: object) -> Json:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def objects(value: object) -> list[Json]:
    """Return the objects in a list; none for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [one for one in value if isinstance(one, Mapping)]


def moment(value: object) -> datetime | None:
    """Return a time from ISO 8601 text; none if it is no time or has no time zone."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def when(at: datetime, now: datetime) -> str:
    """Return a moment for a person, and how long ago it was, in the zone of `now`."""
    return f"{stamp(at.astimezone(now.tzinfo))}, {age(now - at)}"


def stamp(value: object) -> str:
    """Return a moment for a person; text that is no moment with a zone is shown as it is."""
    at = value if isinstance(value, datetime) else moment(value)
    if at is None:
        return shown(value, "at an unknown time")
    return f"{at:%Y-%m-%d %H:%M} {at.tzname() or ''}".rstrip()


def shown(value: object, otherwise: str = UNKNOWN) -> str:
    """Return a value for a table: words as they are, numbers in thousands, none as `unknown`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}".removesuffix(".00") if math.isfinite(value) else otherwise
    if isinstance(value, Mapping):
        return shown([f"{words(name)}: {shown(one)}" for name, one in value.items()], otherwise)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(shown, value)) or otherwise
    return words("" if value is None else value) or otherwise


def tokens(number: int | None) -> str:
    """Return a count for a person."""
    return UNKNOWN if number is None else f"{number:,}"


def time(value: float | None) -> str:
    """Return a time for a person, with the digits that matter."""
    if value is None:
        return UNKNOWN
    if value < 1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.1f} s"  # noqa: PLR2004 - two digits


def milliseconds(value: int | None) -> str:
    """Return a time in whole milliseconds for a person."""
    return time(None if value is None else value / 1000)


def span(numbers: Iterable[int | None]) -> str:
    """Return the range of some counts; unknown ones are said, not left out."""
    everything = list(numbers)
    known = [number for number in everything if number is not None]
    if not known:
        return UNKNOWN
    low, high = min(known), max(known)
    shown = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    missing = len(everything) - len(known)
    return f"{shown} ({missing} unknown)" if missing else shown


def times(values: Iterable[float | None]) -> str:
    """Return the range of some times; unknown ones are said, not left out."""
    everything = list(values)
    known = [value for value in everything if value is not None]
    if not known:
        return UNKNOWN
    low, high = time(min(known)), time(max(known))
    missing = len(everything) - len(known)
    shown = low if low == high else f"{low} to {high}"
    return f"{shown} ({missing} unknown)" if missing else shown


def age(passed: timedelta) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    total = max(0, round(passed.total_seconds()))
    for unit, size in (("day", _DAY), ("hour", _HOUR), ("minute", _MINUTE)):
        if total >= size:
            number = total // size
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


def listed(value: object) -> list[object]:
    """Return what is in a list; nothing for anything else."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def sentences(value: object) -> list[str]:
    """Return sentences from a text with one on each line, or from a list of them."""
    if isinstance(value, str):
        return [words(line) for line in value.splitlines() if line.strip()]
    return [one for inner in listed(value) for one in sentences(inner)]
