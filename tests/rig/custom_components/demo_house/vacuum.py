"""The robot vacuum."""

from typing import Any, override

from homeassistant.components.vacuum import StateVacuumEntity
from homeassistant.components.vacuum.const import VacuumActivity, VacuumEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Set the vacuum down."""
    async_add_entities(HouseVacuum(thing) for thing in entry.runtime_data.of("vacuum"))


class HouseVacuum(HouseEntity, StateVacuumEntity):
    """A vacuum that starts and is home at once."""

    _attr_activity = VacuumActivity.DOCKED
    _attr_supported_features = (
        VacuumEntityFeature.START | VacuumEntityFeature.RETURN_HOME | VacuumEntityFeature.STATE
    )

    @override
    async def async_start(self) -> None:
        """Start to clean."""
        self._attr_activity = VacuumActivity.CLEANING
        self.async_write_ha_state()

    @override
    async def async_return_to_base(self, **kwargs: Any) -> None:
        """Go home."""
        self._attr_activity = VacuumActivity.DOCKED
        self.async_write_ha_state()
