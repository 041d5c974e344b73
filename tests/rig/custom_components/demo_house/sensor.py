"""Sensors that always measure the same, so that prompts and answers are the same every time."""

from homeassistant.components.sensor import SensorEntity, SensorStateClass
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity
from .house import Thing


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put the sensors up."""
    async_add_entities(HouseSensor(thing) for thing in entry.runtime_data.of("sensor"))


class HouseSensor(HouseEntity, SensorEntity):
    """One measurement."""

    _attr_state_class = SensorStateClass.MEASUREMENT

    def __init__(self, thing: Thing) -> None:
        """Measure what the plan says."""
        super().__init__(thing)
        self._attr_native_value = thing.value
        self._attr_native_unit_of_measurement = thing.unit
