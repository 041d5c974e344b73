"""A thermostat for every room."""

from typing import Any, override

from homeassistant.components.climate import ClimateEntity
from homeassistant.components.climate.const import ClimateEntityFeature, HVACMode
from homeassistant.const import ATTR_TEMPERATURE, UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity
from .house import Thing


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put the thermostats up."""
    async_add_entities(HouseClimate(thing) for thing in entry.runtime_data.of("climate"))


class HouseClimate(HouseEntity, ClimateEntity):
    """A thermostat that heats or does not."""

    # Home Assistant 2026.10 has only this one, and 2026.11 no longer wants it set.
    _attr_temperature_unit = UnitOfTemperature.CELSIUS  # type: ignore[misc]
    _attr_hvac_mode = HVACMode.HEAT
    _attr_native_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_native_target_temperature: float | None = 20.0
    _attr_supported_features = (
        ClimateEntityFeature.TARGET_TEMPERATURE
        | ClimateEntityFeature.TURN_ON
        | ClimateEntityFeature.TURN_OFF
    )

    def __init__(self, thing: Thing) -> None:
        """Measure what the plan says."""
        super().__init__(thing)
        self._attr_hvac_modes = [HVACMode.HEAT, HVACMode.OFF]
        self._attr_native_current_temperature = thing.value

    @override
    async def async_set_temperature(self, **kwargs: Any) -> None:
        """Set the wanted temperature."""
        self._attr_native_target_temperature = kwargs[ATTR_TEMPERATURE]
        self.async_write_ha_state()

    @override
    async def async_set_hvac_mode(self, hvac_mode: HVACMode) -> None:
        """Heat, or do not."""
        self._attr_hvac_mode = hvac_mode
        self.async_write_ha_state()
