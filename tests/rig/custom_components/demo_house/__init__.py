"""A demonstration house: six rooms, a voice satellite in each, and a hundred exposed things."""

from dataclasses import replace

import probatio

from homeassistant.config_entries import SOURCE_IMPORT
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr
from homeassistant.helpers.typing import ConfigType

from .actions import async_setup_actions
from .const import CONF_EXTRA_ENTITIES, DOMAIN, OPTION_ADDED, OPTION_REMOVED, PLATFORMS
from .data import HouseData, HouseEntry
from .house import ROOMS, THINGS, Thing, extra_things

CONFIG_SCHEMA = probatio.Schema(
    {
        DOMAIN: probatio.Any(
            None, {probatio.Optional(CONF_EXTRA_ENTITIES, default=0): probatio.All(int)}
        )
    },
    extra=probatio.ALLOW_EXTRA,
)


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Build the house that configuration.yaml asks for."""
    async_setup_actions(hass)
    hass.data[DOMAIN] = (config.get(DOMAIN) or {}).get(CONF_EXTRA_ENTITIES, 0)
    if not hass.config_entries.async_entries(DOMAIN):
        hass.async_create_task(
            hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_IMPORT}, data={})
        )
    return True


async def async_setup_entry(hass: HomeAssistant, entry: HouseEntry) -> bool:
    """Set up all things that stand in the house today."""
    _set_up_areas(hass)
    removed = set(entry.options.get(OPTION_REMOVED, ()))
    added = [Thing(**thing) for thing in entry.options.get(OPTION_ADDED, ())]
    # What was carried in by an action is exposed or not as Home Assistant decides for new things.
    planned = [*THINGS, *extra_things(hass.data[DOMAIN])]
    planned += [replace(thing, exposed=None) for thing in added]
    entry.runtime_data = HouseData([thing for thing in planned if thing.key not in removed])
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: HouseEntry) -> bool:
    """Take the house down again."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


def _set_up_areas(hass: HomeAssistant) -> None:
    """Make the rooms and put them on their floors; what the owner changed stays changed."""
    areas, floors = ar.async_get(hass), fr.async_get(hass)
    for room in ROOMS:
        floor = floors.async_get_floor_by_name(room.floor) or floors.async_create(room.floor)
        area = areas.async_get_or_create(room.name)
        if area.floor_id is None:
            areas.async_update(area.id, floor_id=floor.floor_id)
