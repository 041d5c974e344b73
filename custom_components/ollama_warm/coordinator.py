"""What an Ollama server says of itself."""

from dataclasses import dataclass
from datetime import timedelta
from typing import override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed

from .agent import Agent
from .api import InvalidAuthError, OllamaClient, OllamaError
from .const import DOMAIN, LOGGER

UPDATE_INTERVAL = timedelta(seconds=30)

type OllamaWarmConfigEntry = ConfigEntry[OllamaWarmCoordinator]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """The server's version, and its loaded models with their context length in tokens."""

    version: str
    loaded: dict[str, int | None]


class OllamaWarmCoordinator(DataUpdateCoordinator[ServerState]):
    """Looks every half minute whether the server is there and what it has loaded."""

    config_entry: OllamaWarmConfigEntry

    def __init__(
        self, hass: HomeAssistant, entry: OllamaWarmConfigEntry, client: OllamaClient
    ) -> None:
        """Prepare; the first look is taken by the entry's set-up."""
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=entry.title,
            update_interval=UPDATE_INTERVAL,
            always_update=False,
        )
        self.client = client
        self.agents: dict[str, Agent] = {}
        """The agents of this server, by subentry id."""

    @override
    async def _async_update_data(self) -> ServerState:
        """Ask for version and loaded models: two requests that cost the server nothing."""
        try:
            version = await self.client.version()
            loaded = await self.client.loaded()
        except InvalidAuthError as err:
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
        return ServerState(
            version=version,
            loaded={str(model.get("name")): model.get("context_length") for model in loaded},
        )
