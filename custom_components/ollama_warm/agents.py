"""The agents of all servers by their entities."""

from collections.abc import Iterator
from dataclasses import dataclass

from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er

from .agent.agent import Agent
from .const import DOMAIN, SUBENTRY_CONVERSATION
from .coordinator import OllamaWarmConfigEntry, OllamaWarmCoordinator
from .turns.turn_log import LoggedTurn, async_turn_log


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent that is set up, its entity and its server."""

    entity_id: str
    subentry: ConfigSubentry
    coordinator: OllamaWarmCoordinator

    @property
    def agent(self) -> Agent:
        """Return the agent itself."""
        return self.coordinator.agents[self.subentry.subentry_id]

    def last_turns(self, count: int) -> list[LoggedTurn]:
        """Return at most so many of its last turns, the oldest first."""
        log = async_turn_log(self.coordinator.hass, self.subentry.subentry_id)
        return list(log)[max(len(log) - count, 0) :]


@callback
def async_known_agents(hass: HomeAssistant) -> Iterator[KnownAgent]:
    """Yield the agents of all servers that are set up."""
    registry = er.async_get(hass)
    entries: list[OllamaWarmConfigEntry] = hass.config_entries.async_loaded_entries(DOMAIN)
    for entry in entries:
        for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION):
            entity_id = registry.async_get_entity_id(
                CONVERSATION_DOMAIN, DOMAIN, subentry.subentry_id
            )
            # An agent that has just been added is there after the reload that follows.
            if entity_id and subentry.subentry_id in entry.runtime_data.agents:
                yield KnownAgent(entity_id, subentry, entry.runtime_data)


@callback
def async_find_agent(hass: HomeAssistant, entity_id: str) -> KnownAgent:
    """Return the agent of an entity. Raises ServiceValidationError if there is none set up."""
    if not async_is_agent(hass, entity_id):
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="not_an_agent",
            translation_placeholders={"entity_id": entity_id},
        )
    for known in async_known_agents(hass):
        if known.entity_id == entity_id:
            return known
    raise ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key="agent_not_loaded",
        translation_placeholders={"entity_id": entity_id},
    )


@callback
def async_is_agent(hass: HomeAssistant, entity_id: str, *, enabled: bool = False) -> bool:
    """Return whether an entity is an agent of ours, set up or not; if asked, an enabled one."""
    registered = er.async_get(hass).async_get(entity_id)
    return (
        registered is not None
        and registered.platform == DOMAIN
        and registered.domain == CONVERSATION_DOMAIN
        and not (enabled and registered.disabled)
    )
