"""Counts and times of the probe as people read them; None is `unknown`, never 0."""

from collections.abc import Sequence

UNKNOWN = "unknown"
_SECOND = 1000


def count(number: int | None) -> str:
    """Return a count with commas."""
    return UNKNOWN if number is None else f"{number:,}"


def span(numbers: Sequence[int] | None) -> str:
    """Return the range of some counts, such as `5 to 12`; `none` if there is no number."""
    if numbers is None:
        return UNKNOWN
    if not numbers:
        return "none"
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def duration(milliseconds: int | None) -> str:
    """Return a time: whole milliseconds below one second, else seconds."""
    if milliseconds is None:
        return UNKNOWN
    if abs(milliseconds) < _SECOND:
        return f"{milliseconds} ms"
    return f"{milliseconds / _SECOND:,.2f} s"


def durations(milliseconds: Sequence[int] | None) -> str:
    """Return a range of times."""
    if not milliseconds:
        return UNKNOWN
    low, high = duration(min(milliseconds)), duration(max(milliseconds))
    return low if low == high else f"{low} to {high}"
