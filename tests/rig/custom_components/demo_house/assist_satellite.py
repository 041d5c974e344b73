"""The voice satellites: no microphone, everything else as on a real one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, override

from homeassistant.components import intent
from homeassistant.components.assist_pipeline import PipelineEvent, PipelineEventType
from homeassistant.components.assist_pipeline.models import PipelineStage
from homeassistant.components.assist_satellite import (
    AssistSatelliteConfiguration,
    AssistSatelliteEntity,
)
from homeassistant.const import Platform
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .data import HouseData, HouseEntry
from .entity import satellite_device
from .house import ROOMS, Room

BYTES_PER_CHUNK = 320


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put a satellite into every room."""
    async_add_entities(HouseSatellite(room, entry.runtime_data) for room in ROOMS)


class HouseSatellite(AssistSatelliteEntity):
    """A satellite that hears what an action says in its room."""

    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, room: Room, house: HouseData) -> None:
        """Stand in the room."""
        self.room = room
        self.house = house
        self._timers: dict[str, str] = {}
        self._events: list[PipelineEvent] = []
        self.entity_id = f"{Platform.ASSIST_SATELLITE}.{room.satellite_key}"
        self._attr_unique_id = room.satellite_key
        self._attr_device_info = satellite_device(room)

    @override
    async def async_added_to_hass(self) -> None:
        """Offer to keep timers, if this satellite can."""
        await super().async_added_to_hass()
        self.house.satellites[self.entity_id] = self._hear
        if self.room.keeps_timers and self.registry_entry and self.registry_entry.device_id:
            self.async_on_remove(
                intent.async_register_timer_handler(
                    self.hass, self.registry_entry.device_id, self._on_timer
                )
            )

    @property
    @override
    def pipeline_entity_id(self) -> str | None:
        """Return the select that names the pipeline."""
        return self._select("pipeline")

    @property
    @override
    def vad_sensitivity_entity_id(self) -> str | None:
        """Return the select that says when a sentence is finished."""
        return self._select("vad_sensitivity")

    @property
    @override
    def extra_state_attributes(self) -> dict[str, Any]:
        """Show what a test cannot ask Home Assistant for."""
        return {"keeps_timers": self.room.keeps_timers, "timers": list(self._timers.values())}

    @callback
    @override
    def async_get_configuration(self) -> AssistSatelliteConfiguration:
        """Return that there is no choice of wake words."""
        return AssistSatelliteConfiguration([], [], 1)

    @override
    async def async_set_configuration(self, config: AssistSatelliteConfiguration) -> None:
        """Take no other wake words."""

    @callback
    @override
    def on_pipeline_event(self, event: PipelineEvent) -> None:
        """Keep what happened for whoever spoke."""
        self._events.append(event)

    async def _hear(self, text: str, seconds: float, context: Context) -> dict[str, Any]:
        """Hear the wake word, then somebody who takes some time to say the text.

        This is the way of a real satellite: the pipeline is started when the wake word falls,
        the conversation agent is prepared then and asked when the words have been understood.
        """
        self._events = []
        await self.async_accept_pipeline_from_satellite(
            _speech(text, seconds),
            start_stage=PipelineStage.STT,
            end_stage=PipelineStage.INTENT,
            wake_word_phrase="okay house",
            context=context,
        )
        for event in self._events:
            if event.type is PipelineEventType.INTENT_END and event.data:
                return {"reply": event.data["intent_output"]}
            if event.type is PipelineEventType.ERROR:
                return {"error": event.data}
        return {}

    def _select(self, key: str) -> str | None:
        return er.async_get(self.hass).async_get_entity_id(
            Platform.SELECT, DOMAIN, f"{self.room.satellite_key}-{key}"
        )

    @callback
    def _on_timer(self, event: intent.TimerEventType, timer: intent.TimerInfo) -> None:
        """Follow the timers that were set at this satellite."""
        if event in (intent.TimerEventType.CANCELLED, intent.TimerEventType.FINISHED):
            self._timers.pop(timer.id, None)
        else:
            self._timers[timer.id] = timer.name or f"{timer.created_seconds} s"
        self.async_write_ha_state()


async def _speech(text: str, seconds: float) -> AsyncIterator[bytes]:
    """Give the text as if it were audio; the house's own speech-to-text understands it."""
    await asyncio.sleep(seconds)
    words = text.encode()
    # Home Assistant passes whole chunks of ten milliseconds on and forgets the rest.
    yield words.ljust(-(-len(words) // BYTES_PER_CHUNK) * BYTES_PER_CHUNK, b"\0")
