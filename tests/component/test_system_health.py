"""System information: which servers answer, and which agents are known to be warm."""

from freezegun.api import FrozenDateTimeFactory
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    get_system_health_info,
)

from custom_components.ollama_warm.const import DOMAIN
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.helpers import entity_registry as er
from homeassistant.loader import async_get_integration
from homeassistant.setup import async_setup_component
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, later
from .support.sentences import sentence
from .support.server import Ollama
from .support.shown import entity_of
from .support.warmed import POLL_S


async def health(house: House) -> tuple[str, str, str]:
    """Return what is said of servers, their versions, and agents."""
    info = await get_system_health_info(house.hass, DOMAIN)
    assert info.pop("version") == str((await async_get_integration(house.hass, DOMAIN)).version)
    for key in ("version", *info):
        assert await sentence(house.hass, "system_health", f"info.{key}")
    return info["servers_reachable"], info["server_versions"], info["agents_warm"]


async def test_what_is_shown(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """An agent counts once its warmth is confirmed, and a server as long as it answers."""
    assert await async_setup_component(house.hass, "system_health", {})
    await house.hass.async_block_till_done()
    assert await health(house) == ("1/1", "0.35.1", "0/1")
    await agent.runtime_data.warmth.async_warm("agent")
    assert await health(house) == ("1/1", "0.35.1", "1/1")
    ollama.stand_in.fault = Fault(FaultKind.HTML, paths=("/api/version",))
    await later(house.hass, freezer, POLL_S)
    assert await health(house) == ("0/1", "", "0/1")
    await house.hass.config_entries.async_unload(agent.entry_id)
    assert await health(house) == ("0/1", "", "0/1")


async def test_a_sensor_that_is_gone(house: House, agent: ConfigEntry) -> None:
    """An agent whose sensor is not there is not called warm."""
    assert await async_setup_component(house.hass, "system_health", {})
    await house.hass.async_block_till_done()
    await agent.runtime_data.warmth.async_warm("agent")
    entity_id = entity_of(house.hass, Platform.BINARY_SENSOR, "warm")
    er.async_get(house.hass).async_remove(entity_id)
    await house.hass.async_block_till_done()
    assert (await health(house))[2] == "0/1"
