"""Constants that the tools share with the rest of the component, and their own."""

from typing import Final

from ..const import DOMAIN, LOGGER  # noqa: TID252 - the one way up, whatever the package's name

__all__ = ["CONF_WEATHER_ENTITY", "DOMAIN", "LOGGER"]

CONF_WEATHER_ENTITY: Final = "weather_entity"
"""Option of a server's entry: the weather that the tool tells."""
