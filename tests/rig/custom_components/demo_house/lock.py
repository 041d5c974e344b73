"""Door locks."""

from typing import Any, override

from homeassistant.components.lock import LockEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Fit the locks."""
    async_add_entities(HouseLock(thing) for thing in entry.runtime_data.of("lock"))


class HouseLock(HouseEntity, LockEntity):
    """A lock that turns at once."""

    _attr_is_locked = True

    @override
    async def async_lock(self, **kwargs: Any) -> None:
        """Lock the door."""
        self._attr_is_locked = True
        self.async_write_ha_state()

    @override
    async def async_unlock(self, **kwargs: Any) -> None:
        """Unlock the door."""
        self._attr_is_locked = False
        self.async_write_ha_state()
