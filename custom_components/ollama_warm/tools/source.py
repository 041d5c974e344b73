"""Where the weather comes from: which entity, and its forecasts."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.components.weather.const import (
    DOMAIN as WEATHER,
    SERVICE_GET_FORECASTS,
    WeatherEntityFeature,
)
from homeassistant.const import ATTR_ENTITY_ID, ATTR_SUPPORTED_FEATURES, STATE_UNAVAILABLE
from homeassistant.core import Context, HomeAssistant, State, callback

from ..const import CONF_WEATHER_ENTITY, DOMAIN, LOGGER
from .forecast import Entry, days, days_of, entries, whole_days

HOME = "weather.home"
PATIENCE_S = 10.0
DAILY: Final = "daily"
TWICE_DAILY: Final = "twice_daily"
HOURLY: Final = "hourly"
_FEATURES = {
    DAILY: WeatherEntityFeature.FORECAST_DAILY,
    TWICE_DAILY: WeatherEntityFeature.FORECAST_TWICE_DAILY,
    HOURLY: WeatherEntityFeature.FORECAST_HOURLY,
}


class NoWeatherError(Exception):
    """There is no weather to report; names the sentence that says why."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


@dataclass(slots=True)
class Forecasts:
    """The forecasts of one entity."""

    by_day: dict[date, Entry] = field(default_factory=dict)
    hourly: list[Entry] = field(default_factory=list)
    parts: list[Entry] = field(default_factory=list)
    """Days and nights, of a service that has no hours."""
    failed: bool = False


@callback
def async_is_offered(hass: HomeAssistant, assistant: str) -> bool:
    """Return whether there is weather to ask for; that never depends on the weather."""
    return bool(_chosen(hass) or _exposed(hass, assistant))


@callback
def async_find_weather(hass: HomeAssistant, assistant: str) -> State:
    """Return the weather that was chosen, or else that of the house. Raises NoWeatherError."""
    chosen, exposed = _chosen(hass), _exposed(hass, assistant)
    if chosen and hass.states.get(chosen) is None:
        raise NoWeatherError("gone")
    if chosen and chosen not in exposed:
        raise NoWeatherError("hidden")
    if not exposed:
        raise NoWeatherError("none_exposed")
    default = HOME if HOME in exposed else exposed[0]
    state = hass.states.get(chosen or default)
    if state is None or state.state == STATE_UNAVAILABLE:
        raise NoWeatherError("unavailable")
    return state


async def async_get_forecasts(
    hass: HomeAssistant, weather: State, wanted: Collection[str], context: Context | None
) -> Forecasts:
    """Return those of the daily and the hourly forecast that are wanted and that there are."""
    forecasts = Forecasts()
    read: dict[str, list[Entry]] = {}
    for kind in _kinds(weather, wanted):
        try:
            async with asyncio.timeout(PATIENCE_S):
                read[kind] = entries(await _async_call(hass, weather.entity_id, kind, context))
        except Exception as err:  # noqa: BLE001 - another integration may raise anything
            LOGGER.debug("No %s forecast of %s: %r", kind, weather.entity_id, err)
            forecasts.failed = True
    forecasts.hourly = read.get(HOURLY, [])
    forecasts.parts = read.get(TWICE_DAILY, [])
    forecasts.by_day = (
        days(read.get(DAILY, [])) or days_of(forecasts.parts) or whole_days(forecasts.hourly)
    )
    return forecasts


def _kinds(weather: State, wanted: Collection[str]) -> list[str]:
    """Return the forecasts to ask an entity for: days, or their halves, or else their hours."""
    features = int(weather.attributes.get(ATTR_SUPPORTED_FEATURES) or 0)
    kinds = [kind for kind, feature in _FEATURES.items() if feature & features]
    by_day = next(iter(kinds), None)
    return [
        kind
        for kind in kinds
        if (kind == by_day and DAILY in wanted) or (kind == HOURLY and HOURLY in wanted)
    ]


async def _async_call(
    hass: HomeAssistant, entity_id: str, kind: str, context: Context | None
) -> list[Mapping[str, Any]]:
    """Ask an entity for one of its forecasts."""
    response: Any = await hass.services.async_call(
        WEATHER,
        SERVICE_GET_FORECASTS,
        {ATTR_ENTITY_ID: entity_id, "type": kind},
        blocking=True,
        context=context,
        return_response=True,
    )
    forecast: list[Mapping[str, Any]] = response[entity_id]["forecast"]
    return forecast


@callback
def _chosen(hass: HomeAssistant) -> str | None:
    """Return the weather entity that was chosen in the settings of a server."""
    for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False):
        if chosen := entry.options.get(CONF_WEATHER_ENTITY):
            return str(chosen)
    return None


@callback
def _exposed(hass: HomeAssistant, assistant: str) -> list[str]:
    """Return the weather entities that an assistant may see."""
    known = sorted(hass.states.async_entity_ids(WEATHER))
    return [entity_id for entity_id in known if async_should_expose(hass, assistant, entity_id)]
