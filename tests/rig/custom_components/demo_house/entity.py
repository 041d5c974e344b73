"""What all things of the demonstration house have in common."""

from typing import override

from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.util import slugify

from .const import DOMAIN
from .house import Room, Thing


class HouseEntity(Entity):
    """A thing that is the only entity of its device."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_should_poll = False

    def __init__(self, thing: Thing) -> None:
        """Take name, room and identity from the plan of the house."""
        self.thing = thing
        # Home Assistant would put the room in front of a name that begins with it already.
        self.entity_id = f"{thing.platform}.{slugify(thing.name)}"
        self._attr_unique_id = thing.key
        self._attr_device_class = thing.device_class
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, thing.key)},
            name=thing.name,
            suggested_area=thing.area,
        )

    @override
    def get_initial_entity_options(self) -> er.EntityOptionsType | None:
        """Say whether the thing is exposed, before anybody can ask.

        Setting it after the entity was added would race with whoever asks in between, because
        the answer is stored at the first question.
        """
        options = super().get_initial_entity_options()
        if self.thing.exposed is None:
            return options
        return {**(options or {}), "conversation": {"should_expose": self.thing.exposed}}


def satellite_device(room: Room) -> DeviceInfo:
    """Describe the voice satellite of a room."""
    return DeviceInfo(
        identifiers={(DOMAIN, room.satellite_key)},
        name=f"{room.name} Satellite",
        manufacturer="Demonstration",
        model="Voice satellite",
        suggested_area=room.name,
    )
