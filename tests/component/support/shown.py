"""What is shown of an agent: the states of its entities, by their keys."""

from typing import Any
from unittest.mock import patch

from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.ollama.client import OllamaClient
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er

from .server import NUM_CTX


def entity_of(hass: HomeAssistant, platform: str, key: str, owner: str = "agent") -> str:
    """Return the id of an entity of an agent or server."""
    entity_id = er.async_get(hass).async_get_entity_id(platform, DOMAIN, f"{owner}_{key}")
    assert entity_id is not None, key
    return entity_id


def state_of(hass: HomeAssistant, platform: str, key: str, owner: str = "agent") -> State:
    """Return the state of an entity of an agent or server."""
    state = hass.states.get(entity_of(hass, platform, key, owner))
    assert state is not None, key
    return state


def shown(hass: HomeAssistant, key: str, owner: str = "agent") -> str:
    """Return the value of a sensor."""
    return state_of(hass, "sensor", key, owner).state


def warm(hass: HomeAssistant) -> str:
    """Return whether an agent is shown as warm."""
    return state_of(hass, "binary_sensor", "warm").state


def all_enabled() -> Any:  # noqa: ANN401 (a patch)
    """Have all entities enabled, also those that one has to enable."""
    return patch(
        "homeassistant.helpers.entity.Entity.entity_registry_enabled_default", return_value=True
    )


def says_loaded(**models: int) -> Any:  # noqa: ANN401 (a patch)
    """Have a server say that it has these models loaded, with these context lengths."""
    listed = [{"name": f"{name}:latest", "context_length": size} for name, size in models.items()]
    return patch.object(OllamaClient, "loaded", return_value=listed)


def says_all_is_well() -> Any:  # noqa: ANN401 (a patch)
    """Have a server say that it has the model as the agent loads it."""
    return says_loaded(tiny=NUM_CTX)
