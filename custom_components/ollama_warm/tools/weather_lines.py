"""Lines about the weather, short enough for a small model and whole enough to be read out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from homeassistant.components.weather.const import (
    ATTR_WEATHER_APPARENT_TEMPERATURE,
    ATTR_WEATHER_HUMIDITY,
    ATTR_WEATHER_PRECIPITATION_UNIT,
    ATTR_WEATHER_TEMPERATURE,
    ATTR_WEATHER_TEMPERATURE_UNIT,
    ATTR_WEATHER_WIND_BEARING,
    ATTR_WEATHER_WIND_GUST_SPEED,
    ATTR_WEATHER_WIND_SPEED,
    ATTR_WEATHER_WIND_SPEED_UNIT,
)
from homeassistant.const import UnitOfPrecipitationDepth, UnitOfSpeed
from homeassistant.core import State
from homeassistant.util.unit_conversion import SpeedConverter

from .forecast import Block, Entry, number
from .words import Words

_FROZEN = ("snowy", "snowy-rainy", "hail")
# A fresh breeze, in km/h.
_STRONG = 29
_WET = ("rainy", "pouring", "lightning-rainy", *_FROZEN)


@dataclass(frozen=True, slots=True)
class WeatherLines:
    """Writes lines in one language and with a weather entity's units."""

    words: Words
    units: Mapping[str, Any]
    """The attributes of the entity."""
    brief: bool = False
    """Whether there are many lines: then gusts are left out, and only a strong wind is forecast."""

    def now(self, state: State, hour: Entry | None) -> str:
        """Return the present weather; the rain of this hour comes from the forecast."""
        find = state.attributes.get
        temperature = number(find(ATTR_WEATHER_TEMPERATURE))
        feels_like = number(find(ATTR_WEATHER_APPARENT_TEMPERATURE))
        humidity = number(find(ATTR_WEATHER_HUMIDITY))
        gusts = number(find(ATTR_WEATHER_WIND_GUST_SPEED))
        words = self.words
        parts = [
            self._condition(state.state),
            None if temperature is None else self._temperature(temperature),
            None
            if feels_like is None
            else words.text("feels_like", temperature=self._temperature(feels_like)),
            None if humidity is None else words.text("humidity", percent=words.percent(humidity)),
            self._wind(
                number(find(ATTR_WEATHER_WIND_SPEED)), number(find(ATTR_WEATHER_WIND_BEARING))
            ),
            None if gusts is None or self.brief else words.text("gusts", speed=self._speed(gusts)),
            self._rain(hour) if hour else None,
        ]
        return self._line(words.text("now"), parts)

    def day(self, day: date, today: date, entry: Entry) -> str:
        """Return the weather of a day."""
        return self._line(self.words.label(day, today), self._parts(entry))

    def night(self, entry: Entry) -> str:
        """Return the weather of the night that comes."""
        return self._line(self.words.text("tonight"), self._parts(entry))

    def block(self, block: Block) -> str:
        """Return the weather of some hours."""
        label = f"{block.hours.start:02}:00"
        if len(block.hours) > 1:
            label += f"-{block.hours.stop % 24:02}:00"
        return self._line(label, self._parts(block.entry))

    def _parts(self, entry: Entry) -> list[str | None]:
        """Return what is forecast."""
        return [
            self._condition(entry.condition),
            self._temperatures(entry.low, entry.high),
            self._rain(entry),
            None if self.brief and not self._is_strong(entry.wind) else self._wind(entry.wind),
        ]

    def _condition(self, condition: str | None) -> str | None:
        """Return how people call a condition."""
        return self.words.conditions.get(condition) if condition else None

    def _temperature(self, value: float, digits: int = 1) -> str:
        """Return a temperature with its unit."""
        return self._with_unit(value, digits, ATTR_WEATHER_TEMPERATURE_UNIT)

    def _temperatures(self, low: float | None, high: float | None) -> str | None:
        """Return the lowest and the highest temperature in whole degrees, once if they are one."""
        if high is None:
            return None
        if low is None or round(low) == round(high):
            return self._temperature(high, 0)
        return self.words.text(
            "from_to", low=self.words.number(low, 0), high=self._temperature(high, 0)
        )

    def _speed(self, value: float) -> str:
        """Return a speed with its unit."""
        return self._with_unit(value, 0, ATTR_WEATHER_WIND_SPEED_UNIT)

    def _wind(self, speed: float | None, bearing: float | None = None) -> str | None:
        """Return the wind, and where it comes from if that is known."""
        if speed is None:
            return None
        if bearing is None:
            return self.words.text("wind", speed=self._speed(speed))
        direction = self.words.directions[round(bearing / 45) % 8]
        return self.words.text("wind_from", speed=self._speed(speed), direction=direction)

    def _is_strong(self, wind: float | None) -> bool:
        """Return whether a wind is worth a word among many days."""
        unit = self.units.get(ATTR_WEATHER_WIND_SPEED_UNIT)
        if wind is None or unit not in SpeedConverter.VALID_UNITS:
            return False
        return SpeedConverter.convert(wind, unit, UnitOfSpeed.KILOMETERS_PER_HOUR) >= _STRONG

    def _rain(self, entry: Entry) -> str | None:
        """Return how much rain there will be and how likely it is, or that there is none."""
        chance = self.words.percent(entry.chance) if entry.chance else None
        amount = None if entry.rain is None else self._amount(entry.rain)
        if amount or chance:
            name = "precipitation" if entry.condition in _FROZEN else "rain"
            both = f"{amount} ({chance})" if amount and chance else amount or chance
            return self.words.text(name, amount=both)
        is_known = entry.rain is not None or entry.chance is not None
        # Some services round a drizzle down to nothing.
        return self.words.text("no_rain") if is_known and entry.condition not in _WET else None

    def _amount(self, value: float) -> str | None:
        """Return an amount of rain with its unit, None if it is next to nothing."""
        is_inches = self.units.get(ATTR_WEATHER_PRECIPITATION_UNIT) == (
            UnitOfPrecipitationDepth.INCHES
        )
        digits = 2 if is_inches else 1
        if not round(value, digits):
            return None
        return self._with_unit(value, digits, ATTR_WEATHER_PRECIPITATION_UNIT)

    def _with_unit(self, value: float, digits: int, unit: str) -> str:
        """Return a value and the unit that the entity shows it in."""
        return f"{self.words.number(value, digits)} {self.units.get(unit, '')}".rstrip()

    def _line(self, label: str, parts: list[str | None]) -> str:
        """Return a line of the parts that are known."""
        return self.words.text("line", label=label, values=", ".join(filter(None, parts)))
