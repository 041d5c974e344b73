"""Which assistant each satellite talks to, and when it takes a sentence for finished."""

from homeassistant.components.assist_pipeline import AssistPipelineSelect, VadSensitivitySelect
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .data import HouseEntry
from .entity import satellite_device
from .house import ROOMS, Room


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Give every satellite its two selects."""
    async_add_entities(HousePipelineSelect(hass, room) for room in ROOMS)
    async_add_entities(HouseVadSensitivitySelect(hass, room) for room in ROOMS)


class HousePipelineSelect(AssistPipelineSelect):
    """The select that names the pipeline of a satellite."""

    _attr_has_entity_name = True

    def __init__(self, hass: HomeAssistant, room: Room) -> None:
        """Belong to the satellite of the room."""
        super().__init__(hass, DOMAIN, room.satellite_key)
        self.entity_id = f"{Platform.SELECT}.{room.satellite_key}_assistant"
        self._attr_device_info = satellite_device(room)


class HouseVadSensitivitySelect(VadSensitivitySelect):
    """The select that says how long a pause ends a sentence."""

    _attr_has_entity_name = True

    def __init__(self, hass: HomeAssistant, room: Room) -> None:
        """Belong to the satellite of the room."""
        super().__init__(hass, room.satellite_key)
        self.entity_id = f"{Platform.SELECT}.{room.satellite_key}_finished_speaking"
        self._attr_device_info = satellite_device(room)
