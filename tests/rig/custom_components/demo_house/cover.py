"""Blinds, curtains and the garage door."""

from typing import Any, override

from homeassistant.components.cover import ATTR_POSITION, CoverEntity, CoverEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Hang the covers."""
    async_add_entities(HouseCover(thing) for thing in entry.runtime_data.of("cover"))


class HouseCover(HouseEntity, CoverEntity):
    """A cover that moves at once, so that tests need not wait for a motor."""

    _attr_supported_features = (
        CoverEntityFeature.OPEN | CoverEntityFeature.CLOSE | CoverEntityFeature.SET_POSITION
    )
    _attr_current_cover_position = 100
    _attr_is_closed = False

    @override
    async def async_open_cover(self, **kwargs: Any) -> None:
        """Open the cover."""
        self._move_to(100)

    @override
    async def async_close_cover(self, **kwargs: Any) -> None:
        """Close the cover."""
        self._move_to(0)

    @override
    async def async_set_cover_position(self, **kwargs: Any) -> None:
        """Move the cover to a position."""
        self._move_to(kwargs[ATTR_POSITION])

    def _move_to(self, position: int) -> None:
        self._attr_current_cover_position = position
        self._attr_is_closed = position == 0
        self.async_write_ha_state()
