"""What a house that is set up keeps in memory."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError

from .const import DOMAIN
from .house import Thing


@dataclass
class HouseData:
    """The things of the house, and how to carry in another."""

    things: list[Thing]
    add_light: Callable[[Thing], Awaitable[str]] | None = None
    satellites: dict[str, Callable[[str, float, Context], Awaitable[dict[str, Any]]]] = field(
        default_factory=dict
    )
    """Satellite entity -> how to say something in front of it."""

    def of(self, platform: str) -> list[Thing]:
        """Return the things that a platform has to make."""
        return [thing for thing in self.things if thing.platform == platform]


type HouseEntry = ConfigEntry[HouseData]


def house_entry(hass: HomeAssistant) -> HouseEntry:
    """Return the entry of the one house, once it is set up."""
    if not (entries := hass.config_entries.async_loaded_entries(DOMAIN)):
        raise ServiceValidationError("The house is not set up")
    return entries[0]
