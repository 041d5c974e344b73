"""The weather at home, with forecasts that never change but for their dates."""

from datetime import timedelta
from typing import override

from homeassistant.components.weather import Forecast, WeatherEntity
from homeassistant.components.weather.const import WeatherEntityFeature
from homeassistant.const import UnitOfPressure, UnitOfSpeed, UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .data import HouseEntry
from .entity import HouseEntity

# Condition, temperature, millimetres of rain, probability of rain.
_COMING = (
    ("cloudy", 12.0, 0.0, 10),
    ("rainy", 11.0, 2.4, 80),
    ("rainy", 10.0, 1.2, 60),
    ("partlycloudy", 13.0, 0.0, 5),
    ("sunny", 15.0, 0.0, 0),
)


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Look out of the window."""
    async_add_entities(HouseWeather(thing) for thing in entry.runtime_data.of("weather"))


class HouseWeather(HouseEntity, WeatherEntity):
    """Weather that has hourly and daily forecasts."""

    _attr_condition = "cloudy"
    _attr_humidity = 71.0
    _attr_native_pressure = 1013.0
    _attr_native_pressure_unit = UnitOfPressure.HPA
    _attr_native_temperature = 11.5
    _attr_native_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_native_wind_speed = 14.0
    _attr_native_wind_speed_unit = UnitOfSpeed.KILOMETERS_PER_HOUR
    _attr_supported_features = (
        WeatherEntityFeature.FORECAST_DAILY | WeatherEntityFeature.FORECAST_HOURLY
    )

    @override
    async def async_forecast_daily(self) -> list[Forecast]:
        """Return a week."""
        forecasts = _forecasts(7, timedelta(days=1))
        for forecast in forecasts:
            forecast["native_templow"] = (forecast["native_temperature"] or 0.0) - 6.0
        return forecasts

    @override
    async def async_forecast_hourly(self) -> list[Forecast]:
        """Return a day and a half."""
        return _forecasts(36, timedelta(hours=1))


def _forecasts(count: int, step: timedelta) -> list[Forecast]:
    start = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    forecasts = []
    for index in range(count):
        condition, temperature, rain, probability = _COMING[index % len(_COMING)]
        forecasts.append(
            Forecast(
                datetime=(start + index * step).isoformat(),
                condition=condition,
                native_temperature=temperature,
                native_precipitation=rain,
                precipitation_probability=probability,
            )
        )
    return forecasts
