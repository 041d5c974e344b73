"""Which time a model asks about."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import StrEnum, auto

from homeassistant.util import dt as dt_util, slugify

EVENING = time(18)
MORNING = time(6)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ONE_DAY = timedelta(days=1)
_TYPOGRAPHIC = "\N{RIGHT SINGLE QUOTATION MARK}"


class Period(StrEnum):
    """What an answer is about. The values are what a model may ask for, but for two."""

    NOW = auto()
    TODAY = auto()
    TONIGHT = auto()
    WEEK = auto()
    DAY = auto()
    """One day that is not today."""
    ALL = auto()
    """Nothing in particular."""


OFFERED = (
    Period.NOW.value,
    Period.TODAY.value,
    Period.TONIGHT.value,
    "tomorrow",
    *WEEKDAYS,
    "week",
)
"""What a model reads that it may ask for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for."""

    period: Period
    day: date
    """The day of `Period.DAY`, else today."""


def understand(said: object, names: Mapping[str, str], now: datetime) -> Asked:
    """Return what a model asks for. What no one understands asks for everything.

    `names` are the names of times in people's languages, and ours for them.
    """
    text = str(said or "").strip()
    today = now.date()
    if day := dt_util.parse_date(text[:10]):
        return _day(day, today)
    plain = f" {_plain(text)} "
    found = [ours for theirs, ours in _by_weight(names) if f" {_plain(theirs)} " in plain]
    match next(iter(found), None):
        case "tomorrow":
            return _day(today + _ONE_DAY, today)
        case "day_after_tomorrow":
            return _day(today + 2 * _ONE_DAY, today)
        case str(name) if name in WEEKDAYS:
            away = (WEEKDAYS.index(name) - today.weekday()) % 7
            return _day(today + away * _ONE_DAY, today)
        case str(name):
            return Asked(Period(name), today)
    return Asked(Period.ALL, today)


def tonight(now: datetime) -> tuple[datetime, datetime]:
    """Return when the night that is meant begins and ends: the running one before its end."""
    if now.time() < MORNING:
        return now, _at(now, MORNING)
    return max(now, _at(now, EVENING)), _at(now + _ONE_DAY, MORNING)


def _at(day: datetime, clock: time) -> datetime:
    """Return a local time on a day."""
    return datetime.combine(day.date(), clock, tzinfo=day.tzinfo)


def _day(day: date, today: date) -> Asked:
    """Return that a day was asked for."""
    return Asked(Period.TODAY if day == today else Period.DAY, day)


def _by_weight(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return names with days of the week first, longer ones before shorter ones.

    So "Monday morning" is Monday, also where "morning" is the word for tomorrow.
    """
    return sorted(names.items(), key=lambda item: (item[1] not in WEEKDAYS, -len(item[0])))


def _plain(text: str) -> str:
    """Return a text without capitals, accents and marks."""
    return slugify(text.replace(_TYPOGRAPHIC, "'"), separator=" ")
