"""One prefix for every room: what is on the wire, read from the bodies that were sent."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockUser,
)

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component

from .support.house import House, add_server, later, turns
from .support.scripts import says
from .support.server import Ollama

STORED = "ollama_warm.server"
AREA = "You are in area {} and all generic commands like 'turn on the lights' should target"
NO_TIMERS = "This device is not able to start timers."


def prefix_of(ollama: Ollama, index: int = -1) -> tuple[str, Any]:
    """Return what stands in front of everyone's words: system text and tools."""
    body = ollama.records[index].body
    system, *rest = body["messages"]
    assert system["role"] == "system"
    assert all(message["role"] != "system" for message in rest)
    return system["content"], body["tools"]


async def test_every_room_is_sent_the_same(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """System text and tools are the same bytes; a room's sentences go with its words."""
    sent = {}
    for room in ("kitchen", "bedroom", None):
        await house.ask("hello", room)
        sent[room] = ollama.messages[-1]["content"]
    assert prefix_of(ollama, 0) == prefix_of(ollama, 1) == prefix_of(ollama, 2)
    assert AREA.format("Kitchen") in sent["kitchen"]
    assert AREA.format("Bedroom") in sent["bedroom"]
    assert NO_TIMERS not in sent["kitchen"]
    assert NO_TIMERS in sent["bedroom"]
    assert NO_TIMERS in sent[None]
    assert all(words.startswith("Context:\n") for words in sent.values())
    assert all(words.endswith("\n\nhello") for words in sent.values())
    system, tools = prefix_of(ollama)
    assert "You are in area" not in system
    assert NO_TIMERS not in system
    names = [tool["function"]["name"] for tool in tools]
    assert names == sorted(names)
    assert "intent__HassStartTimer" in names


async def test_the_second_room_is_warm(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """What one room was sent is not read again for the other."""
    await house.ask("hello", "kitchen")
    result = await house.ask("hello", "bedroom")
    (turn,) = turns(result)
    assert turn["verdict"] == "warm"
    assert turn["re_read_tokens"] <= 64


async def test_a_tail_is_sent_once(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """In one conversation the room is not repeated, and replayed where it was first sent."""
    ollama.stand_in.script = says("Yes.")
    for number in range(3):
        await house.ask(f"Question {number}", "kitchen", conversation_id="talk")
    first = [message["content"] for message in ollama.messages if message["role"] == "user"]
    assert AREA.format("Kitchen") in first[0]
    assert first[1:] == ["Question 1", "Question 2"]
    await house.ask("Question 3", "bedroom", conversation_id="talk")
    second = [message["content"] for message in ollama.messages if message["role"] == "user"]
    assert second[:3] == first
    assert AREA.format("Bedroom") in second[3]
    await house.ask("Question 4", "kitchen", conversation_id="talk")
    third = [message["content"] for message in ollama.messages if message["role"] == "user"]
    assert third[:4] == second
    assert AREA.format("Kitchen") in third[4]


async def test_what_is_not_exposed_is_not_sent(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """A light that is un-exposed is gone with the next question, and a new one rides along."""
    await house.ask("hello", "kitchen", conversation_id="talk")
    assert "Bedside" in ollama.records[-1].raw
    assert "Porch" not in ollama.records[-1].raw
    house.expose("light.bedside", exposed=False)
    house.expose("light.porch")
    await house.ask("hello", "kitchen", conversation_id="talk")
    assert "Bedside" not in ollama.records[-1].raw
    system, _ = prefix_of(ollama)
    assert "Porch" not in system
    assert "Additional devices:\n- names: Porch" in ollama.messages[-1]["content"]


async def test_a_new_satellite(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A room that joins is sent the same as the others."""
    await house.ask("hello", "kitchen")
    before = prefix_of(ollama)
    house.add_satellite("Hall")
    await house.ask("hello", "hall")
    assert prefix_of(ollama) == before
    assert AREA.format("Hall") in ollama.messages[-1]["content"]


async def test_a_device_without_a_satellite(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """A device that only ever spoke, such as a phone, counts as a room from then on."""
    entities = er.async_get(house.hass)
    entities.async_remove("assist_satellite.satellites_bedroom")
    await house.ask("hello", "kitchen")
    before = prefix_of(ollama)
    for _ in range(2):
        await house.ask("hello", "bedroom")
        assert prefix_of(ollama) == before


async def test_what_an_automation_adds(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """An extra system prompt goes with the words, and leaves the prefix as it is."""
    await house.ask("hello", "kitchen")
    before = prefix_of(ollama)
    await house.ask("hello", "kitchen", extra_system_prompt="The door bell rang.")
    assert prefix_of(ollama) == before
    assert "The door bell rang." in ollama.messages[-1]["content"]


async def test_a_clock_in_the_instructions(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A clock costs its reads once, and rides with the words from then on."""
    prompt = "It is {{ now().isoformat() }}.\nYou are brief."
    await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    verdicts = []
    for _ in range(4):
        await later(house.hass, freezer, 7)
        (turn,) = turns(await house.ask("hello", "kitchen"))
        verdicts.append(turn["verdict"])
        assert "It is 20" in ollama.messages[0]["content"] + ollama.messages[-1]["content"]
    assert verdicts[-2:] == ["warm", "warm"]
    assert prefix_of(ollama)[0].startswith("You are brief.")


async def test_a_reload_changes_no_byte(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
) -> None:
    """What was learned is stored, and taken up again: the next question is warm."""
    await house.ask("hello", "kitchen")
    house.expose("light.porch")
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, 10)
    await house.hass.config_entries.async_reload(agent.entry_id)
    (turn,) = turns(await house.ask("hello", "bedroom"))
    assert turn["verdict"] == "warm"
    assert prefix_of(ollama, 0) == prefix_of(ollama)
    assert "Additional devices:\n- names: Porch" in ollama.messages[-1]["content"]


async def test_other_instructions_start_again(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """What was learned under other instructions is not used."""
    await house.ask("hello")
    await later(house.hass, freezer, 10)
    house.hass.config_entries.async_update_subentry(
        agent, agent.subentries["agent"], data={**agent.subentries["agent"].data, "prompt": "Sing."}
    )
    await house.hass.async_block_till_done()
    await house.ask("hello")
    assert prefix_of(ollama)[0].startswith("Sing.\n")


async def test_an_older_file(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    hass_storage: dict[str, Any],
    freezer: FrozenDateTimeFactory,
) -> None:
    """A file that an earlier release wrote is taken up as it is."""
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, 10)
    hass_storage[STORED]["minor_version"] = 0
    house.expose("light.porch")
    await house.hass.config_entries.async_reload(agent.entry_id)
    await house.ask("hello", "kitchen")
    assert prefix_of(ollama) == prefix_of(ollama, 0)


async def test_a_person_with_a_name(house: House, ollama: Ollama) -> None:
    """Whose name stands in the instructions does not change the prefix for the others."""
    owner = MockUser(name="Ada", is_owner=True)
    owner.add_to_hass(house.hass)
    MockUser(name="Bob").add_to_hass(house.hass)
    prompt = "You talk to {{ user_name }}.\nYou are brief."
    await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    await house.ask("hello", "kitchen")
    await house.ask("hello", context=Context(user_id=owner.id))
    assert prefix_of(ollama) == prefix_of(ollama, 0)
    assert prefix_of(ollama)[0].startswith("You are brief.")
    assert "You talk to Ada." in ollama.messages[-1]["content"]


async def test_why_the_prompt_changed(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The words that changed are named: a device that is gone, or a tool that joined."""
    owner = MockUser(name="Ada", is_owner=True)
    owner.add_to_hass(house.hass)
    await house.ask("hello", "kitchen")
    house.expose("light.bedside", exposed=False)
    (turn,) = turns(await house.ask("hello", "kitchen", context=Context(user_id=owner.id)))
    assert turn["verdict"] == "prompt_changed"
    assert turn["reason"].startswith("segment_changed: - names: Bedside")
    party = {"party": {"description": "Lets everything shine", "sequence": []}}
    assert await async_setup_component(house.hass, "script", {"script": party})
    house.expose("script.party")
    (turn,) = turns(await house.ask("hello", "kitchen", context=Context(user_id=owner.id)))
    assert (turn["verdict"], turn["reason"]) == ("prompt_changed", "tool_changed: script__party")


ALIEN: dict[str, Any] = {
    "a list": [],
    "nothing": {},
    "agents that are a list": {"agents": []},
    "an agent that is a word": {"agents": {"agent": "warm"}},
    "a prefix that is a word": {"agents": {"agent": {"prefix": "warm"}}},
    "half a prefix": {"agents": {"agent": {"prefix": {"key": "k", "layout": {}}, "sent": 3}}},
    "tools that are none": {
        "agents": {
            "agent": {
                "prefix": {
                    "key": "k",
                    "layout": {"stable": [], "memory": {"lines": [], "losses": {}, "riding": []}},
                    "tools": {"tools": [7], "offered": {}, "contexts": []},
                },
            }
        }
    },
    "a memory in clear, as it was once": {
        "agents": {
            "agent": {
                "prefix": {
                    "key": "k",
                    "layout": {"stable": [], "skeletons": ["Day #"], "gaps": {}, "losses": {}},
                    "tools": {"tools": [], "offered": {}, "contexts": []},
                },
            }
        }
    },
}


@pytest.mark.parametrize("data", ALIEN.values(), ids=ALIEN)
async def test_storage_that_cannot_be_read(
    house: House,
    ollama: Ollama,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    data: object,
) -> None:
    """A damaged file costs one warning and one read, and is written again."""
    hass_storage[STORED] = {"version": 1, "minor_version": 2, "key": STORED, "data": data}
    await house.set_up(add_server(house.hass, ollama.url))
    await house.ask("hello", "kitchen")
    warnings = [
        record.message
        for record in caplog.records
        if record.levelname == "WARNING" and "ollama_warm" in record.name
    ]
    assert len(warnings) == 1
    assert "learned again" in warnings[0]
    assert ollama.messages[0]["content"].startswith("You are the voice of a small house.")
