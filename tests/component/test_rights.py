"""Tools that not everyone is offered: what is sent to whom; and what an unknown device costs."""

import json
from typing import Any

import pytest

from custom_components.ollama_warm.agent.contexts import APP
from custom_components.ollama_warm.prefix.agent_prefix import MOST_SPOKE, AgentPrefix
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context
from homeassistant.helpers import device_registry as dr

from .support.house import House, add_server, turns
from .support.people import API_ID, People, add_person, tools_of
from .support.scripts import call, calls
from .support.server import Ollama

SHARED = {"m_light": "Light", "n_music": "Music"}
SAFE = {"a_safe": "Opens Ada's safe"}


@pytest.fixture
def people(house: House) -> People:
    """Return an API that offers everyone the same."""
    people = People(house.hass)
    people.offers[None] = SHARED
    return people


@pytest.fixture
async def entry(house: House, people: People, ollama: Ollama) -> ConfigEntry:
    """Return the entry of an agent with that API only."""
    return await house.set_up(add_server(house.hass, ollama.url, llm_hass_api=[API_ID]))


def prefix_of(entry: ConfigEntry) -> AgentPrefix:
    """Return what is known of the agent's prompt."""
    prefix: AgentPrefix = entry.runtime_data.agents["agent"].prompts.prefix
    return prefix


async def test_a_tool_of_one_person(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """It stands behind the shared ones, and no one else's request has it, before or after."""
    ada, bob = (add_person(house.hass, name) for name in ("Ada", "Bob"))
    people.offers[ada.user_id] = SHARED | SAFE
    for _ in range(3):
        for context in (ada, bob, Context()):
            await house.ask("hello", context=context)
            own = SAFE if context is ada else {}
            assert list(tools_of(ollama.body).items()) == [*SHARED.items(), *own.items()]
        await house.ask("1", conversation_id="ollama_warm.x")
        assert tools_of(ollama.body) == SHARED
    assert prefix_of(entry).tools.tools.keys() == SHARED.keys()


async def test_the_owner_is_no_measure(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """What a look at the owner shows is sent to no one else."""
    owner = add_person(house.hass, "Ada")
    user = await house.hass.auth.async_get_user(owner.user_id or "")
    assert user
    user.is_owner = True
    people.offers[owner.user_id] = SHARED | SAFE
    for room in (None, "kitchen"):
        await house.ask("hello", room)
        assert tools_of(ollama.body) == SHARED


async def test_one_conversation_of_two(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """What one person's own tool was called for and said is not replayed to another person."""
    ada, bob = (add_person(house.hass, name) for name in ("Ada", "Bob"))
    people.offers[ada.user_id] = SHARED | SAFE
    ollama.stand_in.script = calls(call("a_safe"))
    await house.ask("Open it", context=ada, conversation_id="talk")
    assert "Opens Ada" in ollama.messages[-1]["content"]
    await house.ask("Open it", context=ada, conversation_id="mine")
    ollama.stand_in.script = None
    await house.ask("hello", context=bob, conversation_id="talk")
    assert "safe" not in ollama.records[-1].raw
    await house.ask("hello", context=ada, conversation_id="mine")
    assert "Opens Ada" in json.dumps(ollama.messages)


@pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")
async def test_the_shared_part_is_warm_for_all(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """Two people who ask in turn read their own tools only, not the shared ones again."""
    many = {f"m_{number}": f"Does thing {number} in a room of the house" for number in range(40)}
    people.offers[None] = many
    ada, bob = (add_person(house.hass, name) for name in ("Ada", "Bob"))
    people.offers[ada.user_id] = many | SAFE
    costs = []
    for _ in range(4):
        for context in (ada, bob):
            (turn,) = turns(await house.ask("hello", context=context))
            costs.append(turn["re_read_tokens"])
    assert max(costs[2:]) < costs[0] / 4, costs


async def test_who_is_offered_less(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """The shared list is described to them as to any guest, and calling it answers in words."""
    bob = add_person(house.hass, "Bob")
    people.offers[bob.user_id] = {"m_light": "Light"}
    ollama.stand_in.script = calls(call("n_music"))
    await house.ask("hello")
    assert '"done"' in ollama.messages[-1]["content"]
    for _ in range(2):
        await house.ask("hello", context=bob)
        assert tools_of(ollama.body) == SHARED
        assert "NotAvailableHere" in ollama.messages[-1]["content"]
    await house.ask("hello")
    assert tools_of(ollama.body) == SHARED


@pytest.mark.parametrize("room", [None, "kitchen"])
async def test_a_tool_that_is_gone_for_all(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama, room: str | None
) -> None:
    """It is not described once more, also where someone asks who was never offered it."""
    ada, bob = (add_person(house.hass, name) for name in ("Ada", "Bob"))
    people.offers[bob.user_id] = {"m_light": "Light"}
    await house.ask("hello", room)
    await house.ask("hello", room, context=bob)
    people.offers[None] = {"m_light": "Light"}
    for context in (bob, ada, Context()):
        await house.ask("hello", room, context=context)
        assert tools_of(ollama.body) == {"m_light": "Light"}


@pytest.mark.parametrize("room", [None, "kitchen"])
async def test_a_tool_that_reads_differently_for_all(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama, room: str | None
) -> None:
    """It is replaced at its place, also where a person asks; the old words are no longer sent."""
    ada = add_person(house.hass, "Ada")
    await house.ask("hello", room)
    people.offers[None] = SHARED | {"m_light": "Light of the hall"}
    for context in (ada, Context(), ada):
        await house.ask("hello", room, context=context)
        assert list(tools_of(ollama.body).items()) == [
            ("m_light", "Light of the hall"),
            ("n_music", "Music"),
        ]


async def test_a_tool_that_reads_differently_for_one(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """Each is sent their own reading, behind what is shared, which stays the same from then on."""
    ada = add_person(house.hass, "Ada")
    people.offers[ada.user_id] = SHARED | {"m_light": "Light and Ada's lamp"}
    await house.ask("hello")
    for _ in range(2):
        for context, reading in ((ada, "Light and Ada's lamp"), (Context(), "Light")):
            await house.ask("hello", context=context)
            sent = list(tools_of(ollama.body).items())
            assert sent == [("n_music", "Music"), ("m_light", reading)]
        await house.ask("1", conversation_id="ollama_warm.x")
        assert list(tools_of(ollama.body)) == ["n_music", "m_light"]


async def test_only_people_are_offered_anything(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """Where no one but a person can be offered a tool, each has their own, in the same order."""
    ada, bob = (add_person(house.hass, name) for name in ("Ada", "Bob"))
    people.offers = {None: {}, ada.user_id: SHARED, bob.user_id: dict(reversed(SHARED.items()))}
    for context in (ada, bob, ada):
        await house.ask("hello", context=context)
        assert list(tools_of(ollama.body)) == list(SHARED)
    assert not prefix_of(entry).tools.tools


@pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")
async def test_devices_that_are_none(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """A question from a device that there is not is looked at once, as one in the app."""
    await house.ask("hello")
    before: dict[str, Any] = prefix_of(entry).as_dict()
    people.looks.clear()
    for number in range(5):
        await house.ask("hello", device_id=f"nowhere {number}")
    assert people.looks == {f"nowhere {number}": 1 for number in range(5)}
    assert prefix_of(entry).as_dict() == before


@pytest.mark.freeze_time("2026-11-30 14:10:00+00:00")
async def test_devices_without_end(
    house: House, people: People, entry: ConfigEntry, ollama: Ollama
) -> None:
    """Each question is looked at once, and a warm-up at no more devices than are remembered.

    The beginning of the prompt is the same for all.
    """
    devices = dr.async_get(house.hass)
    phones = [
        devices.async_get_or_create(
            config_entry_id=house.owner.entry_id, identifiers={("phones", str(number))}
        ).id
        for number in range(3 * MOST_SPOKE)
    ]
    await house.ask("hello")
    start = ollama.messages[0], ollama.body["tools"]
    people.looks.clear()
    for phone in phones:
        await house.ask("hello", device_id=phone)
        assert (ollama.messages[0], ollama.body["tools"]) == start
    assert people.looks == dict.fromkeys(phones, 1)
    await house.ask("1", conversation_id="ollama_warm.x")
    remembered = phones[-MOST_SPOKE:]
    satellites = house.satellites.values()
    assert set(prefix_of(entry).contexts()) == {APP, *satellites, *remembered}
    devices.async_remove_device(remembered[0])
    await house.ask("1", conversation_id="ollama_warm.x")
    assert set(prefix_of(entry).contexts()) == {APP, *satellites, *remembered[1:]}
    assert prefix_of(entry).spoke == remembered[1:]


async def test_satellites_take_no_place(house: House, entry: ConfigEntry, ollama: Ollama) -> None:
    """A satellite is looked at anyway, and drives no other device out."""
    for room in ("kitchen", "bedroom"):
        await house.ask("hello", room)
    assert prefix_of(entry).spoke == []
