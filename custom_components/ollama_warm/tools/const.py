"""Constants that the tools share with the rest of the component, and their own."""

from typing import Final

from ..const import DOMAIN, LOGGER

__all__ = ["CONF_WEATHER_ENTITY", "CONF_WEATHER_FOR_OTHERS", "DOMAIN", "LOGGER"]

CONF_WEATHER_ENTITY: Final = "weather_entity"
"""Option of a server's entry: the weather that the tool tells."""
CONF_WEATHER_FOR_OTHERS: Final = "weather_for_others"
"""Option of a server's entry: whether Assist has the tool for other integrations' agents, too."""
