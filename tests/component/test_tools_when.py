"""Which time is meant: by models that follow the schema, and by those that do not."""

from datetime import UTC, date, datetime, timedelta

import pytest

from custom_components.ollama_warm.tools.when import Asked, Period, tonight, understand
from custom_components.ollama_warm.tools.words import async_names_of_times
from homeassistant.core import HomeAssistant

# A Monday.
NOW = datetime(2026, 11, 30, 15, 10, tzinfo=UTC)
TODAY = NOW.date()


def day(away: int) -> Asked:
    """Return that a day was asked for, so many days from now."""
    return Asked(Period.DAY, TODAY + timedelta(days=away))


MEANT = {
    "now": Asked(Period.NOW, TODAY),
    "right now": Asked(Period.NOW, TODAY),
    "today": Asked(Period.TODAY, TODAY),
    " Today ": Asked(Period.TODAY, TODAY),
    "this_afternoon": Asked(Period.TODAY, TODAY),
    "TONIGHT": Asked(Period.TONIGHT, TODAY),
    "this evening": Asked(Period.TONIGHT, TODAY),
    "tomorrow": day(1),
    "tomorrow morning": day(1),
    "day after tomorrow": day(2),
    "the_day_after_tomorrow": day(2),
    "monday": Asked(Period.TODAY, TODAY),
    "tuesday": day(1),
    "next Sunday": day(6),
    "Friday night": day(4),
    "week": Asked(Period.WEEK, TODAY),
    "next week": Asked(Period.WEEK, TODAY),
    "weekend": Asked(Period.WEEK, TODAY),
    "2026-12-03": day(3),
    "2026-12-03T10:00:00": day(3),
    "2026-11-30": Asked(Period.TODAY, TODAY),
    "2027-01-31": Asked(Period.DAY, date(2027, 1, 31)),
    "": Asked(Period.ALL, TODAY),
    "whenever": Asked(Period.ALL, TODAY),
    "2026-13-40": Asked(Period.ALL, TODAY),
    "maintenant": Asked(Period.NOW, TODAY),
    "aujourd'hui": Asked(Period.TODAY, TODAY),
    "Aujourd\N{RIGHT SINGLE QUOTATION MARK}hui": Asked(Period.TODAY, TODAY),
    "cet après-midi": Asked(Period.TODAY, TODAY),
    "ce soir": Asked(Period.TONIGHT, TODAY),
    "demain": day(1),
    "après-demain": day(2),
    "mercredi": day(2),
    "la semaine": Asked(Period.WEEK, TODAY),
    "jetzt": Asked(Period.NOW, TODAY),
    "heute": Asked(Period.TODAY, TODAY),
    "heute morgen": Asked(Period.TODAY, TODAY),
    "heute Abend": Asked(Period.TONIGHT, TODAY),
    "morgen früh": day(1),
    "übermorgen": day(2),
    "Donnerstag Morgen": day(3),
    "diese Woche": Asked(Period.WEEK, TODAY),
    "ahora": Asked(Period.NOW, TODAY),
    "hoy": Asked(Period.TODAY, TODAY),
    "esta noche": Asked(Period.TONIGHT, TODAY),
    "manana": day(1),
    "esta mañana": Asked(Period.TODAY, TODAY),
    "pasado mañana": day(2),
    "sábado por la mañana": day(5),
    "fin de semana": Asked(Period.WEEK, TODAY),
    "nu": Asked(Period.NOW, TODAY),
    "vandaag": Asked(Period.TODAY, TODAY),
    "vannacht": Asked(Period.TONIGHT, TODAY),
    "morgen": day(1),
    "overmorgen": day(2),
    "zondag": day(6),
    "dit weekend": Asked(Period.WEEK, TODAY),
}


@pytest.mark.parametrize("said", MEANT)
async def test_what_is_meant(hass: HomeAssistant, said: str) -> None:
    """Each of these is understood, whoever says it."""
    assert understand(said, await async_names_of_times(hass), NOW) == MEANT[said]


@pytest.mark.parametrize("said", [None, [], {}, 0, False, 7, ["tomorrow"]])
async def test_not_even_text(hass: HomeAssistant, said: object) -> None:
    """What is no text asks for everything, unless it can be read as text."""
    expected = day(1) if said == ["tomorrow"] else Asked(Period.ALL, TODAY)
    assert understand(said, await async_names_of_times(hass), NOW) == expected


@pytest.mark.parametrize(
    ("hour", "start", "end"),
    [(15, (30, 18), (1, 6)), (20, (30, 20), (1, 6)), (6, (30, 18), (1, 6)), (2, (30, 2), (30, 6))],
)
def test_tonight(hour: int, start: tuple[int, int], end: tuple[int, int]) -> None:
    """The night begins in the evening, or has begun; before its end it is the running one."""
    found = tonight(NOW.replace(hour=hour, minute=0))
    assert [(moment.day, moment.hour) for moment in found] == [start, end]
