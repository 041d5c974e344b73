"""Agents whose conversation entity is disabled: they are not set up, so nothing warms them.

Home Assistant has no switch for a subentry; its entity is disabled, or its device is with all of
its entities. It sets an entry up again by itself when an entity is enabled, and only then.
"""

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from ..const import DOMAIN
from ..coordinator import OllamaWarmConfigEntry


@callback
def async_is_disabled(hass: HomeAssistant, subentry_id: str, domain: str = DOMAIN) -> bool:
    """Return whether no one can talk to an agent of an integration, as its entity is disabled."""
    registry = er.async_get(hass)
    entity_id = registry.async_get_entity_id(CONVERSATION_DOMAIN, domain, subentry_id)
    registered = registry.async_get(entity_id) if entity_id else None
    return registered is not None and registered.disabled


@callback
def async_reload_when_disabled(hass: HomeAssistant, entry: OllamaWarmConfigEntry) -> CALLBACK_TYPE:
    """Set an entry up again, without the agent, when one of its agents is disabled.

    That may be at its very first set-up, where new entities are to be disabled.
    """
    scheduled = False

    @callback
    def look(_event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        nonlocal scheduled
        if not scheduled and any(async_is_disabled(hass, key) for key in entry.runtime_data.agents):
            scheduled = True
            hass.config_entries.async_schedule_reload(entry.entry_id)

    return hass.bus.async_listen(er.EVENT_ENTITY_REGISTRY_UPDATED, look)
