"""Agents of Home Assistant's own Ollama integration, as they can be taken over.

They are only read; the entry that they belong to is left as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import probatio

from homeassistant.const import (
    CONF_API_KEY,
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_PROMPT,
    CONF_URL,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from ..const import (
    CONF_AUTO_WARM,
    CONF_KEEP_ALIVE,
    CONF_MAX_HISTORY,
    CONF_NUM_CTX,
    CONF_THINK,
    CONF_WARM_INTERVAL,
    CORE_DOMAIN,
    CORE_NUM_CTX,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_MAX_HISTORY,
    DEFAULT_WARM_INTERVAL,
    SUBENTRY_CONVERSATION,
)
from ..ollama.address import server_data


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreAgent:
    """An agent of Home Assistant's own integration, in the words of this one."""

    title: str
    server: dict[str, Any]
    """The settings of its server, as an entry of ours has them."""
    data: dict[str, Any]

    @property
    def model(self) -> str:
        """Return the name of its model."""
        return str(self.data[CONF_MODEL])


@callback
def async_core_agents(hass: HomeAssistant) -> dict[str, CoreAgent]:
    """Return all agents that can be taken over, by the id of their subentry."""
    apis = {api.id for api in llm.async_get_apis(hass)}
    return {
        subentry.subentry_id: CoreAgent(
            title=subentry.title,
            server=server,
            data=_taken_over(subentry.data, apis),
        )
        for entry in hass.config_entries.async_entries(CORE_DOMAIN)
        if (server := _server({**entry.data, **entry.options}))
        for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
        if subentry.data.get(CONF_MODEL)
    }


def _server(settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a server as an entry of ours has it, None where there is no address."""
    key = str(settings.get(CONF_API_KEY) or "").strip()
    try:
        return server_data(
            {CONF_URL: settings.get(CONF_URL), **({CONF_API_KEY: key} if key else {})}
        )
    except probatio.Invalid:
        return None


def _taken_over(data: Mapping[str, Any], apis: set[str]) -> dict[str, Any]:
    """Return the options of an agent, without what it may see that is there no longer."""
    chosen = data.get(CONF_LLM_HASS_API) or []
    chosen = [chosen] if isinstance(chosen, str) else chosen
    prompt = {CONF_PROMPT: data[CONF_PROMPT]} if data.get(CONF_PROMPT) else {}
    return {
        CONF_MODEL: data[CONF_MODEL],
        **prompt,
        CONF_LLM_HASS_API: [api for api in chosen if api in apis],
        # Ollama reloads a model when two programs ask for different windows, so the one
        # that core uses where nothing was chosen is taken over, too.
        CONF_NUM_CTX: int(data.get(CONF_NUM_CTX, CORE_NUM_CTX)),
        CONF_MAX_HISTORY: int(data.get(CONF_MAX_HISTORY, DEFAULT_MAX_HISTORY)),
        CONF_KEEP_ALIVE: int(data.get(CONF_KEEP_ALIVE, DEFAULT_KEEP_ALIVE)),
        CONF_THINK: bool(data.get(CONF_THINK, False)),
        CONF_AUTO_WARM: True,
        CONF_WARM_INTERVAL: DEFAULT_WARM_INTERVAL,
    }
