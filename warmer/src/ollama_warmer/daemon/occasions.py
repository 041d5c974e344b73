"""Why a round is made; several reasons at once make one round."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ollama_warmer.daemon.times import USUAL, Times


class Occasion(StrEnum):
    """A reason for a round; a round that has several is counted under the one that comes first."""

    START = "start"
    CONFIGURATION = "configuration read again"
    HOME_ASSISTANT_BACK = "Home Assistant is back"
    OLLAMA_BACK = "Ollama is back"
    MODEL_GONE = "model lost"
    MODEL_RELOADED = "model reloaded"
    AGENT_CHANGED = "agent set up again"
    HOUSE_CHANGED = "house changed"
    MIDNIGHT = "midnight"
    SCHEDULE = "schedule"
    RETRY = "after a failure"


@dataclass(slots=True)
class _Pending:
    """Times are seconds on a monotonic clock."""

    first: float
    due: float


class Occasions:
    """What waits for a round. All times are seconds on one monotonic clock."""

    def __init__(self, times: Times = USUAL) -> None:
        self._times = times
        self._pending: dict[Occasion, _Pending] = {}

    def add(self, occasion: Occasion, now: float, *, wait: float = 0.0) -> None:
        """Ask for a round, some seconds from now; what waits already keeps its earlier time."""
        pending = self._pending.setdefault(occasion, _Pending(now, now + wait))
        pending.due = min(pending.due, now + wait)

    def add_settling(self, occasion: Occasion, now: float) -> None:
        """Ask for a round once this has not happened again for a while."""
        pending = self._pending.setdefault(occasion, _Pending(now, now))
        times = self._times
        pending.due = min(now + times.settle, pending.first + times.longest_settle)

    def due(self, now: float) -> bool:
        """Whether it is time for a round."""
        return any(pending.due <= now for pending in self._pending.values())

    def following(self) -> float | None:
        """Return when the next one is due; none if nothing waits."""
        return min((pending.due for pending in self._pending.values()), default=None)

    def take(self, now: float) -> tuple[Occasion, ...]:
        """Return what is due, in the order of the list above, because a round begins now.

        The round is also what a failure waited for.
        """
        due = tuple(it for it in Occasion if it in self._pending and self._is_due(it, now))
        for occasion in (*due, Occasion.RETRY):
            self._pending.pop(occasion, None)
        return due

    def _is_due(self, occasion: Occasion, now: float) -> bool:
        return self._pending[occasion].due <= now


def words(occasions: Iterable[Occasion]) -> str:
    """Return occasions as the log and the state file name them."""
    return ", ".join(occasions)
