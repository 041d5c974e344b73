"""Which weather is reported: the chosen one, or that of the house, and never a hidden one."""

from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
)

from custom_components.ollama_warm.const import CONF_WEATHER_ENTITY, DOMAIN
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from .support.skies import METEO, api, bare, excuse, met_no, set_up, weather


def choose(hass: HomeAssistant, entity_id: str) -> None:
    """Choose a weather entity in the settings of a server."""
    entry = MockConfigEntry(domain=DOMAIN, options={CONF_WEATHER_ENTITY: entity_id})
    entry.add_to_hass(hass)


async def now(hass: HomeAssistant) -> str:
    """Return the first line about the present."""
    return (await weather(hass, when="now")).splitlines()[0]


async def test_the_only_one(hass: HomeAssistant) -> None:
    """The only exposed weather entity is used."""
    await set_up(hass, bare("Cabin", 1), bare("Home", 2))
    async_expose_entity(hass, "conversation", "weather.home", should_expose=False)
    assert await now(hass) == "Now: Sunny, 1 °C"


async def test_home_first(hass: HomeAssistant) -> None:
    """Of several, the one called home is used."""
    await set_up(hass, bare("Cabin", 1), bare("Home", 2))
    assert await now(hass) == "Now: Sunny, 2 °C"


async def test_else_the_first(hass: HomeAssistant) -> None:
    """Of several others, the first by name is used, whatever order they came in."""
    await set_up(hass, bare("Office", 3), bare("Cabin", 1))
    assert await now(hass) == "Now: Sunny, 1 °C"


async def test_the_chosen_one(hass: HomeAssistant) -> None:
    """The one that was chosen in the settings is used."""
    await set_up(hass, bare("Cabin", 1), bare("Home", 2))
    MockConfigEntry(domain=DOMAIN).add_to_hass(hass)
    choose(hass, "weather.cabin")
    assert await now(hass) == "Now: Sunny, 1 °C"


async def test_the_chosen_one_is_hidden(hass: HomeAssistant) -> None:
    """One that is not exposed is never used, and no other one in its place."""
    await set_up(hass, bare("Cabin", 1), bare("Home", 2))
    choose(hass, "weather.cabin")
    async_expose_entity(hass, "conversation", "weather.cabin", should_expose=False)
    assert await excuse(hass) == (
        "The weather that was chosen in the settings is not exposed to the assistant."
    )


async def test_the_chosen_one_is_gone(hass: HomeAssistant) -> None:
    """One that no longer exists is missed, and no other one used in its place."""
    await set_up(hass, bare("Home", 2))
    choose(hass, "weather.cabin")
    assert (
        await excuse(hass, "fr")
        == "La météo choisie dans les paramètres n\N{RIGHT SINGLE QUOTATION MARK}existe plus."
    )


async def test_none_left(hass: HomeAssistant) -> None:
    """Where the last one was un-exposed since the prompt was built, the model reads so."""
    await set_up(hass, met_no())
    instance = await api(hass)
    async_expose_entity(hass, "conversation", "weather.home", should_expose=False)
    result = await instance.async_call_tool(llm.ToolInput(tool_name=METEO, tool_args={}))
    assert (result.error, result.data) == (
        True,
        {"error": "No weather is exposed to the assistant."},
    )
