"""What the tests of the integration share."""

from collections.abc import Generator
from typing import Any

import pytest
import pytest_socket

# Before Home Assistant's loader looks, or the test plugin's own package takes our place.
from custom_components.ollama_warm.ollama import turnstile
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from .support.house import House, add_server, build_house
from .support.server import Ollama
from .support.zoo import Zoo


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Generator[Ollama]:
    """Run one stand-in for all tests."""
    pytest_socket.enable_socket()
    server = Ollama(tmp_path_factory.mktemp("ollama"))
    server.start()
    yield server
    pytest_socket.enable_socket()
    server.close()


@pytest.fixture(scope="session")
def all_models(tmp_path_factory: pytest.TempPathFactory) -> Generator[Zoo]:
    """Run one stand-in with a model of every kind."""
    pytest_socket.enable_socket()
    server = Zoo(tmp_path_factory.mktemp("zoo"))
    server.start()
    yield server
    pytest_socket.enable_socket()
    server.close()


@pytest.fixture
async def zoo(all_models: Zoo) -> Zoo:
    """Return the stand-in with a model of every kind, as at the beginning: none is loaded."""
    all_models.forget()
    for model in all_models.stand_in.models:
        await all_models.run(all_models.stand_in.unload(model.name))
    return all_models


@pytest.fixture
def ollama(stand_in: Ollama) -> Generator[Ollama]:
    """Return the stand-in, with nothing left of the last test."""
    stand_in.forget()
    yield stand_in
    stand_in.forget()


@pytest.fixture(autouse=True)
def real_integration(
    enable_custom_integrations: None, socket_enabled: None, hass_storage: dict[str, Any]
) -> None:
    """Let Home Assistant find the integration and speak to this machine, and write to no disk."""


@pytest.fixture(name="hass")
async def started_hass(hass: HomeAssistant) -> HomeAssistant:
    """Return Home Assistant with the component that is always there."""
    assert await async_setup_component(hass, "homeassistant", {})
    return hass


@pytest.fixture
async def house(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> House:
    """Return a house without an agent, in which a warm-up may follow a question at once."""
    monkeypatch.setattr(turnstile, "QUIET_S", 0.0)
    return await build_house(hass)


@pytest.fixture
async def agent(house: House, ollama: Ollama) -> ConfigEntry:
    """Return the entry of a server whose agent can be asked."""
    return await house.set_up(add_server(house.hass, ollama.url))
