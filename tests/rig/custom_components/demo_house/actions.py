"""Actions that change the house while it is lived in."""

from typing import NamedTuple

import probatio

from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME, Platform
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import (
    config_validation as cv,
    device_registry as dr,
    entity_registry as er,
)

from . import house
from .const import DOMAIN, OPTION_ADDED, OPTION_REMOVED
from .data import house_entry

ADD_LIGHT_SCHEMA = probatio.Schema(
    {probatio.Required(ATTR_NAME): cv.string, probatio.Required("area"): cv.string}
)
RENAME_SCHEMA = probatio.Schema(
    {probatio.Required(ATTR_ENTITY_ID): cv.entity_id, probatio.Required(ATTR_NAME): cv.string}
)
SAY_SCHEMA = probatio.Schema(
    {
        probatio.Required(ATTR_ENTITY_ID): cv.entity_id,
        probatio.Required("text"): cv.string,
        probatio.Optional("seconds", default=0): probatio.Coerce(float),
    }
)
REMOVE_SCHEMA = probatio.Schema({probatio.Required(ATTR_ENTITY_ID): cv.entity_id})


def async_setup_actions(hass: HomeAssistant) -> None:
    """Register the actions."""
    hass.services.async_register(
        DOMAIN, "add_light", _add_light, ADD_LIGHT_SCHEMA, SupportsResponse.OPTIONAL
    )
    hass.services.async_register(DOMAIN, "rename", _rename, RENAME_SCHEMA)
    hass.services.async_register(DOMAIN, "remove", _remove, REMOVE_SCHEMA)
    hass.services.async_register(DOMAIN, "say", _say, SAY_SCHEMA, SupportsResponse.OPTIONAL)


async def _add_light(call: ServiceCall) -> ServiceResponse:
    """Carry a new light into a room; it stays there over restarts."""
    entry = house_entry(call.hass)
    if entry.runtime_data.add_light is None:
        raise ServiceValidationError("The lights are not set up yet")
    name, area = call.data[ATTR_NAME], call.data["area"]
    light = house.Thing(Platform.LIGHT, name, area, exposed=None)
    added = list(entry.options.get(OPTION_ADDED, ()))
    removed = [key for key in entry.options.get(OPTION_REMOVED, ()) if key != light.key]
    added.append({"platform": light.platform, "name": name, "area": area})
    call.hass.config_entries.async_update_entry(
        entry, options={OPTION_ADDED: added, OPTION_REMOVED: removed}
    )
    return {"entity_id": await entry.runtime_data.add_light(light)}


async def _rename(call: ServiceCall) -> None:
    """Give a thing another name, as its owner would in the settings dialog."""
    device_id = _known(call).device_id
    dr.async_get(call.hass).async_update_device(device_id, name_by_user=call.data[ATTR_NAME])


async def _remove(call: ServiceCall) -> None:
    """Throw a thing away, with its device; it stays away over restarts."""
    entity = _known(call)
    entry = house_entry(call.hass)
    added = [
        thing
        for thing in entry.options.get(OPTION_ADDED, ())
        if house.Thing(**thing).key != entity.unique_id
    ]
    removed = [*entry.options.get(OPTION_REMOVED, ()), entity.unique_id]
    call.hass.config_entries.async_update_entry(
        entry, options={OPTION_ADDED: added, OPTION_REMOVED: removed}
    )
    # The device takes its entities along.
    dr.async_get(call.hass).async_remove_device(entity.device_id)


async def _say(call: ServiceCall) -> ServiceResponse:
    """Say the wake word and some words in front of a satellite; return what came of it."""
    data = house_entry(call.hass).runtime_data
    satellite = data.satellites.get(call.data[ATTR_ENTITY_ID])
    if satellite is None:
        raise ServiceValidationError(f"{call.data[ATTR_ENTITY_ID]} is no satellite of this house")
    return await satellite(call.data["text"], call.data["seconds"], call.context)


class _Known(NamedTuple):
    unique_id: str
    device_id: str


def _known(call: ServiceCall) -> _Known:
    """Return which thing of the house the call is about."""
    entity = er.async_get(call.hass).async_get(call.data[ATTR_ENTITY_ID])
    if entity is None or entity.platform != DOMAIN or entity.device_id is None:
        raise ServiceValidationError(f"{call.data[ATTR_ENTITY_ID]} is no thing of this house")
    return _Known(entity.unique_id, entity.device_id)
