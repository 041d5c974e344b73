"""What an Ollama server says of itself."""

from collections.abc import Mapping
from datetime import timedelta
from typing import override

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .agent.agent import Agent
from .agent.store import PrefixStore
from .const import DOMAIN, LOGGER
from .ollama.errors import InvalidAuthError, InvalidPasswordError, OllamaError
from .ollama.server import Server, ServerState
from .warming.warm_up import WarmUp
from .warming.warmth import Warmth

UPDATE_INTERVAL = timedelta(seconds=30)

type OllamaWarmConfigEntry = ConfigEntry[OllamaWarmCoordinator]


class OllamaWarmCoordinator(DataUpdateCoordinator[ServerState]):
    """Looks every half minute whether the server is there and what it has loaded."""

    config_entry: OllamaWarmConfigEntry

    def __init__(
        self,
        hass: HomeAssistant,
        entry: OllamaWarmConfigEntry,
        server: Server,
        store: PrefixStore,
        agents: Mapping[str, Agent],
    ) -> None:
        """Take the agents that are set up, by subentry id; the first look is taken later."""
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=entry.title,
            update_interval=UPDATE_INTERVAL,
            always_update=False,
        )
        self.server = server
        self.store = store
        self.agents = agents
        """The agents of this server that are not disabled, by subentry id."""
        self.warm_ups = {key: WarmUp(agent) for key, agent in agents.items()}
        """The agents' warm-ups, by subentry id."""
        self.warmth = Warmth(hass, server, self.warm_ups)

    @property
    def subentries(self) -> list[ConfigSubentry]:
        """Return the subentries of the agents that are set up: those that no one disabled."""
        return [self.config_entry.subentries[subentry_id] for subentry_id in self.agents]

    @override
    async def _async_update_data(self) -> ServerState:
        """Ask for version and loaded models: two requests that cost the server nothing."""
        try:
            version = await self.server.client.version()
            loaded = await self.server.client.loaded()
        except (InvalidAuthError, InvalidPasswordError) as err:
            raise ConfigEntryAuthFailed(
                translation_domain=DOMAIN,
                translation_key=err.translation_key,
                translation_placeholders=err.translation_placeholders,
            ) from err
        except OllamaError as err:
            raise UpdateFailed(
                translation_domain=DOMAIN,
                translation_key=err.translation_key,
                translation_placeholders=err.translation_placeholders,
            ) from err
        self.server.state = ServerState.of(version, loaded)
        return self.server.state
