"""What can be wrong, and an issue that says so."""

from dataclasses import dataclass, field
from enum import StrEnum

from homeassistant.helpers.issue_registry import IssueSeverity


class Problem(StrEnum):
    """What can be wrong. The value is the first part of the id of its issues."""

    MOVING = "moving_part"
    CORE_MOVING = "core_moving_part"
    UNREADABLE = "unreadable_prompt"
    FAILING = "failing_prompt"
    REFUSED = "api_refused"
    WINDOW = "window_too_small"
    OTHER_WINDOW = "other_window"
    SEEN_WINDOW = "seen_window"
    NO_COUNTS = "no_cached_counts"
    OFFLOAD = "cpu_offload"
    COLD = "cold"
    RIDES = "rides_along"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One issue. `data` is what its fix flow needs; without it there is none."""

    key: str
    placeholders: dict[str, str]
    severity: IssueSeverity = IssueSeverity.WARNING
    data: dict[str, str | int | float | None] | None = field(default=None)


type Issues = dict[str, Issue | None]
"""Id -> issue, or None where it cannot be known whether there is one."""


def issue_id(problem: Problem, owner: str, *more: str) -> str:
    """Return the id of an issue of an entry or a subentry."""
    return ".".join((problem.value, owner, *more))
