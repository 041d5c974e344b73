"""Speech-to-text for satellites without a microphone: the audio is the text itself."""

from collections.abc import AsyncIterable
from typing import override

from homeassistant.components.stt import (
    AudioBitRates,
    AudioChannels,
    AudioCodecs,
    AudioFormats,
    AudioSampleRates,
    SpeechMetadata,
    SpeechResult,
    SpeechResultState,
    SpeechToTextEntity,
)
from homeassistant.components.stt.models import SpeechAudioProcessing
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .data import HouseEntry


async def async_setup_entry(
    hass: HomeAssistant, entry: HouseEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Offer the one engine."""
    async_add_entities([HouseSpeechToText()])


class HouseSpeechToText(SpeechToTextEntity):
    """An engine that never mishears."""

    _attr_name = "Demonstration ears"
    _attr_unique_id = f"{DOMAIN}_ears"

    @property
    @override
    def supported_languages(self) -> list[str]:
        """Return the languages it understands."""
        return ["de", "en", "es", "fr", "it", "nl"]

    @property
    @override
    def supported_formats(self) -> list[AudioFormats]:
        """Return what a satellite sends."""
        return [AudioFormats.WAV]

    @property
    @override
    def supported_codecs(self) -> list[AudioCodecs]:
        """Return what a satellite sends."""
        return [AudioCodecs.PCM]

    @property
    @override
    def supported_bit_rates(self) -> list[AudioBitRates]:
        """Return what a satellite sends."""
        return [AudioBitRates.BITRATE_16]

    @property
    @override
    def supported_sample_rates(self) -> list[AudioSampleRates]:
        """Return what a satellite sends."""
        return [AudioSampleRates.SAMPLERATE_16000]

    @property
    @override
    def supported_channels(self) -> list[AudioChannels]:
        """Return what a satellite sends."""
        return [AudioChannels.CHANNEL_MONO]

    @property
    @override
    def audio_processing(self) -> SpeechAudioProcessing:
        """Return that nothing may listen for the end of speech: there is no sound in the text."""
        return SpeechAudioProcessing(
            requires_external_vad=False,
            prefers_auto_gain_enabled=False,
            prefers_noise_reduction_enabled=False,
        )

    @override
    async def async_process_audio_stream(
        self, metadata: SpeechMetadata, stream: AsyncIterable[bytes]
    ) -> SpeechResult:
        """Read the text out of the stream."""
        text = b"".join([chunk async for chunk in stream]).rstrip(b"\0").decode()
        return SpeechResult(text, SpeechResultState.SUCCESS)
