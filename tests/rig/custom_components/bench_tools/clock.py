"""A clock that can be moved, so that midnight comes when the bench wants it.

Only Home Assistant's own two functions for the present time are replaced, and their two copies for
timers. So a template's `now()`, and every timer that is set while the clock is moved, follow it;
the event loop, certificates, tokens and log files keep the real time.
"""

from datetime import UTC, datetime, timedelta, tzinfo
import time

from homeassistant.helpers import event
from homeassistant.util import dt as dt_util

_NOW, _UTC_NOW = dt_util.now, dt_util.utcnow


def move(seconds: float) -> None:
    """Let Home Assistant believe that it is this much later than it is; 0 ends it."""
    offset = timedelta(seconds=seconds)

    def now(time_zone: tzinfo | None = None) -> datetime:
        # Not the sum of two local times: the zone may have changed its offset in between.
        return (datetime.now(UTC) + offset).astimezone(time_zone or dt_util.DEFAULT_TIME_ZONE)

    def utcnow() -> datetime:
        return datetime.now(UTC) + offset

    def timestamp() -> float:
        return time.time() + seconds

    dt_util.now = now if seconds else _NOW
    # The original is a partial, for which the type checker sees another type.
    dt_util.utcnow = utcnow if seconds else _UTC_NOW  # type: ignore[assignment]
    event.time_tracker_utcnow = dt_util.utcnow
    event.time_tracker_timestamp = timestamp if seconds else time.time
