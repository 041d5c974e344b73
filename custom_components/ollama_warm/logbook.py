"""Lines of the logbook for warm-ups that did not do what they should."""

from collections.abc import Callable
from typing import Any

from homeassistant.components.logbook.const import (
    LOGBOOK_ENTRY_ENTITY_ID,
    LOGBOOK_ENTRY_MESSAGE,
    LOGBOOK_ENTRY_NAME,
)
from homeassistant.components.logbook.models import LazyEventPartialState
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.translation import async_get_cached_translations

from .const import DOMAIN
from .turns.events import ATTR_REASON, EVENT_NOT_WARMED, FAILED


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[
        [str, str, Callable[[LazyEventPartialState], dict[str, Any]]], None
    ],
) -> None:
    """Describe the event of such a warm-up."""

    @callback
    def describe(event: LazyEventPartialState) -> dict[str, Any]:
        """Return a sentence in the language of the house, whose subject is the agent."""
        entity_id = event.data[ATTR_ENTITY_ID]
        state = hass.states.get(entity_id)
        texts = async_get_cached_translations(hass, hass.config.language, "common", DOMAIN)
        prefix = f"component.{DOMAIN}.common.not_warmed"
        return {
            LOGBOOK_ENTRY_NAME: state.name if state else entity_id,
            LOGBOOK_ENTRY_MESSAGE: texts.get(
                f"{prefix}_{event.data[ATTR_REASON]}", texts.get(f"{prefix}_{FAILED}")
            ),
            LOGBOOK_ENTRY_ENTITY_ID: entity_id,
        }

    async_describe_event(DOMAIN, EVENT_NOT_WARMED, describe)
