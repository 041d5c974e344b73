"""Who is offered which tools, and that nothing about them ever moves or comes twice."""

import asyncio
from dataclasses import dataclass
import json
from typing import Any

import probatio
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
)

from custom_components.ollama_warm import llm as platform
from custom_components.ollama_warm.const import CONF_WEATHER_ENTITY, DOMAIN
from custom_components.ollama_warm.tools import source
from custom_components.ollama_warm.tools.offer import API_NAME, without_duplicates
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigSubentryDataWithId
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm

from .support.skies import METEO, api, ask, excuse, met_no, set_up

CLOCK = f"{DOMAIN}__GetDateTime"
CORE_CLOCK = "llm__GetDateTime"


@dataclass(slots=True)
class ContextOfAgent(llm.LLMContext):
    """A context that names its agent, as from Home Assistant 2026.11 on."""

    agent_id: str | None = None


def names(instance: llm.APIInstance) -> list[str]:
    """Return the names of our tools and of clocks."""
    found = [tool.name for tool in instance.tools]
    return [name for name in found if DOMAIN in name or name.endswith("GetDateTime")]


def described(instance: llm.APIInstance) -> str:
    """Return all tools as a model reads them."""
    return json.dumps(
        [
            [
                tool.name,
                tool.description,
                probatio.to_openapi(tool.parameters, custom_serializer=instance.custom_serializer),
            ]
            for tool in instance.tools
        ]
    )


async def test_assist(hass: HomeAssistant) -> None:
    """Assist has the weather and its own clock; nothing is said in the prompt."""
    await set_up(hass, met_no())
    instance = await api(hass)
    assert names(instance) == [CORE_CLOCK, METEO]
    tools = platform.async_get_tools(hass, instance.llm_context, "assist")
    assert tools
    assert (len(tools.tools), tools.prompt) == (1, None)


async def test_own_api(hass: HomeAssistant) -> None:
    """Agents without Assist have both tools, and the clock comes first as it is always there."""
    await set_up(hass, met_no())
    assert API_NAME in [one.name for one in llm.async_get_apis(hass)]
    instance = await api(hass, DOMAIN)
    assert names(instance) == [CLOCK, METEO]
    assert instance.api_prompt == ""
    tools = platform.async_get_tools(hass, instance.llm_context, DOMAIN)
    assert tools
    assert [tool.name for tool in tools.tools] == [CLOCK, METEO]


async def test_other_apis(hass: HomeAssistant) -> None:
    """No other API has our tools."""
    await set_up(hass, met_no())
    context = (await api(hass)).llm_context
    assert platform.async_get_tools(hass, context, "homeassistant") is None


async def test_no_weather(hass: HomeAssistant) -> None:
    """Where no weather is exposed none is offered, but the date is."""
    await set_up(hass, met_no(), exposed=False)
    instance = await api(hass)
    assert names(instance) == [CORE_CLOCK]
    assert platform.async_get_tools(hass, instance.llm_context, "assist") is None
    assert names(await api(hass, DOMAIN)) == [CLOCK]


async def test_what_the_tools_say_of_themselves(hass: HomeAssistant) -> None:
    """Both only read, and say whose they are."""
    await set_up(hass, met_no())
    for tool in (await api(hass, DOMAIN)).tools:
        assert tool.integration == DOMAIN
        assert tool.annotations == llm.ToolAnnotations(read_only=True, open_world=False)
        assert tool.title
        assert tool.description


async def test_nothing_moves(hass: HomeAssistant) -> None:
    """The tools read the same in every room and language, whatever the weather does."""
    await set_up(hass, met_no())
    seen = {described(await api(hass, apis)) for apis in ("assist",) for _ in range(2)}
    seen.add(described(await api(hass, "assist", "fr", "kitchen")))
    for state in ("rainy", STATE_UNAVAILABLE):
        hass.states.async_set("weather.home", state)
        seen.add(described(await api(hass)))
    assert len(seen) == 1
    # A weather entity that was chosen is offered also while it is away.
    MockConfigEntry(domain=DOMAIN, options={CONF_WEATHER_ENTITY: "weather.home"}).add_to_hass(hass)
    hass.states.async_remove("weather.home")
    assert described(await api(hass)) in seen


async def test_assist_and_ours(hass: HomeAssistant) -> None:
    """An agent of ours with both APIs is given Assist, which has all of ours."""
    assert without_duplicates(["assist", DOMAIN]) == ["assist"]
    assert without_duplicates([DOMAIN, "other", "assist"]) == ["other", "assist"]
    assert without_duplicates([DOMAIN, "other"]) == [DOMAIN, "other"]
    assert without_duplicates([]) is without_duplicates(None) is None


@pytest.mark.parametrize("apis", [["assist", DOMAIN], [DOMAIN, "homeassistant"], "assist"])
async def test_another_agent_with_both(hass: HomeAssistant, apis: list[str] | str) -> None:
    """Another agent with both APIs has one clock, where Home Assistant says which agent it is."""
    await set_up(hass, met_no())
    context = _context_of(hass, "conversation.other", {"llm_hass_api": apis})
    instance = await llm.async_get_api(hass, DOMAIN, context)
    assert names(instance) == [METEO]


@pytest.mark.parametrize("data", [{}, {"llm_hass_api": [DOMAIN]}, {"llm_hass_api": None}])
async def test_another_agent_with_ours(hass: HomeAssistant, data: dict[str, Any]) -> None:
    """Another agent without Assist has our clock."""
    await set_up(hass, met_no())
    context = _context_of(hass, "conversation.other", data)
    assert names(await llm.async_get_api(hass, DOMAIN, context)) == [CLOCK, METEO]


@pytest.mark.parametrize("agent_id", [None, "conversation.no_one", "conversation.home_assistant"])
async def test_agents_without_settings(hass: HomeAssistant, agent_id: str | None) -> None:
    """An agent that nothing is known of has our clock, if it has our API."""
    await set_up(hass, met_no())
    er.async_get(hass).async_get_or_create(
        "conversation", "conversation", "x", suggested_object_id="home_assistant"
    )
    context = _context_of(hass, "conversation.other", {"llm_hass_api": ["assist"]})
    context.agent_id = agent_id
    assert names(await llm.async_get_api(hass, DOMAIN, context)) == [CLOCK, METEO]


async def test_one_and_the_same(hass: HomeAssistant) -> None:
    """A tool is the same one in both APIs, by which a merged API knows not to offer it twice."""
    await set_up(hass, met_no())
    ours = {tool.name: tool for tool in (await api(hass, DOMAIN)).tools}
    assist = {tool.name: tool for tool in (await api(hass)).tools}
    assert ours[METEO] is assist[METEO]


@pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")
async def test_no_clock_in_the_prompt(hass: HomeAssistant) -> None:
    """An agent that has only our API is given the time when it asks, not in its prompt."""
    await set_up(hass, met_no())
    prompts = {}
    for apis in ("assist", DOMAIN, None):
        chat_log = conversation.ChatLog(hass, "x")
        context = (await api(hass, DOMAIN)).llm_context
        await chat_log.async_provide_llm_data(context, apis, "Be brief.")
        first = chat_log.content[0]
        assert isinstance(first, conversation.SystemContent)
        prompts[apis] = first.content
    assert prompts[DOMAIN] == "Be brief.\n"
    assert "Current time is" not in prompts["assist"]
    assert "Current time is" in prompts[None]


@pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")
@pytest.mark.parametrize(
    ("language", "date"),
    [
        ("en", "Monday 30 November 2026"),
        ("fr", "lundi 30 novembre 2026"),
        ("de", "Montag, 30. November 2026"),
        ("es", "lunes, 30 de noviembre de 2026"),
        ("nl", "maandag 30 november 2026"),
    ],
)
async def test_date_and_time(hass: HomeAssistant, language: str, date: str) -> None:
    """The date is given in the asked language, with the sun's times by the clock on the wall."""
    await _move_to_paris(hass)
    result = await ask(hass, CLOCK, language)
    assert not result.error
    assert result.data == {
        "date": date,
        "time": "15:10",
        "timezone": "Europe/Paris",
        "week": 49,
        "sunrise": "08:21",
        "sunset": "16:56",
    }


@pytest.mark.freeze_time("2026-12-31 23:30:00+00:00")
async def test_new_year(hass: HomeAssistant) -> None:
    """The first of January is the first in French, and may be in the last week."""
    await _move_to_paris(hass)
    data = (await ask(hass, CLOCK, "fr")).data
    assert (data["date"], data["time"], data["week"]) == ("vendredi 1er janvier 2027", "00:30", 53)


@pytest.mark.freeze_time("2026-12-21 11:00:00+00:00")
async def test_polar_night(hass: HomeAssistant) -> None:
    """Where the sun does not rise nothing is said of it."""
    await _move_to_paris(hass)
    hass.config.latitude = 78.2
    assert "sunrise" not in (await ask(hass, CLOCK)).data


async def test_slow(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """A weather service that takes too long is not waited for."""
    monkeypatch.setattr(source, "PATIENCE_S", 0.01)
    sky = met_no()
    sky.wait = asyncio.Event().wait
    await set_up(hass, sky)
    assert "did not give its forecast" in await excuse(hass, when="tomorrow")


async def test_exposure_is_read_at_each_call(hass: HomeAssistant) -> None:
    """A weather entity that is exposed later is offered from then on."""
    await set_up(hass, met_no(), exposed=False)
    async_expose_entity(hass, "conversation", "weather.home", should_expose=True)
    assert METEO in names(await api(hass))


def _context_of(hass: HomeAssistant, agent_id: str, data: dict[str, Any]) -> ContextOfAgent:
    """Return the context of an agent with these settings."""
    subentry = ConfigSubentryDataWithId(
        data=data, subentry_id="one", subentry_type="conversation", title="x", unique_id=None
    )
    entry = MockConfigEntry(domain="other", subentries_data=[subentry])
    entry.add_to_hass(hass)
    er.async_get(hass).async_get_or_create(
        "conversation",
        "other",
        "one",
        config_entry=entry,
        config_subentry_id="one",
        suggested_object_id=agent_id.partition(".")[2],
    )
    return ContextOfAgent(
        platform="test",
        context=Context(),
        language="en",
        assistant="conversation",
        device_id=None,
        agent_id=agent_id,
    )


async def _move_to_paris(hass: HomeAssistant) -> None:
    """Set up the integration in Paris."""
    await hass.config.async_set_time_zone("Europe/Paris")
    hass.config.latitude, hass.config.longitude, hass.config.elevation = 48.86, 2.35, 0
    await set_up(hass, met_no())
