"""Motion and contact sensors."""

from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put the sensors up."""
    async_add_entities(HouseBinarySensor(thing) for thing in entry.runtime_data.of("binary_sensor"))


class HouseBinarySensor(HouseEntity, BinarySensorEntity):
    """A quiet house: nothing moves and everything is closed."""

    _attr_is_on = False
