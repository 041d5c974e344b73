"""When the next round is planned: pure logic, which is given the time.

Intervals go by a monotonic clock, and times of day by the wall clock in Home Assistant's time zone.
One occasion is a time on a day: it happens once, whether a clock change skips it, repeats it, or
someone sets the clock.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from ollama_warmer.config.run import RunConfig
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.times import USUAL, Times

MIDNIGHT = time(0, 0)

_DAY = timedelta(days=1)
_DAY_SECONDS = 86_400.0
_HOUR_SECONDS = 3_600.0

Chance = Callable[[float], float]
"""Returns a random number of seconds from zero to the given one."""


class TimesOfDay:
    """Times that come once on every day of a time zone. All moments are aware."""

    def __init__(self, times: Sequence[time], zone: tzinfo, now: datetime) -> None:
        """Begin to watch now; what has been earlier is no one's business."""
        self._times = times
        self._zone = zone
        self._seen = now
        # Enough to know every time again when the clock is set back by up to three days.
        self._done: deque[tuple[date, time]] = deque(maxlen=4 * len(times))

    def due(self, now: datetime) -> int:
        """Return how many times have come since the last call.

        If the clock was set forward by more than a day, each time counts as if it had come once.
        """
        found = 0
        after = max(min(self._seen, now), now - _DAY)
        for occasion, moment in self._around(after, now):
            if after < moment <= now and occasion not in self._done:
                self._done.append(occasion)
                found += 1
        self._seen = now
        return found

    def following(self, now: datetime) -> datetime | None:
        """Return the next moment; none if there are no times."""
        moments = (
            moment
            for occasion, moment in self._around(now, now + 2 * _DAY)
            if moment > now and occasion not in self._done
        )
        return min(moments, default=None)

    def _around(
        self, first: datetime, last: datetime
    ) -> Iterator[tuple[tuple[date, time], datetime]]:
        """Yield every time of these days and of the ones beside them, with its moment.

        A time that a clock change skips comes as long after the change as it would have been; of a
        time that is repeated the first one counts (PEP 495, fold 0).
        """
        day = first.astimezone(self._zone).date() - _DAY
        until = last.astimezone(self._zone).date() + _DAY
        while day <= until:
            for at in self._times:
                yield (day, at), datetime.combine(day, at, self._zone).astimezone(UTC)
            day += _DAY


class Schedule:
    """All planned rounds of a configuration. Monotonic times are seconds, moments are aware."""

    def __init__(
        self, config: RunConfig, *, monotonic: float, chance: Chance, times: Times = USUAL
    ) -> None:
        """Plan from now on; times of day wait until their zone is known."""
        self._config = config
        self._chance = chance
        self._after_midnight = times.after_midnight
        self._zone: tzinfo | None = None
        self._times: TimesOfDay | None = None
        self._midnight: TimesOfDay | None = None
        self._next: float | None = None
        self.round_ended(monotonic)

    def configure(self, config: RunConfig, *, monotonic: float, now: datetime) -> None:
        """Plan by another configuration from now on."""
        if config != self._config:
            self._config = config
            self._next = None
            self.round_ended(monotonic)
            self._begin_days(now)

    def set_zone(self, zone: tzinfo, now: datetime) -> None:
        """Take times of day in this zone; nothing changes if it is the same one."""
        if zone != self._zone:
            self._zone = zone
            self._begin_days(now)

    def _begin_days(self, now: datetime) -> None:
        if self._zone is not None:
            self._times = TimesOfDay(self._config.times, self._zone, now)
            self._midnight = TimesOfDay((MIDNIGHT,), self._zone, now)

    def round_begins(self) -> None:
        """Stop the interval until the round is over."""
        self._next = None

    def round_ended(self, monotonic: float) -> None:
        """Count the interval from here: the prompts have just been read, whyever it was."""
        if self._config.interval is not None:
            self._next = monotonic + self._config.interval + self._chance(self._config.jitter)

    def due(self, monotonic: float, now: datetime) -> list[tuple[Occasion, float]]:
        """Return the occasions that have come since the last call, each with seconds to wait."""
        found = []
        if self._next is not None and monotonic >= self._next:
            found.append((Occasion.SCHEDULE, 0.0))
            # The end of the round that this leads to sets the next time.
            self._next = None
        if self._times is not None and self._times.due(now):
            found.append((Occasion.SCHEDULE, self._chance(self._config.jitter)))
        if self._midnight is not None and self._midnight.due(now):
            found.append((Occasion.MIDNIGHT, self._after_midnight))
        return found

    def following(self, monotonic: float, now: datetime) -> datetime | None:
        """Return the moment of the next planned round; none if it is not known."""
        moments = [it.following(now) for it in (self._times, self._midnight) if it is not None]
        if self._next is not None:
            moments.append(now + timedelta(seconds=max(self._next - monotonic, 0)))
        return min((it for it in moments if it is not None), default=None)


def longest_gap(config: RunConfig) -> float:
    """Return the most seconds that may lie between two planned rounds, with their jitter."""
    # There is a round after every midnight, and a day may have an hour more.
    longest = _DAY_SECONDS + _HOUR_SECONDS
    if config.interval is not None:
        longest = min(longest, config.interval)
    minutes = [at.hour * 60 + at.minute for at in {*config.times, MIDNIGHT}]
    if config.times:
        starts = sorted(minutes)
        gaps = zip(starts, [*starts[1:], starts[0] + 24 * 60], strict=True)
        longest = max((later - earlier) * 60.0 for earlier, later in gaps) + _HOUR_SECONDS
    return longest + config.jitter
