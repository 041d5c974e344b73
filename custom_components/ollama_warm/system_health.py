"""What Home Assistant's system information says of the servers and agents."""

from typing import Any

from homeassistant.components import system_health
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import STATE_ON, Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.loader import async_get_integration

from .binary_sensor import WARM
from .const import DOMAIN, SUBENTRY_CONVERSATION
from .problems.disabled import async_is_disabled


@callback
def async_register(
    hass: HomeAssistant,  # noqa: ARG001 - the platform's signature
    register: system_health.SystemHealthRegistration,
) -> None:
    """Offer the information."""
    register.async_register_info(system_health_info)


async def system_health_info(hass: HomeAssistant) -> dict[str, Any]:
    """Return how many servers answer and how many agents are known to be warm, of how many."""
    entries = hass.config_entries.async_entries(DOMAIN, include_disabled=False)
    reached = [
        entry.runtime_data.data.version
        for entry in entries
        if entry.state is ConfigEntryState.LOADED and entry.runtime_data.last_update_success
    ]
    agents = [
        subentry.subentry_id
        for entry in entries
        for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
        if not async_is_disabled(hass, subentry.subentry_id)
    ]
    warm = sum(_is_warm(hass, agent) for agent in agents)
    integration = await async_get_integration(hass, DOMAIN)
    return {
        "version": str(integration.version),
        "servers_reachable": f"{len(reached)}/{len(entries)}",
        "server_versions": ", ".join(sorted(set(reached))),
        "agents_warm": f"{warm}/{len(agents)}",
    }


def _is_warm(hass: HomeAssistant, subentry_id: str) -> bool:
    """Return whether an agent's sensor says that it is warm."""
    unique_id = f"{subentry_id}_{WARM.key}"
    entity_id = er.async_get(hass).async_get_entity_id(Platform.BINARY_SENSOR, DOMAIN, unique_id)
    return entity_id is not None and hass.states.is_state(entity_id, STATE_ON)
