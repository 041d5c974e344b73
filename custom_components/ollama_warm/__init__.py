"""Ollama Warm: one prompt prefix for every room, kept warm and proven so."""

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.typing import ConfigType

from .agent.agent import Agent
from .agent.permits import async_forget_tools
from .agent.store import PrefixStore
from .const import DOMAIN, SUBENTRY_CONVERSATION
from .coordinator import OllamaWarmConfigEntry, OllamaWarmCoordinator
from .flow.migration import async_migrate_entry as async_migrate_entry
from .ollama.client import OllamaClient
from .ollama.server import Server
from .problems.disabled import async_is_disabled, async_reload_when_disabled
from .problems.issues import async_setup_issues, async_watch_issues
from .services import async_setup_services
from .tools.offer import async_offer_tools
from .turns.turn_log import async_forget_turns
from .websocket_api import async_setup_websocket_api

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS = [
    Platform.BINARY_SENSOR,
    Platform.BUTTON,
    Platform.CONVERSATION,
    Platform.SENSOR,
]


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:  # noqa: ARG001 - its form
    """Register what is there once for all servers."""
    async_offer_tools(hass)
    async_setup_services(hass)
    async_setup_websocket_api(hass)
    async_setup_issues(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: OllamaWarmConfigEntry) -> bool:
    """Set up a server and its agents."""
    client = OllamaClient.of(async_get_clientsession(hass), entry.data)
    server, store = Server(client=client), PrefixStore(hass, entry.entry_id)
    await store.async_load()
    agents = {
        subentry.subentry_id: Agent(hass, subentry, server, store)
        for subentry in entry.get_subentries_of_type(SUBENTRY_CONVERSATION)
        if not async_is_disabled(hass, subentry.subentry_id)
    }
    coordinator = OllamaWarmCoordinator(hass, entry, server, store, agents)
    try:
        await coordinator.async_config_entry_first_refresh()
    except HomeAssistantError:
        if hass.is_running:
            # Set up or not, what is hidden by then is not kept. At the start nothing is there.
            for agent in agents.values():
                await agent.async_forget_gone(hass.config.language)
        store.async_keep_only(agents)
        await store.async_close()
        raise
    # What is kept of others would hold names that may be hidden in the meantime.
    store.async_keep_only(coordinator.agents)
    entry.runtime_data = coordinator
    entry.async_on_unload(async_reload_when_disabled(hass, entry))
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    _watch(entry)
    entry.async_on_unload(entry.add_update_listener(_async_reload))
    return True


@callback
def _watch(entry: OllamaWarmConfigEntry) -> None:
    """Keep the agents warm until the entry is unloaded."""
    coordinator = entry.runtime_data
    warmth = coordinator.warmth

    @callback
    def look() -> None:
        warmth.async_server_said(coordinator.data if coordinator.last_update_success else None)

    look()
    entry.async_on_unload(coordinator.async_add_listener(look))
    warmth.async_start()
    entry.async_on_unload(warmth.async_stop)
    entry.async_on_unload(async_watch_issues(coordinator))


async def async_unload_entry(hass: HomeAssistant, entry: OllamaWarmConfigEntry) -> bool:
    """Unload a server and its agents."""
    if unloaded := await hass.config_entries.async_unload_platforms(entry, PLATFORMS):
        store = entry.runtime_data.store
        await store.async_close()
        if entry.disabled_by:
            # No one would look any longer whether what it names is still exposed.
            await store.async_remove()
        _forget(hass, set(entry.runtime_data.agents) - set(entry.subentries))
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: OllamaWarmConfigEntry) -> None:
    """Forget what was learned for a server that is gone."""
    _forget(hass, set(entry.subentries))
    await PrefixStore(hass, entry.entry_id).async_remove()


@callback
def _forget(hass: HomeAssistant, subentry_ids: set[str]) -> None:
    """Forget what is remembered over a reload of agents that are gone."""
    async_forget_turns(hass, subentry_ids)
    async_forget_tools(hass, subentry_ids)


async def _async_reload(hass: HomeAssistant, entry: OllamaWarmConfigEntry) -> None:
    """Set the server up again when it or one of its agents was changed."""
    await hass.config_entries.async_reload(entry.entry_id)
