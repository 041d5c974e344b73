"""An event for each warm-up that did not do what it should, for the logbook and automations.

Says of what kind the reason is, and nothing of anyone's words or names.
"""

from typing import Final

from homeassistant.components.conversation import ConverseError
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN
from .turns import Turn

EVENT_NOT_WARMED: Final = f"{DOMAIN}_not_warmed"
ATTR_REASON: Final = "reason"
ATTR_RE_READ_TOKENS: Final = "re_read_tokens"
FAILED: Final = "failed"
NO_PROMPT: Final = "no_prompt"


@callback
def async_report_not_warm(hass: HomeAssistant, entity_id: str, turn: Turn) -> None:
    """Report that a warm-up of an agent could not be confirmed."""
    hass.bus.async_fire(
        EVENT_NOT_WARMED,
        {
            ATTR_ENTITY_ID: entity_id,
            ATTR_REASON: turn.reason.value,
            ATTR_RE_READ_TOKENS: turn.re_read_tokens,
        },
    )


@callback
def async_report_failed(hass: HomeAssistant, entity_id: str, err: HomeAssistantError) -> None:
    """Report that an agent could not be warmed at all."""
    own = err.translation_key if err.translation_domain == DOMAIN else None
    reason = NO_PROMPT if isinstance(err, ConverseError) else own or FAILED
    hass.bus.async_fire(
        EVENT_NOT_WARMED,
        {ATTR_ENTITY_ID: entity_id, ATTR_REASON: reason, ATTR_RE_READ_TOKENS: None},
    )
