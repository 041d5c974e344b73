"""The words of the tools' answers, in the language of the person who asks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
import json
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.generated.languages import LANGUAGES as HOME_ASSISTANT_LANGUAGES
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import language as language_util

LANGUAGES = ("en", "fr", "de", "es", "nl")
"""The languages with words of our own; the first one serves all others."""
_FOLDER = Path(__file__).parent / "translations"
_CONDITIONS = "component.weather.entity_component._.state."


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words and patterns of one language."""

    texts: Mapping[str, str]
    errors: Mapping[str, str]
    weekdays: Sequence[str]
    months: Sequence[str]
    directions: Sequence[str]
    """Where the wind comes from: clockwise from the north, 45 degrees apart."""
    when: Mapping[str, Sequence[str]]
    """How people name a time: our name for it -> theirs."""
    conditions: Mapping[str, str]
    """Home Assistant's name of a weather condition -> how people say it."""

    def text(self, key: str, **values: object) -> str:
        """Return a text with its values filled in."""
        return self.texts[key].format(**values)

    def error(self, key: str, **values: object) -> str:
        """Return a sentence about what is wrong."""
        return self.errors[key].format(**values)

    def number(self, value: float, digits: int) -> str:
        """Return a number with at most so many digits behind its decimal mark."""
        rounded = round(value, digits)
        if rounded == int(rounded):
            return str(int(rounded))
        return str(rounded).replace(".", self.texts["decimal_mark"])

    def percent(self, value: float) -> str:
        """Return a share."""
        return self.text("percent", number=round(value))

    def weekday(self, day: date) -> str:
        """Return the name of a day of the week."""
        return self.weekdays[day.weekday()]

    def full_date(self, day: date) -> str:
        """Return a date in full."""
        month = self.months[day.month - 1]
        return self.text(
            "date", weekday=self.weekday(day), day=self._day(day), month=month, year=day.year
        )

    def clock(self, now: datetime) -> str:
        """Return a sentence that says the date and the time."""
        return self.text("clock", date=self.full_date(now), time=f"{now:%H:%M}")

    def label(self, day: date, today: date) -> str:
        """Return the name of a day as seen from today."""
        label = self.text("day", weekday=self.weekday(day), day=self._day(day))
        away = {0: "today", 1: "tomorrow"}.get((day - today).days)
        label = self.text(away, day=label) if away else label
        return label[0].upper() + label[1:]

    def _day(self, day: date) -> str:
        """Return the number of a day in its month."""
        return self.texts["first_of_month"] if day.day == 1 else str(day.day)


async def async_words(hass: HomeAssistant, language: str | None) -> Words:
    """Return the words of a language, or English ones beside Home Assistant's own in it."""
    wanted = language or hass.config.language
    # A region's own words are nowhere among ours: "fr-CA" is answered in "fr".
    own = next(iter(language_util.matches(wanted, LANGUAGES)), None)
    known = own or next(iter(language_util.matches(wanted, HOME_ASSISTANT_LANGUAGES)), LANGUAGES[0])
    data = await hass.async_add_executor_job(_read, own or LANGUAGES[0])
    states = await async_get_translations(hass, known, "entity_component", {"weather"})
    conditions = {
        key.removeprefix(_CONDITIONS): name
        for key, name in states.items()
        if key.startswith(_CONDITIONS)
    }
    return Words(**data, conditions=conditions)


async def async_names_of_times(hass: HomeAssistant) -> dict[str, str]:
    """Return what people and models call a time, in any of our languages -> our name for it."""
    return await hass.async_add_executor_job(_read_names_of_times)


@cache
def _read(language: str) -> dict[str, Any]:
    """Read the words of one of our languages."""
    data: dict[str, Any] = json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return data


@cache
def _read_names_of_times() -> dict[str, str]:
    """Read the names of times and of the days of the week in all of our languages."""
    names: dict[str, str] = {}
    english = _read(LANGUAGES[0])["weekdays"]
    for data in map(_read, LANGUAGES):
        for ours, theirs in data["when"].items():
            names |= dict.fromkeys(theirs, ours)
        names |= {
            theirs: ours.lower() for theirs, ours in zip(data["weekdays"], english, strict=True)
        }
    return names
