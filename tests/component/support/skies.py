"""Weather entities that give their data in the shapes of real services, and ways to ask."""

from collections.abc import Callable, Sequence
from datetime import datetime, time, timedelta
from typing import Any, override

from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    setup_test_component_platform,
)

from custom_components.ollama_warm.const import DOMAIN
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.weather import Forecast, WeatherEntity
from homeassistant.components.weather.const import WeatherEntityFeature as Feature
from homeassistant.const import UnitOfPrecipitationDepth, UnitOfSpeed, UnitOfTemperature
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

METEO = f"{DOMAIN}__meteo"
NOON = time(12)
# Condition, highest and lowest temperature, rain, its probability, wind in km/h.
WEEK = (
    ("rainy", 11.4, 6.2, 3.4, 80.0, 24.0),
    ("pouring", 9.8, 5.5, 12.6, 95.0, 41.0),
    ("cloudy", 8.0, 4.1, 0.0, 10.0, 15.0),
    ("partlycloudy", 6.6, 0.3, 0.0, 0.0, 9.0),
    ("snowy", 1.2, -3.7, 4.0, 70.0, 18.0),
    ("fog", -0.2, -4.4, 0.0, 5.0, 4.0),
    ("sunny", 4.9, -2.1, 0.0, 0.0, 7.0),
    ("windy", 7.7, 1.0, 0.2, 20.0, 52.0),
)
# The same by hours, over and over: condition, temperature, rain, its probability, wind.
HOURS = (
    ("cloudy", 8.3, 0.0, 10.0, 14.0),
    ("cloudy", 8.1, 0.0, 15.0, 15.0),
    ("rainy", 7.6, 0.6, 60.0, 19.0),
    ("lightning-rainy", 7.2, 3.1, 90.0, 33.0),
    ("partlycloudy", 6.9, 0.0, 5.0, 12.0),
)


class Sky(WeatherEntity):
    """A weather entity whose forecasts are lists, or raise what they are."""

    _attr_should_poll = False
    _attr_native_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_native_precipitation_unit = UnitOfPrecipitationDepth.MILLIMETERS
    _attr_native_wind_speed_unit = UnitOfSpeed.KILOMETERS_PER_HOUR

    def __init__(self, name: str, features: Feature, **attributes: object) -> None:
        """Take a name, which forecasts there are, and the present weather."""
        self._attr_name = name
        self._attr_unique_id = name
        self._attr_supported_features = features
        self.daily: list[Forecast] | Exception | None = None
        self.hourly: list[Forecast] | Exception | None = None
        self.twice_daily: list[Forecast] | Exception | None = None
        self.wait: Callable[[], Any] | None = None
        for key, value in attributes.items():
            setattr(self, f"_attr_{key}", value)

    @override
    async def async_forecast_daily(self) -> list[Forecast] | None:
        """Return the days."""
        return await self._give(self.daily)

    @override
    async def async_forecast_hourly(self) -> list[Forecast] | None:
        """Return the hours."""
        return await self._give(self.hourly)

    @override
    async def async_forecast_twice_daily(self) -> list[Forecast] | None:
        """Return the days and nights."""
        return await self._give(self.twice_daily)

    async def _give(self, forecast: list[Forecast] | Exception | None) -> list[Forecast] | None:
        """Return a forecast, or raise it."""
        if self.wait:
            await self.wait()
        if isinstance(forecast, Exception):
            raise forecast
        return forecast


def met_no(name: str = "Home", hours: int = 60) -> Sky:
    """Return what Met.no gives: days at noon, all values but feels-like."""
    sky = Sky(
        name,
        Feature.FORECAST_DAILY | Feature.FORECAST_HOURLY,
        condition="cloudy",
        native_temperature=8.3,
        humidity=81,
        native_wind_speed=14.4,
        native_wind_gust_speed=29.9,
        wind_bearing=226.4,
    )
    sky.daily = [
        Forecast(
            datetime=_utc(day, NOON),
            condition=condition,
            native_temperature=high,
            native_templow=low,
            native_precipitation=rain,
            precipitation_probability=int(chance),
            native_wind_speed=wind,
            wind_bearing=200.0,
        )
        for day, (condition, high, low, rain, chance, wind) in enumerate(WEEK)
    ]
    sky.hourly = _hours(hours, with_chance=True)
    return sky


def open_meteo(name: str = "Home") -> Sky:
    """Return what Open-Meteo gives: days at midnight in UTC, no probabilities, no humidity."""
    sky = Sky(
        name,
        Feature.FORECAST_DAILY | Feature.FORECAST_HOURLY,
        condition="cloudy",
        native_temperature=8.3,
        native_wind_speed=14.4,
        wind_bearing=226,
    )
    today = dt_util.now().date()
    sky.daily = [
        Forecast(
            datetime=f"{today + timedelta(days=day)}T00:00:00+00:00",
            condition=condition,
            native_apparent_temperature=high - 3,
            native_temperature=high,
            native_templow=low,
            native_precipitation=rain,
            native_wind_speed=wind,
            native_wind_gust_speed=wind * 2,
            wind_bearing=200,
        )
        for day, (condition, high, low, rain, _, wind) in enumerate(WEEK[:7])
    ]
    sky.hourly = [hour for hour in _hours(60) if hour["datetime"] > dt_util.utcnow().isoformat()]
    return sky


def meteo_france(name: str = "Home") -> Sky:
    """Return what Météo-France gives: m/s, feels-like, no wind by day, some values missing."""
    sky = Sky(
        name,
        Feature.FORECAST_DAILY | Feature.FORECAST_HOURLY,
        condition="partlycloudy",
        native_temperature=8.3,
        native_apparent_temperature=5.1,
        humidity=81,
        native_wind_speed=4.0,
        native_wind_speed_unit=UnitOfSpeed.METERS_PER_SECOND,
        native_wind_gust_speed=None,
        wind_bearing=None,
    )
    today = dt_util.now().date()
    sky.daily = [
        Forecast(
            datetime=f"{today + timedelta(days=day)}T00:00:00+00:00",
            condition=condition,
            humidity=95,
            native_temperature=high,
            native_templow=low,
            native_precipitation=rain,
        )
        for day, (condition, high, low, rain, *_) in enumerate(WEEK * 2)
    ]
    sky.hourly = [
        {**hour, "native_precipitation": None, "native_wind_speed": 4.0, "wind_bearing": None}
        for hour in _hours(60)
        if hour["datetime"] > dt_util.utcnow().isoformat()
    ]
    return sky


def days_and_nights(name: str = "Home", *, first_night: bool = False) -> Sky:
    """Return what the American weather service gives, without its hours."""
    sky = Sky(
        name,
        Feature.FORECAST_TWICE_DAILY,
        condition="cloudy",
        native_temperature=8.3,
        humidity=81,
        native_wind_speed=14.4,
        wind_bearing=226,
    )
    sky.twice_daily = []
    for day, (condition, high, low, _, chance, wind) in enumerate(WEEK):
        for is_daytime in (True, False):
            if is_daytime and first_night and day == 0:
                continue
            sky.twice_daily.append(
                Forecast(
                    datetime=_local(day, time(6 if is_daytime else 18)),
                    condition=condition if is_daytime else "clear-night",
                    is_daytime=is_daytime,
                    native_temperature=high if is_daytime else low,
                    precipitation_probability=int(chance),
                    native_wind_speed=wind,
                )
            )
    return sky


def bare(name: str, temperature: float) -> Sky:
    """Return a sky without forecasts, known by its temperature."""
    return Sky(name, Feature(0), condition="sunny", native_temperature=temperature)


def _hours(count: int, *, with_chance: bool = False) -> list[Forecast]:
    """Return hours, the running one first."""
    start = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    hours = []
    for number in range(count):
        condition, temperature, rain, chance, wind = HOURS[number // 3 % len(HOURS)]
        hour = Forecast(
            datetime=(start + number * timedelta(hours=1)).isoformat(),
            condition=condition,
            native_temperature=temperature,
            native_precipitation=rain,
            native_wind_speed=wind,
        )
        if with_chance:
            hour["precipitation_probability"] = int(chance)
        hours.append(hour)
    return hours


def _local(day: int, clock: time) -> str:
    """Return a local time on a day from today."""
    today = dt_util.now()
    return datetime.combine(
        today.date() + timedelta(days=day), clock, tzinfo=today.tzinfo
    ).isoformat()


def _utc(day: int, clock: time) -> str:
    """Return a local time on a day from today, in UTC."""
    return dt_util.as_utc(datetime.fromisoformat(_local(day, clock))).isoformat()


async def set_up(hass: HomeAssistant, *skies: Sky, exposed: bool = True) -> None:
    """Set up the integration and weather entities, exposed to the assistant or not."""
    setup_test_component_platform(hass, "weather", list(skies))
    assert await async_setup_component(hass, "weather", {"weather": {"platform": "test"}})
    assert await async_setup_component(hass, DOMAIN, {})
    await hass.async_block_till_done()
    for sky in skies:
        async_expose_entity(hass, "conversation", sky.entity_id, exposed)


async def api(
    hass: HomeAssistant,
    apis: str | Sequence[str] = "assist",
    language: str | None = "en",
    device_id: str | None = None,
    platform: str = DOMAIN,
) -> llm.APIInstance:
    """Return what an agent with these APIs gets: one of ours, or of another integration."""
    return await llm.async_get_api(
        hass,
        apis if isinstance(apis, str) else list(apis),
        llm.LLMContext(
            platform=platform,
            context=Context(),
            language=language,
            assistant="conversation",
            device_id=device_id,
        ),
    )


async def ask(
    hass: HomeAssistant, tool: str = METEO, language: str | None = "en", **arguments: object
) -> llm.ToolResult:
    """Call a tool, as a model does that has all of our tools."""
    instance = await api(hass, DOMAIN, language)
    return await instance.async_call_tool(llm.ToolInput(tool_name=tool, tool_args=arguments))


async def weather(hass: HomeAssistant, language: str | None = "en", **arguments: object) -> str:
    """Return what the weather tool says."""
    result = await ask(hass, METEO, language, **arguments)
    assert not result.error, result.data
    assert list(result.data) == ["weather"]
    return str(result.data["weather"])


async def excuse(hass: HomeAssistant, language: str | None = "en", **arguments: object) -> str:
    """Return why the weather tool says nothing."""
    result = await ask(hass, METEO, language, **arguments)
    assert result.error, result.data
    assert list(result.data) == ["error"]
    return str(result.data["error"])
