"""Speakers and the television."""

from typing import override

from homeassistant.components.media_player import MediaPlayerEntity
from homeassistant.components.media_player.const import MediaPlayerEntityFeature, MediaPlayerState
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .data import HouseEntry
from .entity import HouseEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Put the players up."""
    async_add_entities(HousePlayer(thing) for thing in entry.runtime_data.of("media_player"))


class HousePlayer(HouseEntity, MediaPlayerEntity):
    """A player that makes no sound."""

    _attr_state = MediaPlayerState.OFF
    _attr_volume_level = 0.5
    _attr_supported_features = (
        MediaPlayerEntityFeature.TURN_ON
        | MediaPlayerEntityFeature.TURN_OFF
        | MediaPlayerEntityFeature.PLAY
        | MediaPlayerEntityFeature.PAUSE
        | MediaPlayerEntityFeature.NEXT_TRACK
        | MediaPlayerEntityFeature.VOLUME_SET
    )

    @override
    async def async_turn_on(self) -> None:
        """Turn the player on."""
        self._change_to(MediaPlayerState.IDLE)

    @override
    async def async_turn_off(self) -> None:
        """Turn the player off."""
        self._change_to(MediaPlayerState.OFF)

    @override
    async def async_media_play(self) -> None:
        """Play."""
        self._change_to(MediaPlayerState.PLAYING)

    @override
    async def async_media_pause(self) -> None:
        """Pause."""
        self._change_to(MediaPlayerState.PAUSED)

    @override
    async def async_media_next_track(self) -> None:
        """Play the next piece."""
        self._change_to(MediaPlayerState.PLAYING)

    @override
    async def async_set_volume_level(self, volume: float) -> None:
        """Set the volume."""
        self._attr_volume_level = volume
        self.async_write_ha_state()

    def _change_to(self, state: MediaPlayerState) -> None:
        self._attr_state = state
        self.async_write_ha_state()
