"""What is said about the weather of the time that was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NoReturn

from homeassistant.core import State
from homeassistant.util import dt as dt_util

from .forecast import Entry, between, blocks
from .source import Forecasts, NoWeatherError
from .weather_lines import WeatherLines
from .when import Asked, Period, tonight
from .words import Words

_DAYS = 7
# Enough to say when it will rain, and few enough for a small model.
_BLOCKS = 8
_BLOCKS_BESIDE_DAYS = 4
_HOUR = timedelta(hours=1)
_LONGEST_NIGHT = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class WeatherAnswer:
    """A question about the weather, what there is to say, and the words for it."""

    asked: Asked
    now: datetime
    words: Words
    weather: State
    forecasts: Forecasts

    def lines(self) -> list[str]:
        """Return the lines of the answer. Raises NoWeatherError if there is nothing to say."""
        match self.asked.period:
            case Period.NOW:
                return [self._now()]
            case Period.TONIGHT:
                return self._tonight() or self._raise("no_forecast_tonight")
            case Period.DAY:
                day = self.asked.day
                return self._other_day(day) or self._raise(
                    "no_forecast", day=self.words.full_date(day)
                )
            case Period.WEEK:
                coming = self._days(0, _DAYS)
            case Period.TODAY:
                coming = self._today(_BLOCKS)
            case _:
                coming = [*self._today(_BLOCKS_BESIDE_DAYS), *self._days(1, _DAYS)]
        return [self._now(), *(coming or [self.words.error(self._why())])]

    def _now(self) -> str:
        """Return the present weather."""
        hour = between(self.forecasts.hourly, self.now, self.now + _HOUR)
        return self._write.now(self.weather, hour[0] if hour else None)

    def _today(self, at_most: int) -> list[str]:
        """Return the weather of today, and of its hours until midnight."""
        midnight = dt_util.start_of_local_day(self.now.date() + timedelta(days=1))
        hours = between(self.forecasts.hourly, self.now, midnight)
        return [*self._days(0, 1), *self._hours(hours, at_most)]

    def _tonight(self) -> list[str]:
        """Return the weather of the night: by hours, or as one, or with the day before it."""
        start, end = tonight(self.now)
        if hours := between(self.forecasts.hourly, start, end):
            return self._hours(hours, _BLOCKS)
        for part in self.forecasts.parts:
            if part.is_night and start - _LONGEST_NIGHT < part.start < end:
                return [self._write.night(part)]
        return self._days(0, 1)

    def _other_day(self, day: date) -> list[str]:
        """Return the weather of another day than today, and of its hours where they are known."""
        hours = [entry for entry in self.forecasts.hourly if entry.start.date() == day]
        return [*self._day(day), *self._hours(hours, _BLOCKS)]

    def _days(self, start: int, stop: int) -> list[str]:
        """Return the weather of some days, counted from today."""
        today = self.now.date()
        return [
            line for away in range(start, stop) for line in self._day(today + timedelta(days=away))
        ]

    def _day(self, day: date) -> list[str]:
        """Return the weather of a day, nothing if there is no forecast for it."""
        entry = self.forecasts.by_day.get(day)
        return [self._write.day(day, self.now.date(), entry)] if entry else []

    def _hours(self, hours: Sequence[Entry], at_most: int) -> list[str]:
        """Return the weather by hours, some of them together."""
        return [self._write.block(block) for block in blocks(hours, at_most)]

    def _raise(self, key: str, **values: str) -> NoReturn:
        """Say that there is no forecast for what was asked, or why there is none at all."""
        if self.forecasts.by_day or self.forecasts.hourly:
            raise NoWeatherError(key, **values)
        raise NoWeatherError(self._why())

    def _why(self) -> str:
        """Return the sentence that says why there is no forecast."""
        return "failed" if self.forecasts.failed else "no_forecasts"

    @property
    def _write(self) -> WeatherLines:
        """Return the writer of lines; they are brief where there are many."""
        brief = self.asked.period in (Period.WEEK, Period.ALL)
        return WeatherLines(self.words, self.weather.attributes, brief=brief)
