"""Fans with a speed."""

from typing import Any, override

from homeassistant.components.fan import FanEntity
from homeassistant.components.fan.const import FanEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put the fans up."""
    async_add_entities(HouseFan(thing) for thing in entry.runtime_data.of("fan"))


class HouseFan(HouseEntity, FanEntity):
    """A fan that is as fast as asked."""

    _attr_percentage = 0
    _attr_supported_features = (
        FanEntityFeature.SET_SPEED | FanEntityFeature.TURN_ON | FanEntityFeature.TURN_OFF
    )

    @override
    async def async_turn_on(
        self, percentage: int | None = None, preset_mode: str | None = None, **kwargs: Any
    ) -> None:
        """Turn the fan on, at half speed unless told otherwise."""
        await self.async_set_percentage(50 if percentage is None else percentage)

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn the fan off."""
        await self.async_set_percentage(0)

    @override
    async def async_set_percentage(self, percentage: int) -> None:
        """Set the speed."""
        self._attr_percentage = percentage
        self.async_write_ha_state()
