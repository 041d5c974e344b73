"""Values of a stored prefix, read strictly: each function raises TypeError for another shape.

A damaged file may hold any value anywhere, and what is found out later fails before a person.
"""

import math
from typing import Any


def text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a text."""
    return _checked(value, str)


def texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON value
    """Return a list of texts."""
    return tuple(text(one) for one in items(value))


def flag(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return a truth value."""
    return _checked(value, bool)


def count(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """Return a whole number that is not below zero."""
    if isinstance(value, bool) or _checked(value, int) < 0:
        raise TypeError("not a count")
    return _checked(value, int)


def seconds(value: Any) -> float:  # noqa: ANN401 - any JSON value
    """Return a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError("not a number")
    return float(value)


def items(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    """Return a list of anything."""
    return _checked(value, list)


def mapping(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return an object of anything."""
    return _checked(value, dict)


def _checked[T](value: object, kind: type[T]) -> T:
    """Return a value of a kind. The error says nothing of the value, as it may be private."""
    if not isinstance(value, kind):
        raise TypeError(f"not a {kind.__name__}")
    return value
