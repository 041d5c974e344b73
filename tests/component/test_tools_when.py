"""Which time is meant: by models that follow the schema, and by those that do not."""

from datetime import UTC, date, datetime, timedelta

import pytest

from custom_components.ollama_warm.tools.when import Asked, Kind, tonight, understand
from custom_components.ollama_warm.tools.words import async_names_of_times
from homeassistant.core import HomeAssistant

# A Monday.
NOW = datetime(2026, 11, 30, 15, 10, tzinfo=UTC)
TODAY = NOW.date()


def day(away: int) -> Asked:
    """Return that a day was asked for, so many days from now."""
    return Asked(Kind.DAY, TODAY + timedelta(days=away))


MEANT = {
    "now": Asked(Kind.NOW, TODAY),
    "right now": Asked(Kind.NOW, TODAY),
    "today": Asked(Kind.TODAY, TODAY),
    " Today ": Asked(Kind.TODAY, TODAY),
    "this_afternoon": Asked(Kind.TODAY, TODAY),
    "TONIGHT": Asked(Kind.TONIGHT, TODAY),
    "this evening": Asked(Kind.TONIGHT, TODAY),
    "tomorrow": day(1),
    "tomorrow morning": day(1),
    "day after tomorrow": day(2),
    "the_day_after_tomorrow": day(2),
    "monday": Asked(Kind.TODAY, TODAY),
    "tuesday": day(1),
    "next Sunday": day(6),
    "Friday night": day(4),
    "week": Asked(Kind.WEEK, TODAY),
    "next week": Asked(Kind.WEEK, TODAY),
    "weekend": Asked(Kind.WEEK, TODAY),
    "2026-12-03": day(3),
    "2026-12-03T10:00:00": day(3),
    "2026-11-30": Asked(Kind.TODAY, TODAY),
    "2027-01-31": Asked(Kind.DAY, date(2027, 1, 31)),
    "": Asked(Kind.ALL, TODAY),
    "whenever": Asked(Kind.ALL, TODAY),
    "2026-13-40": Asked(Kind.ALL, TODAY),
    "maintenant": Asked(Kind.NOW, TODAY),
    "aujourd'hui": Asked(Kind.TODAY, TODAY),
    "Aujourd\N{RIGHT SINGLE QUOTATION MARK}hui": Asked(Kind.TODAY, TODAY),
    "cet après-midi": Asked(Kind.TODAY, TODAY),
    "ce soir": Asked(Kind.TONIGHT, TODAY),
    "demain": day(1),
    "après-demain": day(2),
    "mercredi": day(2),
    "la semaine": Asked(Kind.WEEK, TODAY),
    "jetzt": Asked(Kind.NOW, TODAY),
    "heute": Asked(Kind.TODAY, TODAY),
    "heute morgen": Asked(Kind.TODAY, TODAY),
    "heute Abend": Asked(Kind.TONIGHT, TODAY),
    "morgen früh": day(1),
    "übermorgen": day(2),
    "Donnerstag Morgen": day(3),
    "diese Woche": Asked(Kind.WEEK, TODAY),
    "ahora": Asked(Kind.NOW, TODAY),
    "hoy": Asked(Kind.TODAY, TODAY),
    "esta noche": Asked(Kind.TONIGHT, TODAY),
    "manana": day(1),
    "esta mañana": Asked(Kind.TODAY, TODAY),
    "pasado mañana": day(2),
    "sábado por la mañana": day(5),
    "fin de semana": Asked(Kind.WEEK, TODAY),
    "nu": Asked(Kind.NOW, TODAY),
    "vandaag": Asked(Kind.TODAY, TODAY),
    "vannacht": Asked(Kind.TONIGHT, TODAY),
    "morgen": day(1),
    "overmorgen": day(2),
    "zondag": day(6),
    "dit weekend": Asked(Kind.WEEK, TODAY),
}


@pytest.mark.parametrize("said", MEANT)
async def test_what_is_meant(hass: HomeAssistant, said: str) -> None:
    """Each of these is understood, whoever says it."""
    assert understand(said, await async_names_of_times(hass), NOW) == MEANT[said]


@pytest.mark.parametrize("said", [None, [], {}, 0, False, 7, ["tomorrow"]])
async def test_not_even_text(hass: HomeAssistant, said: object) -> None:
    """What is no text asks for everything, unless it can be read as text."""
    expected = day(1) if said == ["tomorrow"] else Asked(Kind.ALL, TODAY)
    assert understand(said, await async_names_of_times(hass), NOW) == expected


@pytest.mark.parametrize(
    ("hour", "start", "end"),
    [(15, (30, 18), (1, 6)), (20, (30, 20), (1, 6)), (6, (30, 18), (1, 6)), (2, (30, 2), (30, 6))],
)
def test_tonight(hour: int, start: tuple[int, int], end: tuple[int, int]) -> None:
    """The night begins in the evening, or has begun; before its end it is the running one."""
    found = tonight(NOW.replace(hour=hour, minute=0))
    assert [(moment.day, moment.hour) for moment in found] == [start, end]
