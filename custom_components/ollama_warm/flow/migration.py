"""Entries of earlier versions: what held for them goes on to hold, one small step per version."""

import probatio

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.util import slugify

from ..const import CONF_WEATHER_FOR_OTHERS, DOMAIN
from ..ollama.address import server_data, without_secrets

MINOR_VERSION = 3


async def async_migrate_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Bring an entry to today's version; of a later one everything that is known stays."""
    if entry.minor_version < 2:  # noqa: PLR2004 - the version that this step leads to
        _keep_weather_for_others(hass, entry)
    if entry.minor_version < 3:  # noqa: PLR2004 - the version that this step leads to
        _part_address_and_credential(hass, entry)
    return True


@callback
def _keep_weather_for_others(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Leave the weather tool with the agents of other integrations, which had it unasked."""
    hass.config_entries.async_update_entry(
        entry, options={CONF_WEATHER_FOR_OTHERS: True, **entry.options}, minor_version=2
    )


@callback
def _part_address_and_credential(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Store the user info of the address as the credential, and take it out of all names."""
    before, data = entry.title, dict(entry.data)
    try:
        data = server_data(entry.data)
    except probatio.Invalid:
        # Such an entry can't be set up, and is mended by its owner in the form.
        title = without_secrets(before)
    else:
        named = before == entry.data[CONF_URL]
        title = data[CONF_URL] if named else without_secrets(before)
    hass.config_entries.async_update_entry(entry, data=data, title=title, minor_version=3)
    if title != before:
        _rename(hass, entry, before)


@callback
def _rename(hass: HomeAssistant, entry: ConfigEntry, before: str) -> None:
    """Give the server's device and entities the title of now where they had that of before."""
    devices, entities = dr.async_get(hass), er.async_get(hass)
    if device := devices.async_get_device(identifiers={(DOMAIN, entry.entry_id)}):
        devices.async_update_device(device.id, name=entry.title)
    old, new = slugify(before), slugify(entry.title)
    for entity in er.async_entries_for_config_entry(entities, entry.entry_id):
        domain, _, object_id = entity.entity_id.partition(".")
        if old in object_id:
            free = entities.async_get_available_entity_id(domain, object_id.replace(old, new))
            entities.async_update_entity(entity.entity_id, new_entity_id=free)
