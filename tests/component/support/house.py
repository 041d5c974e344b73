"""A small house in Home Assistant, and a way to talk to its agent."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.ollama_warm.const import (
    CONF_AUTO_WARM,
    CONF_KEEP_ALIVE,
    CONF_MAX_HISTORY,
    CONF_NUM_CTX,
    CONF_THINK,
    CONF_WARM_INTERVAL,
    DOMAIN,
)
from custom_components.ollama_warm.flow.migration import MINOR_VERSION
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.intent import async_register_timer_handler
from homeassistant.config_entries import ConfigEntry, ConfigEntryState, ConfigSubentryDataWithId
from homeassistant.const import CONF_API_KEY, CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT, CONF_URL
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component

from .server import MODEL, NUM_CTX

AGENT = "conversation.warm"
LIGHTS = ("Ceiling", "Bedside", "Porch")
OPTIONS: dict[str, Any] = {
    CONF_MODEL: MODEL,
    CONF_PROMPT: "You are the voice of a small house.",
    CONF_LLM_HASS_API: ["assist"],
    CONF_NUM_CTX: NUM_CTX,
    CONF_MAX_HISTORY: 20,
    CONF_KEEP_ALIVE: -1,
    CONF_THINK: False,
    # Whoever wants to see a warm-up asks for it.
    CONF_AUTO_WARM: False,
    CONF_WARM_INTERVAL: 0,
}


def add_server(
    hass: HomeAssistant, url: str, *, api_key: str | None = None, **options: object
) -> ConfigEntry:
    """Add the entry of a server with one agent, not yet set up; options of None are left out."""
    data = {key: value for key, value in (OPTIONS | options).items() if value is not None}
    agent = ConfigSubentryDataWithId(
        data=data,
        subentry_id="agent",
        subentry_type="conversation",
        title="Warm",
        unique_id=None,
    )
    entry: ConfigEntry = MockConfigEntry(
        domain=DOMAIN,
        entry_id="server",
        title="Server",
        minor_version=MINOR_VERSION,
        data={CONF_URL: url, **({CONF_API_KEY: api_key} if api_key else {})},
        subentries_data=[agent],
    )
    entry.add_to_hass(hass)  # type: ignore[attr-defined]
    return entry


@dataclass
class House:
    """Three lights, and a voice satellite in the kitchen and in the bedroom."""

    hass: HomeAssistant
    owner: ConfigEntry
    satellites: dict[str, str]
    """Room -> device id of its satellite. Only the kitchen's keeps timers."""

    async def ask(
        self,
        text: str,
        room: str | None = None,
        **more: Any,  # noqa: ANN401 - as Home Assistant takes it
    ) -> conversation.ConversationResult:
        """Ask the agent something, in a room or in the app."""
        rest: dict[str, Any] = {"conversation_id": None, "language": "en", "agent_id": AGENT} | more
        rest.setdefault("context", Context())
        rest.setdefault("device_id", self.satellites[room] if room else None)
        result = await conversation.async_converse(self.hass, text, **rest)
        # What is shown of a turn comes after the answer.
        await asyncio.sleep(0)
        return result

    async def set_up(self, entry: ConfigEntry) -> ConfigEntry:
        """Set up an entry, and return it."""
        await self.hass.config_entries.async_setup(entry.entry_id)
        await self.hass.async_block_till_done()
        return entry

    @property
    def state(self) -> str | None:
        """State of the agent's entity, None if there is none."""
        state = self.hass.states.get(AGENT)
        return state.state if state else None

    def add_satellite(self, room: str) -> None:
        """Put a satellite into a room."""
        devices = dr.async_get(self.hass)
        device = devices.async_get_or_create(
            config_entry_id=self.owner.entry_id, identifiers={("satellites", room)}, name=room
        )
        area = ar.async_get(self.hass).async_get_or_create(room)
        devices.async_update_device(device.id, area_id=area.id)
        er.async_get(self.hass).async_get_or_create(
            "assist_satellite", "satellites", room, config_entry=self.owner, device_id=device.id
        )
        self.satellites[room.lower()] = device.id

    def expose(self, entity_id: str, *, exposed: bool = True) -> None:
        """Expose an entity to the agent, or no longer."""
        async_expose_entity(self.hass, "conversation", entity_id, exposed)


async def build_house(hass: HomeAssistant) -> House:
    """Set up the house."""
    for component in ("conversation", "intent"):
        assert await async_setup_component(hass, component, {})
    lights = [{"name": name, "unique_id": name, "turn_on": [], "turn_off": []} for name in LIGHTS]
    assert await async_setup_component(hass, "template", {"template": {"light": lights}})
    await hass.async_block_till_done()
    owner = MockConfigEntry(domain="satellites")
    owner.add_to_hass(hass)
    house = House(hass, owner, {})
    house.add_satellite("Kitchen")
    house.add_satellite("Bedroom")
    async_register_timer_handler(hass, house.satellites["kitchen"], lambda *_: None)
    house.expose("light.ceiling")
    house.expose("light.bedside")
    house.expose("light.porch", exposed=False)
    return house


def speech(result: conversation.ConversationResult) -> str:
    """Return what is spoken."""
    text: str = result.response.speech["plain"]["speech"]
    return text


def turns(result: conversation.ConversationResult) -> list[dict[str, Any]]:
    """Return what the reply says of its turns."""
    data: list[dict[str, Any]] = result.response.speech["plain"]["extra_data"][DOMAIN]["turns"]
    return data


def how_it_is(entry: ConfigEntry) -> ConfigEntryState:
    """Return the state of an entry, for type checkers that think it stays the same."""
    return entry.state


async def later(hass: HomeAssistant, freezer: FrozenDateTimeFactory, seconds: float) -> None:
    """Let time pass."""
    freezer.tick(timedelta(seconds=seconds))
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)
