"""Entries of earlier versions: what held for them goes on to hold, one small step per version."""

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..tools.const import CONF_WEATHER_FOR_OTHERS

MINOR_VERSION = 2


async def async_migrate_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Bring an entry to today's version; of a later one everything that is known stays."""
    if entry.minor_version < 2:  # noqa: PLR2004 - the version that this step leads to
        _keep_weather_for_others(hass, entry)
    return True


@callback
def _keep_weather_for_others(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Leave the weather tool with the agents of other integrations, which had it unasked."""
    hass.config_entries.async_update_entry(
        entry, options={CONF_WEATHER_FOR_OTHERS: True, **entry.options}, minor_version=2
    )
