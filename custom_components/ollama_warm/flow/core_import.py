"""Agents of Home Assistant's own Ollama integration, as they can be taken over.

They are only read; the entry that they belong to is left as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import probatio
from yarl import URL

from homeassistant.const import (
    CONF_API_KEY,
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_PROMPT,
    CONF_URL,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, llm

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreAgent:
    """An agent of Home Assistant's own integration, in the words of this one."""

    title: str
    url: str
    api_key: str | None
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
            url=url,
            api_key=(settings.get(CONF_API_KEY) or "").strip() or None,
            data=_taken_over(subentry.data, apis),
        )
        for entry in hass.config_entries.async_entries(CORE_DOMAIN)
        if (url := _url(settings := {**entry.data, **entry.options}))
        for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
        if subentry.data.get(CONF_MODEL)
    }


def tidy_url(url: object) -> str:
    """Return the address of a server as it is stored. Raises Invalid if it is none."""
    return str(URL(cv.url(url))).rstrip("/")


def _url(settings: Mapping[str, Any]) -> str | None:
    """Return the address in the settings of an entry, None where there is none."""
    try:
        return tidy_url(settings.get(CONF_URL))
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
        # Ollama loads a model anew when two programs ask for different windows, so the one
        # that core uses where nothing was chosen is taken over, too.
        CONF_NUM_CTX: int(data.get(CONF_NUM_CTX, CORE_NUM_CTX)),
        CONF_MAX_HISTORY: int(data.get(CONF_MAX_HISTORY, DEFAULT_MAX_HISTORY)),
        CONF_KEEP_ALIVE: int(data.get(CONF_KEEP_ALIVE, DEFAULT_KEEP_ALIVE)),
        CONF_THINK: bool(data.get(CONF_THINK, False)),
        CONF_AUTO_WARM: True,
        CONF_WARM_INTERVAL: DEFAULT_WARM_INTERVAL,
    }
