"""What rides with every question because it was learned: no more than must, and it is reported."""

import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.prefix.changed_line import digest
from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers import entity_registry as er

from .support.house import AGENT, House, add_server, later, turns
from .support.issues import add_agent, issues, ours
from .support.server import Ollama
from .support.shown import shown, state_of

WEEK_S = 7 * 24 * 3600
SPOTS = 15


async def warm(house: House) -> None:
    """Warm up twice, as the warmer does."""
    for _ in range(2):
        await house.ask("ping", conversation_id="ollama_warm.x")


async def ridden(house: House, ollama: Ollama) -> tuple[int, str]:
    """Return how much a question re-reads after a warm-up, and what rides with it."""
    await warm(house)
    (turn,) = turns(await house.ask("hello", "kitchen"))
    assert turn["verdict"] == "warm"
    return turn["re_read_tokens"], ollama.messages[-1]["content"]


def rename(house: House, old: int, new: int) -> None:
    """Give one of the lamps another number."""
    house.hass.states.async_set(f"light.spot_{old}", "off", {"friendly_name": f"Spot {new}"})
    er.async_get(house.hass).async_update_entity(f"light.spot_{old}", name=f"Spot {new}")


def hang_spots(house: House) -> None:
    """Hang a numbered series of lamps, and expose it."""
    registry = er.async_get(house.hass)
    for one in range(SPOTS):
        entry = registry.async_get_or_create(
            "light", "demo", f"spot {one}", suggested_object_id=f"spot_{one}"
        )
        registry.async_update_entity(entry.entity_id, name=f"Spot {one}")
        house.hass.states.async_set(entry.entity_id, "off", {"friendly_name": f"Spot {one}"})
        house.expose(entry.entity_id)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("number", [0, 7, SPOTS - 1])
async def test_a_numbered_lamp_is_renamed(
    house: House,
    ollama: Ollama,
    number: int,
    asked: bool,  # noqa: FBT001 - a parameter
) -> None:
    """After the next warm-up a question is as short as before, however often it happens."""
    hang_spots(house)
    await house.set_up(add_server(house.hass, ollama.url))
    before = await ridden(house, ollama)
    for new in (SPOTS, SPOTS + 1, number, SPOTS + 2):
        rename(house, number, new)
        if asked:
            await house.ask("hello")
        assert await ridden(house, ollama) == before
        assert f"Spot {new}" in ollama.messages[0]["content"]


async def test_a_house_that_is_exposed_after_the_set_up(house: House, ollama: Ollama) -> None:
    """Home Assistant's other text takes its place once, and that is no clock."""
    exposed = ("light.ceiling", "light.bedside")
    for entity_id in exposed:
        house.expose(entity_id, exposed=False)
    entry = await house.set_up(add_server(house.hass, ollama.url))
    for _ in range(2):
        await ridden(house, ollama)
        for entity_id in exposed:
            house.expose(entity_id)
        re_read, _words = await ridden(house, ollama)
        sent = ollama.messages
        # As an agent is asked that was not there before.
        add_agent(house.hass, entry, "other")
        await house.hass.async_block_till_done()
        await house.ask("hello", "kitchen", agent_id="conversation.other")
        assert ollama.messages == sent
        assert re_read <= 64
        house.hass.config_entries.async_remove_subentry(entry, "other")
        await house.hass.async_block_till_done()
        for entity_id in exposed:
            house.expose(entity_id, exposed=False)


def said(words: int) -> str:
    """Return instructions with a line of so many words that all change with a sensor."""
    line = "The house is {{ states('sensor.mood') }}" + " and {{ states('sensor.mood') }}" * words
    return f"Be brief.\n{line}.\nBe kind."


async def change(house: House, mood: str) -> None:
    """Have the house in another mood, and someone ask."""
    house.hass.states.async_set("sensor.mood", mood)
    await house.ask("hello")


async def test_much_that_rides_along_is_reported(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """The reason, an attribute, the action and an issue say about how much, until it rests."""
    await house.set_up(add_server(house.hass, ollama.url, prompt=said(150)))
    assert set(issues(house.hass)) - {"moving_part"} == set()
    for mood in ("glad", "sad", "mad"):
        await change(house, mood)
    await warm(house)
    result = await house.ask("hello", "bedroom")
    (turn,) = turns(result)
    kind, _, more = turn["reason"].partition(": ")
    assert (turn["verdict"], kind) == ("warm", "rides_along")
    assert shown(house.hass, "last_reason") == "rides_along"
    estimated = state_of(house.hass, "sensor", "re_read_tokens").attributes[
        "riding_tokens_estimated"
    ]
    assert more == f"about {estimated} tokens"
    assert 200 < estimated < 151 * 5
    explained = await house.hass.services.async_call(
        "ollama_warm", "explain", {"entity_id": AGENT}, blocking=True, return_response=True
    )
    assert explained is not None
    assert explained[AGENT]["moving_tokens_estimated"] == estimated  # type: ignore[index, call-overload]
    issue = issues(house.hass)["rides_along"]
    assert issue.translation_placeholders == {"agent": "Warm", "tokens": str(round(estimated, -1))}
    await later(house.hass, freezer, WEEK_S + 1)
    await warm(house)
    (turn,) = turns(await house.ask("hello", "kitchen"))
    assert (turn["verdict"], turn["reason"]) == ("warm", None)
    assert "rides_along" not in issues(house.hass)
    assert not [one for one in ours(house.hass) if one.startswith("rides_along")]


async def test_a_little_that_rides_along_is_no_reason(house: House, ollama: Ollama) -> None:
    """A clock is a few tokens; they are only counted."""
    await house.set_up(add_server(house.hass, ollama.url, prompt=said(0)))
    for mood in ("glad", "sad", "mad"):
        await change(house, mood)
    (turn,) = turns(await house.ask("hello"))
    assert (turn["verdict"], turn["reason"]) == ("warm", None)
    state = state_of(house.hass, "sensor", "re_read_tokens")
    assert 0 < state.attributes["riding_tokens_estimated"] <= 24


async def test_a_tail_that_is_not_sent_again(house: House, ollama: Ollama) -> None:
    """Only a question that carries it re-reads it."""
    await house.set_up(add_server(house.hass, ollama.url, prompt=said(50)))
    for mood in ("glad", "sad", "mad"):
        await change(house, mood)
    result = await house.ask("hello", "kitchen")
    assert turns(result)[0]["reason"].startswith("rides_along")
    result = await house.ask("hello", "kitchen", conversation_id=result.conversation_id)
    assert turns(result)[0]["reason"] is None


async def test_nothing_is_learned_of_what_is_added_to_one_question(
    house: House, agent: ConfigEntry
) -> None:
    """A sentence of a person or an automation changes nothing that is kept, not even a digest."""

    def kept() -> Any:  # noqa: ANN401 - JSON
        prefix = agent.runtime_data.agents["agent"].prompts.prefix
        return json.loads(json.dumps(prefix.as_dict()))

    await house.ask("hello", "kitchen")
    before = kept()
    for extra in (
        "The bell rang.",
        "- names: Bell\n  domain: bell\n\nIt rang.",
        "It rang 2 times.",
    ):
        for room in ("kitchen", None):
            result = await house.ask("hello", room, extra_system_prompt=extra)
            await house.ask("hello", room, conversation_id=result.conversation_id)
            assert kept() == before


async def test_an_added_sentence_takes_no_line_s_place(house: House, ollama: Ollama) -> None:
    """It stands where a line of the instructions has just gone, and is no successor of it."""
    prompt = "Be brief.\n{{ states('sensor.mood') }}"
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt, llm_hass_api=None))
    for number, mood in enumerate(("glad", "", "sad", "")):
        house.hass.states.async_set("sensor.mood", mood)
        for extra in (f"Canary {number} rings.", f"- Canary {number}"):
            await house.ask("hello", extra_system_prompt=extra)
            assert extra in ollama.messages[-1]["content"]
            kept = json.dumps(entry.runtime_data.agents["agent"].prompts.prefix.as_dict())
            assert not [name for name in (extra, extra.replace(str(number), "#")) if name in kept]
            assert digest(extra) not in kept
        await warm(house)


async def test_what_is_hidden_is_nowhere_kept(house: House, agent: ConfigEntry) -> None:
    """Its name is gone from all that is remembered, however it was renamed before."""
    registry = er.async_get(house.hass)
    names = ("Canary", "Canary 1", "Canary 2", "Finch")
    for name in names:
        registry.async_update_entity("light.bedside", name=name)
        house.hass.states.async_set("light.bedside", "off", {"friendly_name": name})
        await house.ask("hello", "kitchen")
        await warm(house)
    house.expose("light.bedside", exposed=False)
    await house.ask("hello", "kitchen")
    kept = json.dumps(agent.runtime_data.agents["agent"].prompts.prefix.as_dict())
    assert [name for name in names if name in kept] == []
