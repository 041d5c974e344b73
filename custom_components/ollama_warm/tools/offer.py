"""The tools as an API of their own, for agents that do not use Assist."""

from collections.abc import Sequence
from typing import Final, override

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
    ConfigEntryState,
)
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.llm import (
    API,
    LLM_API_ASSIST,
    APIInstance,
    LLMContext,
    Tool,
    async_register_api,
    selector_serializer,
)
from homeassistant.util.hass_dict import HassKey

from ..const import CONF_WEATHER_FOR_OTHERS, DOMAIN
from .date_time import DateTimeTool
from .meteo import MeteoTool
from .source import async_is_offered

API_NAME: Final = "Ollama Warm tools"
# By being one and the same a tool shows a merged API that it is not another one.
_METEO = MeteoTool()
_DATE_TIME = DateTimeTool()
# Home Assistant puts a clock of its own into each of these.
_APIS_WITH_CLOCK = frozenset({LLM_API_ASSIST, "homeassistant"})


class OllamaWarmAPI(API):
    """Weather, date and time, and nothing to control."""

    @override
    async def async_get_api_instance(self, llm_context: LLMContext) -> APIInstance:
        """Return the tools."""
        return APIInstance(
            api=self,
            api_prompt="",
            llm_context=llm_context,
            tools=async_tools(self.hass, llm_context, self.id),
            custom_serializer=selector_serializer,
        )


class _Offer:
    """What other integrations' agents are offered, until the last entry of ours goes."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._withdraw: CALLBACK_TYPE | None = None
        self.has_tools = True
        self._offer_api()
        async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._entry_changed)

    @callback
    def _entry_changed(self, _change: ConfigEntryChange, entry: ConfigEntry) -> None:
        """Look again: a server that is away takes no tool from another integration's agent."""
        if entry.domain != DOMAIN:
            return
        entries = self._hass.config_entries.async_entries(DOMAIN, include_disabled=False)
        self.has_tools = any(entry.state is not ConfigEntryState.NOT_LOADED for entry in entries)
        if entries:
            self._offer_api()
        elif self._withdraw is not None:
            self._withdraw()
            self._withdraw = None

    @callback
    def _offer_api(self) -> None:
        """Offer the API. It stays while an entry is set up again, or its agents would fail."""
        if self._withdraw is None:
            api = OllamaWarmAPI(hass=self._hass, id=DOMAIN, name=API_NAME)
            self._withdraw = async_register_api(self._hass, api)


_OFFER: HassKey[_Offer] = HassKey(f"{DOMAIN}_tools")


@callback
def async_offer_tools(hass: HomeAssistant) -> None:
    """Offer the API and the tools to all agents, as long as there is an entry of ours."""
    hass.data[_OFFER] = _Offer(hass)


@callback
def async_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> list[Tool]:
    """Return the tools of an API: Assist has a clock, ours needs one.

    Whoever chose our API is offered them; with Assist, our own agents and whom an option names.
    """
    tools: list[Tool] = []
    if _OFFER not in hass.data or not hass.data[_OFFER].has_tools:
        return tools
    if api_id == DOMAIN and _APIS_WITH_CLOCK.isdisjoint(_chosen_apis(hass, llm_context)):
        tools.append(_DATE_TIME)
    is_wanted = DOMAIN in (api_id, llm_context.platform) or _is_for_others(hass)
    if is_wanted and async_is_offered(hass, llm_context.assistant):
        tools.append(_METEO)
    return tools


def without_duplicates(apis: Sequence[str] | None) -> list[str] | None:
    """Return the APIs of an agent without ours where Assist is among them: it has all of it."""
    if apis and LLM_API_ASSIST in apis:
        return [api for api in apis if api != DOMAIN]
    return list(apis) if apis else None


@callback
def _is_for_others(hass: HomeAssistant) -> bool:
    """Return whether the weather was chosen to be reported by other integrations' agents, too."""
    entries = hass.config_entries.async_entries(DOMAIN, include_disabled=False)
    return any(entry.options.get(CONF_WEATHER_FOR_OTHERS) for entry in entries)


@callback
def _chosen_apis(hass: HomeAssistant, llm_context: LLMContext) -> Sequence[str]:
    """Return all APIs of the agent that asks, as far as that is known.

    From Home Assistant 2026.11 on a context names its agent.
    """
    agent_id: str | None = getattr(llm_context, "agent_id", None)
    entity = er.async_get(hass).async_get(agent_id) if agent_id else None
    if entity is None or entity.config_entry_id is None or entity.config_subentry_id is None:
        return ()
    entry = hass.config_entries.async_get_entry(entity.config_entry_id)
    subentry = entry.subentries.get(entity.config_subentry_id) if entry else None
    apis = subentry.data.get(CONF_LLM_HASS_API) if subentry else None
    return [apis] if isinstance(apis, str) else apis or ()
