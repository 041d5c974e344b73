"""Which weather is reported, and what is said where something is missing."""

from datetime import UTC, datetime
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.components.weather.const import WeatherEntityFeature as Feature
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from .support.skies import Sky, bare, days_and_nights, excuse, met_no, set_up, weather

pytestmark = pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")

FAILED = "The weather service did not give its forecast. Please try again later."
NO_FORECASTS = "The weather service has no forecast."
CLOCK = "It is now Monday 30 November 2026, 15:10."


@pytest.fixture(autouse=True)
async def in_paris(hass: HomeAssistant) -> None:
    """Put the house into a zone that is not UTC."""
    await hass.config.async_set_time_zone("Europe/Paris")


async def test_unavailable(hass: HomeAssistant) -> None:
    """A service that cannot be reached is excused, in the asked language."""
    sky = met_no()
    await set_up(hass, sky)
    hass.states.async_set(sky.entity_id, STATE_UNAVAILABLE)
    assert await excuse(hass, "nl") == "De weerdienst is op dit moment niet bereikbaar."


async def test_goes_during_the_question(
    hass: HomeAssistant, entity_registry: er.EntityRegistry
) -> None:
    """An entity that goes while it is asked gives no forecast."""
    sky = met_no()
    await set_up(hass, sky)

    async def remove() -> None:
        entity_registry.async_remove(sky.entity_id)
        raise HomeAssistantError

    sky.wait = remove
    assert await excuse(hass, when="tomorrow") == FAILED


@pytest.mark.parametrize("error", [HomeAssistantError("x"), TimeoutError(), KeyError("x")])
async def test_broken(hass: HomeAssistant, error: Exception) -> None:
    """Whatever another integration raises, the present is reported and the rest excused."""
    sky = met_no()
    sky.daily = sky.hourly = error
    await set_up(hass, sky)
    lines = (await weather(hass)).splitlines()
    assert lines == [lines[0], FAILED, CLOCK]
    assert lines[0].startswith("Now: Cloudy, 8.3 °C")
    assert await excuse(hass, when="tonight") == FAILED
    sky.hourly = []
    assert await excuse(hass, when="friday") == FAILED


async def test_half_broken(hass: HomeAssistant) -> None:
    """Hours stand in for the days that are not given, but no half a day at their end."""
    sky = met_no()
    sky.daily = HomeAssistantError("x")
    await set_up(hass, sky)
    labels = [line.partition(": ")[0] for line in (await weather(hass)).splitlines()]
    blocks = ["15:00-18:00", "18:00-21:00", "21:00-00:00"]
    days = ["Tomorrow, Tuesday 1", "Wednesday 2"]
    assert labels == ["Now", "Today, Monday 30", *blocks, *days, CLOCK]


async def test_no_forecasts(hass: HomeAssistant) -> None:
    """A service without forecasts gives the present, and says so when it cannot answer."""
    await set_up(hass, bare("Home", 2))
    for when in ("week", "today", None):
        assert await weather(hass, when=when) == f"Now: Sunny, 2 °C\n{NO_FORECASTS}\n{CLOCK}"
    assert await excuse(hass, when="tonight") == NO_FORECASTS
    assert await excuse(hass, when="tomorrow") == NO_FORECASTS


async def test_no_hours(hass: HomeAssistant) -> None:
    """A service without hours gives the days, and for tonight the day it belongs to."""
    sky = met_no()
    sky.supported_features = Feature.FORECAST_DAILY
    await set_up(hass, sky)
    today = "Today, Monday 30: Rainy, 6 to 11 °C, rain 3.4 mm (80%), wind 24 km/h"
    for when in ("today", "tonight"):
        assert today in await weather(hass, when=when)
    assert len((await weather(hass, when="tomorrow")).splitlines()) == 2


async def test_only_hours(hass: HomeAssistant) -> None:
    """A service without days has those that its hours make up."""
    sky = met_no()
    sky.supported_features = Feature.FORECAST_HOURLY
    await set_up(hass, sky)
    assert (await weather(hass, when="week")).splitlines()[1:-1] == [
        "Today, Monday 30: Rainy, 8 °C, rain 1.8 mm (60%)",
        "Tomorrow, Tuesday 1: Lightning, rainy, 7 to 8 °C, rain 20.4 mm (90%), wind 33 km/h",
        "Wednesday 2: Lightning, rainy, 7 to 8 °C, rain 22.2 mm (90%), wind 33 km/h",
    ]
    sky.hourly = []
    assert NO_FORECASTS in await weather(hass, when="week")


async def test_hours_that_end_with_the_day(hass: HomeAssistant) -> None:
    """Hours until the evening are a day."""
    sky = met_no(hours=30)
    sky.supported_features = Feature.FORECAST_HOURLY
    await set_up(hass, sky)
    assert "Tomorrow, Tuesday 1: " in await weather(hass, when="week")


async def test_beyond_the_forecast(hass: HomeAssistant) -> None:
    """For a day and a night without a forecast the model reads that there is none."""
    sky = met_no()
    sky.daily = (sky.daily if isinstance(sky.daily, list) else [])[1:3]
    sky.hourly = None
    await set_up(hass, sky)
    assert await excuse(hass, when="2026-12-24") == (
        "There is no forecast for Thursday 24 December 2026."
    )
    assert await excuse(hass, "es", when="viernes") == (
        "No hay pronóstico para viernes, 4 de diciembre de 2026."
    )
    assert await excuse(hass, "nl", when="tonight") == "Er is geen verwachting voor vanavond."


async def test_nothing_known(hass: HomeAssistant) -> None:
    """Values that are missing, or are none, are left out."""
    sky = Sky("Home", Feature.FORECAST_DAILY | Feature.FORECAST_HOURLY)
    sky.daily = [
        {"datetime": "2026-11-30T12:00:00+01:00", "condition": None},
        {"datetime": "2026-12-01T12:00:00+01:00", "condition": "rainy", "native_precipitation": 0},
        {"datetime": "2026-12-02T12:00:00+01:00", "condition": "odd", "native_temperature": -0.3},
        {"datetime": "soon", "condition": "rainy"},
    ]
    sky.hourly = [{"datetime": "2026-11-30T15:00:00", "native_precipitation": float("nan")}]
    await set_up(hass, sky)
    assert (await weather(hass)).splitlines() == [
        "Now: ",
        "Today, Monday 30: ",
        "15:00: ",
        "Tomorrow, Tuesday 1: Rainy",
        "Wednesday 2: 0 °C",
        CLOCK,
    ]


async def test_units_that_no_one_knows(hass: HomeAssistant) -> None:
    """A state without units is reported without them."""
    await set_up(hass, met_no())
    features = Feature.FORECAST_DAILY | Feature.FORECAST_HOURLY
    values: dict[str, Any] = {"temperature": 4, "wind_speed": 40, "supported_features": features}
    hass.states.async_set("weather.home", "sunny", values)
    lines = (await weather(hass)).splitlines()
    assert lines[0] == "Now: Sunny, 4, wind 40, rain 10%"
    assert lines[5] == "Tomorrow, Tuesday 1: Pouring, 6 to 10, rain 12.6 (95%)"


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Auckland", "Asia/Kolkata", "UTC"])
async def test_days_marked_in_utc(hass: HomeAssistant, zone: str) -> None:
    """A day that is marked by midnight in UTC is that day everywhere on earth."""
    await hass.config.async_set_time_zone(zone)
    sky = Sky("Home", Feature.FORECAST_DAILY, condition="sunny")
    sky.daily = [
        {"datetime": f"2026-12-0{day}T00:00:00+00:00", "native_temperature": day}
        for day in (1, 2, 3)
    ]
    await set_up(hass, sky)
    assert (await weather(hass, when="2026-12-02")).splitlines()[0].endswith("Wednesday 2: 2 °C")


@pytest.mark.parametrize(
    ("moment", "hours"),
    [
        # Clocks go back: 02:00 comes twice. Clocks go forward: it does not come.
        ("2026-10-24 22:30:00", ["00:00-06:00", "06:00-12:00", "12:00-18:00", "18:00-00:00"]),
        ("2026-03-28 23:30:00", ["00:00-06:00", "06:00-12:00", "12:00-18:00", "18:00-00:00"]),
    ],
)
async def test_clocks_change(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, moment: str, hours: list[str]
) -> None:
    """A day of 25 or of 23 hours is reported by the clock on the wall, with all of its rain."""
    freezer.move_to(datetime.fromisoformat(moment).replace(tzinfo=UTC))
    sky = met_no(hours=25 if "10-24" in moment else 23)
    sky.hourly = [
        {"datetime": hour["datetime"], "native_precipitation": 1.0}
        for hour in (sky.hourly if isinstance(sky.hourly, list) else [])
    ]
    await set_up(hass, sky)
    lines = (await weather(hass)).splitlines()[2:6]
    assert [line.partition(": ")[0] for line in lines] == hours
    night = "7 mm" if "10-24" in moment else "5 mm"
    assert lines[0].endswith(f"rain {night}")
    assert len((await weather(hass, when="today")).splitlines()) == 2 + 8 + 1


@pytest.mark.parametrize(
    ("moment", "today", "hours"),
    [
        ("2026-11-30 22:59:00", "Today, Monday 30", ["23:00"]),
        ("2026-11-30 23:00:00", "Today, Tuesday 1", ["00:00-06:00", "06:00-12:00"]),
    ],
)
async def test_midnight(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, moment: str, today: str, hours: list[str]
) -> None:
    """Today is today until the last minute of it."""
    freezer.move_to(datetime.fromisoformat(moment).replace(tzinfo=UTC))
    await set_up(hass, met_no())
    labels = [line.partition(": ")[0] for line in (await weather(hass)).splitlines()]
    assert labels[1] == today
    assert labels[2 : 2 + len(hours)] == hours


async def test_what_is_past_is_not_reported(hass: HomeAssistant) -> None:
    """Of a forecast that is some hours and days old only the rest is reported."""
    sky = met_no()
    await set_up(hass, sky)
    yesterday = {"datetime": "2026-11-29T12:00:00+01:00", "condition": "sunny"}
    hours = [{"datetime": f"2026-11-30T{hour:02}:00:00+01:00"} for hour in (9, 12, 15, 18)]
    sky.daily = [yesterday]  # type: ignore[list-item]
    sky.hourly = hours  # type: ignore[assignment]
    labels = [line.partition(": ")[0] for line in (await weather(hass)).splitlines()]
    assert labels == ["Now", "15:00", "18:00", CLOCK]


async def test_parts_of_days_are_only_asked_for_where_there_are_no_days(
    hass: HomeAssistant,
) -> None:
    """A service that has both days and their halves is asked for the days."""
    sky = met_no()
    sky.supported_features = Feature(7)
    sky.twice_daily = HomeAssistantError("x")
    await set_up(hass, sky)
    assert "Tomorrow, Tuesday 1: Pouring" in await weather(hass, when="week")


async def test_other_nights_are_not_tonight(hass: HomeAssistant) -> None:
    """A night that is days away is not reported for tonight."""
    sky = days_and_nights()
    sky.twice_daily = (sky.twice_daily if isinstance(sky.twice_daily, list) else [])[4:]
    await set_up(hass, sky)
    assert await excuse(hass, when="tonight") == "There is no forecast for tonight."
