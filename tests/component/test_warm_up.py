"""Warm-ups: the same prefix, nothing done, nothing remembered."""

from homeassistant.components.conversation.chat_log import (
    DATA_CHAT_LOGS,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers.chat_session import DATA_CHAT_SESSION
from tests.rig.ollama import Scripted

from .support.house import House, add_server, speech, turns
from .support.scripts import call
from .support.server import Ollama

WARM_UP = "ollama_warm.x"


async def test_the_first_question_is_warm(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """After one warm-up without a room, the first question in each room is warm."""
    (cold,) = turns(await house.ask("ping", conversation_id=WARM_UP))
    assert (cold["verdict"], cold["reason"]) == ("prompt_changed", "first_prompt")
    (confirmed,) = turns(await house.ask("another ping", conversation_id=WARM_UP))
    assert confirmed["verdict"] == "warm"
    for room in ("kitchen", "bedroom", None):
        (turn,) = turns(await house.ask(f"What is in the {room}?", room))
        assert turn["verdict"] == "warm"
        assert turn["re_read_tokens"] <= 80


async def test_it_is_the_body_of_a_real_turn(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """Only the words and the length of the answer differ."""
    await house.ask("ping", "kitchen", conversation_id=WARM_UP)
    await house.ask("hello", "kitchen")
    ping, turn = (record.body for record in ollama.records)
    assert ping["options"] == turn["options"] | {"num_predict": 1}
    assert ping["messages"][0] == turn["messages"][0]
    assert ping["messages"][1]["content"] == turn["messages"][1]["content"].replace("hello", "ping")
    for key in ("model", "tools", "think", "keep_alive", "stream"):
        assert ping[key] == turn[key]
    assert list(ping) == list(turn)


async def test_nothing_is_done(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A tool that the model calls in a warm-up is not run, and nothing is said."""
    ollama.stand_in.models[0].answer_tokens = 1
    ollama.stand_in.script = lambda _: Scripted(
        tool_calls=[call("intent__HassTurnOn", name="Ceiling")]
    )
    result = await house.ask("Turn on the ceiling light", conversation_id=WARM_UP)
    ollama.stand_in.models[0].answer_tokens = 12
    state = house.hass.states.get("light.ceiling")
    assert state is not None
    assert state.state != "on"
    assert len(ollama.records) == 1
    assert speech(result) == ""
    assert result.conversation_id == WARM_UP


async def test_nothing_is_remembered(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """No session and no chat log is left, and the next warm-up does not know of the last."""
    for _ in range(2):
        await house.ask("ping", conversation_id=WARM_UP)
        assert WARM_UP not in house.hass.data.get(DATA_CHAT_LOGS, {})
        assert WARM_UP not in house.hass.data.get(DATA_CHAT_SESSION, {})
        assert [message["role"] for message in ollama.messages] == ["system", "user"]
    await house.ask("hello", conversation_id="talk")
    assert "talk" in house.hass.data[DATA_CHAT_LOGS]


async def test_the_counts(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A warm-up's reply carries the server's counts, or none where it reports none."""
    (turn,) = turns(await house.ask("ping", conversation_id=WARM_UP))
    assert turn["prompt_tokens"] == ollama.records[-1].prompt_tokens
    assert turn["cached_tokens"] == ollama.records[-1].cached_tokens
    ollama.stand_in.reports_cached = False
    (turn,) = turns(await house.ask("ping", conversation_id=WARM_UP))
    assert (turn["cached_tokens"], turn["verdict"]) == (None, "unknown")


async def test_a_warm_up_rebases(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """What was newly exposed joins the prefix in a warm-up, not in front of a person."""
    await house.ask("hello", "kitchen")
    house.expose("light.porch")
    await house.ask("hello", "kitchen")
    assert "Porch" not in ollama.messages[0]["content"]
    await house.ask("ping", conversation_id=WARM_UP)
    assert "Porch" in ollama.messages[0]["content"]
    (turn,) = turns(await house.ask("hello", "kitchen"))
    assert turn["verdict"] == "warm"
    assert "Porch" not in ollama.messages[-1]["content"]


async def test_without_a_clock_tool(house: House, ollama: Ollama) -> None:
    """An agent without tools gets the time in the tail, with a warm-up's words as well."""
    await house.set_up(add_server(house.hass, ollama.url, llm_hass_api=None))
    for _ in range(3):
        await house.ask("ping", conversation_id=WARM_UP)
    assert ollama.body["tools"] == []
