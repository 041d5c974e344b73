"""Lights that can be dimmed."""

import asyncio
from typing import Any, override

from homeassistant.components.light import LightEntity
from homeassistant.components.light.const import ATTR_BRIGHTNESS, ColorMode
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity
from .house import Thing


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put the lights up, and be ready for more."""
    async_add_entities(HouseLight(thing) for thing in entry.runtime_data.of("light"))

    async def add_light(thing: Thing) -> str:
        light = HouseLight(thing)
        async_add_entities([light])
        await light.added.wait()
        return light.entity_id

    entry.runtime_data.add_light = add_light


class HouseLight(HouseEntity, LightEntity):
    """A light that remembers how bright it was."""

    _attr_color_mode = ColorMode.BRIGHTNESS
    _attr_is_on = False
    _attr_brightness = 255

    def __init__(self, thing: Thing) -> None:
        """Start switched off."""
        super().__init__(thing)
        self._attr_supported_color_modes = {ColorMode.BRIGHTNESS}
        self.added = asyncio.Event()

    @override
    async def async_added_to_hass(self) -> None:
        """Tell whoever carried the light in that it hangs."""
        self.added.set()

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn the light on."""
        self._attr_is_on = True
        self._attr_brightness = kwargs.get(ATTR_BRIGHTNESS, self._attr_brightness)
        self.async_write_ha_state()

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn the light off."""
        self._attr_is_on = False
        self.async_write_ha_state()
