"""The contexts in which an agent is spoken to: the app, and each voice satellite."""

from collections.abc import Iterable

from homeassistant.components import conversation, intent
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er

APP = ""
"""The context without a device: the app, the browser, an automation."""
_SATELLITE_DOMAIN = "assist_satellite"
_PERSON = "user:"


@callback
def async_contexts(hass: HomeAssistant, spoke: Iterable[str]) -> list[str]:
    """Return all contexts: the app, each satellite, and each device that ever spoke.

    Every satellite counts, whichever assistant it uses today: looking at it costs nothing,
    and it may be given another assistant tomorrow.
    """
    devices = {
        entry.device_id
        for entry in er.async_get(hass).entities.values()
        if entry.domain == _SATELLITE_DOMAIN and entry.device_id
    }
    known = dr.async_get(hass)
    devices |= {device for device in spoke if known.async_get(device)}
    return [APP, *sorted(devices)]


@callback
def async_context(hass: HomeAssistant, device_id: str | None) -> str:
    """Return the context of a question; a device that there is not is no other than the app."""
    return device_id if device_id and dr.async_get(hass).async_get(device_id) else APP


@callback
def async_is_satellite(hass: HomeAssistant, device_id: str) -> bool:
    """Return whether a device is a voice satellite."""
    entries = er.async_entries_for_device(er.async_get(hass), device_id, True)  # noqa: FBT003
    return any(entry.domain == _SATELLITE_DOMAIN for entry in entries)


@callback
def traits(hass: HomeAssistant, context: str) -> tuple[bool, bool, bool] | None:
    """Return what Home Assistant's Assist asks of a device, None for a context without one.

    Whether it has an area, whether that has a floor, and whether the device keeps timers. Their
    names are in one sentence only, and that is another one in each room (homeassistant/components/
    intent/llm.py, 2026.10 and 2026.11).
    """
    if not (device := dr.async_get(hass).async_get(context)):
        return None
    area_id = dr.async_get_effective_area_id(hass, device)
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    keeps_timers = intent.async_device_supports_timers(hass, context)
    return area is not None, bool(area and area.floor_id), keeps_timers


def person_context(user_id: str) -> str:
    """Return the name of the context in which this person uses the app."""
    return f"{_PERSON}{user_id}"


def look(context: str, agent_id: str, language: str) -> conversation.ConversationInput:
    """Return an input that no one spoke, to see what Home Assistant builds in a context."""
    person = context.removeprefix(_PERSON) if context.startswith(_PERSON) else None
    return conversation.ConversationInput(
        text="",
        context=Context(user_id=person),
        conversation_id=None,
        device_id=None if person or context == APP else context,
        satellite_id=None,
        language=language,
        agent_id=agent_id,
    )
