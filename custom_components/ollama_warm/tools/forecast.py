"""Forecasts as Home Assistant's weather entities give them, whatever their shape."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import groupby, pairwise
import math
from typing import Any, Self

from homeassistant.util import dt as dt_util

_MILDEST_TO_WORST = (
    "clear-night",
    "sunny",
    "partlycloudy",
    "cloudy",
    "windy",
    "windy-variant",
    "fog",
    "rainy",
    "snowy-rainy",
    "snowy",
    "pouring",
    "hail",
    "lightning",
    "lightning-rainy",
    "exceptional",
)
_STEPS = (1, 2, 3, 4, 6, 8, 12, 24)
_HOUR = timedelta(hours=1)
_EVENING = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The weather of a while, in the units that the weather entity shows."""

    start: datetime
    """In local time."""
    condition: str | None = None
    high: float | None = None
    low: float | None = None
    rain: float | None = None
    chance: float | None = None
    """Probability of rain in percent."""
    wind: float | None = None
    is_night: bool = False

    @classmethod
    def from_forecast(cls, data: Mapping[str, Any]) -> Self | None:
        """Read one entry of a forecast, None if it does not say when it is."""
        start = dt_util.parse_datetime(str(data.get("datetime")))
        if start is None:
            return None
        condition = data.get("condition")
        return cls(
            start=dt_util.as_local(start),
            condition=None if condition is None else str(condition),
            high=number(data.get("temperature")),
            low=number(data.get("templow")),
            rain=number(data.get("precipitation")),
            chance=number(data.get("precipitation_probability")),
            wind=number(data.get("wind_speed")),
            is_night=data.get("is_daytime") is False,
        )

    @property
    def day(self) -> date:
        """Return the day that an entry of a daily forecast is about.

        Some services mark a day by its midnight in UTC, wherever the house is.
        """
        in_utc = self.start.astimezone(UTC)
        return in_utc.date() if in_utc.time() == time() else self.start.date()


@dataclass(frozen=True, slots=True)
class Block:
    """Some hours of a day, and their weather."""

    hours: range
    entry: Entry


def entries(forecast: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Return the entries of a forecast in the order of time."""
    read = [entry for data in forecast if (entry := Entry.from_forecast(data))]
    return sorted(read, key=lambda entry: entry.start.timestamp())


def days(daily: Iterable[Entry]) -> dict[date, Entry]:
    """Return the weather by day, from a daily forecast."""
    return dict(_grouped(daily, lambda entry: entry.day))


def days_of(parts: Iterable[Entry]) -> dict[date, Entry]:
    """Return the weather by day, from a forecast of parts of days."""
    return dict(_grouped(parts, lambda entry: entry.start.date()))


def whole_days(hourly: Sequence[Entry]) -> dict[date, Entry]:
    """Return the weather by day, from an hourly forecast.

    Its last day is left out if its hours end before the evening.
    """
    found = days_of(hourly)
    if hourly and hourly[-1].start.hour < _EVENING:
        del found[hourly[-1].start.date()]
    return found


def between(hourly: Sequence[Entry], start: datetime, end: datetime) -> list[Entry]:
    """Return the entries of an hourly forecast for a while, with the one it begins in."""
    ends = [after.start.timestamp() for _, after in pairwise(hourly)]
    ends += [(hourly[-1].start + _HOUR).timestamp()] if hourly else []
    return [
        entry
        for entry, over in zip(hourly, ends, strict=True)
        if over > start.timestamp() and entry.start.timestamp() < end.timestamp()
    ]


def blocks(hourly: Sequence[Entry], at_most: int) -> list[Block]:
    """Return an hourly forecast in so few blocks that they can be read out."""
    # Hours of two days at most are two blocks at the latest.
    return next(found for step in _STEPS if len(found := _blocks_of(hourly, step)) <= at_most)


def _blocks_of(hourly: Sequence[Entry], step: int) -> list[Block]:
    """Return an hourly forecast in blocks of so many hours."""
    grouped = _grouped(hourly, partial(_step_of, step))
    return [Block(range(first, first + step), entry) for (_, first), entry in grouped]


def _step_of(step: int, entry: Entry) -> tuple[date, int]:
    """Return the day and the hour in which a step of so many hours begins."""
    return entry.start.date(), entry.start.hour // step * step


def _grouped[Key: Hashable](
    items: Iterable[Entry], key: Callable[[Entry], Key]
) -> Iterable[tuple[Key, Entry]]:
    """Yield the merged entries of each group."""
    return ((value, _merged(list(group))) for value, group in groupby(items, key))


def _merged(parts: Sequence[Entry]) -> Entry:
    """Return the weather of a longer while: the worst condition and wind, and all of its rain."""
    temperatures = _known(value for part in parts for value in (part.high, part.low))
    conditions = [part.condition for part in parts if part.condition]
    rain = _known(part.rain for part in parts)
    return Entry(
        start=parts[0].start,
        condition=max(conditions, key=_badness, default=None),
        high=max(temperatures, default=None),
        low=min(temperatures, default=None),
        rain=sum(rain) if rain else None,
        chance=max(_known(part.chance for part in parts), default=None),
        wind=max(_known(part.wind for part in parts), default=None),
    )


def _badness(condition: str) -> int:
    """Return how bad a condition is; one that no one knows is the least of our troubles."""
    return _MILDEST_TO_WORST.index(condition) if condition in _MILDEST_TO_WORST else -1


def _known(values: Iterable[float | None]) -> list[float]:
    """Return the values that are known."""
    return [value for value in values if value is not None]


def number(value: object) -> float | None:
    """Return a number, None for anything else."""
    if isinstance(value, (int, float)) and math.isfinite(value):
        return float(value)
    return None
