"""Plugs and appliances that are on or off."""

from typing import Any, override

from homeassistant.components.switch import SwitchEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Plug the appliances in."""
    async_add_entities(HouseSwitch(thing) for thing in entry.runtime_data.of("switch"))


class HouseSwitch(HouseEntity, SwitchEntity):
    """An appliance behind a plug."""

    _attr_is_on = False

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Turn the appliance on."""
        self._attr_is_on = True
        self.async_write_ha_state()

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Turn the appliance off."""
        self._attr_is_on = False
        self.async_write_ha_state()
