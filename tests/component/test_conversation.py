"""Asking the agent: words, tools, counts, attachments."""

import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    WebSocketGenerator,
)

from custom_components.ollama_warm.agent.messages import rounds_to_drop
from custom_components.ollama_warm.agent.replies import async_error_reply
from custom_components.ollama_warm.const import DOMAIN
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.chat_session import async_get_chat_session
from homeassistant.setup import async_setup_component
from tests.rig.ollama import Scripted

from .support.house import AGENT, House, add_server, speech, turns
from .support.scripts import call, calls, in_turn, says
from .support.server import NUM_CTX, Ollama, answering

TURN_ON = "intent__HassTurnOn"
KEYS = (
    "prompt_tokens",
    "cached_tokens",
    "re_read_tokens",
    "prefill_s",
    "load_s",
    "total_s",
    "verdict",
    "reason",
    "node",
)


async def test_an_answer_streams(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Words are passed on as they come, and are one answer in the end."""
    ollama.stand_in.script = says("The light ", "is ", "on.")
    heard: list[str] = []

    def listen(_: conversation.ChatLog, delta: dict[str, Any]) -> None:
        heard.append(delta.get("content", ""))

    with (
        async_get_chat_session(house.hass, "talk") as session,
        conversation.async_get_chat_log(house.hass, session, chat_log_delta_listener=listen),
    ):
        result = await house.ask("Is the light on?", conversation_id="talk")
    assert [piece for piece in heard if piece] == ["The light ", "is ", "on."]
    assert speech(result) == "The light is on."
    assert result.conversation_id == "talk"
    assert not result.continue_conversation


async def test_what_is_sent(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The body says what the options say, in one order for everyone."""
    await house.ask("hello")
    body = ollama.body
    assert set(body) == {
        "model",
        "messages",
        "tools",
        "stream",
        "think",
        "keep_alive",
        "options",
    }
    assert (body["model"], body["stream"], body["think"]) == ("tiny", True, False)
    assert (body["keep_alive"], body["options"]) == (-1, {"num_ctx": 8192})


async def test_the_contract(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """The reply carries what each turn cost, with the server's own counts."""
    result = await house.ask("hello", "kitchen")
    assert result.response.speech["plain"]["extra_data"]["ollama_warm"]["version"] == 1
    (turn,) = turns(result)
    assert tuple(turn) == KEYS
    record = ollama.records[-1]
    assert turn["prompt_tokens"] == record.prompt_tokens
    assert turn["cached_tokens"] == record.cached_tokens
    assert turn["re_read_tokens"] == record.re_read_tokens
    assert turn["prefill_s"] == pytest.approx(record.seconds, rel=0.01)
    assert 0 < turn["prefill_s"] < turn["total_s"]
    assert turn["node"] is None
    (turn,) = turns(await house.ask("hello once more", "kitchen"))
    assert (turn["verdict"], turn["reason"]) == ("warm", None)
    assert turn["re_read_tokens"] < 60


async def test_counts_that_are_not_reported(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """A server that does not report the cached count gets no verdict, and no 0."""
    ollama.stand_in.version = "0.30.0"
    for _ in range(2):
        (turn,) = turns(await house.ask("hello"))
        assert (turn["cached_tokens"], turn["re_read_tokens"]) == (None, None)
        assert (turn["verdict"], turn["reason"]) == ("unknown", "no_count")
        assert turn["prompt_tokens"] is not None


async def test_no_counts_at_all(house: House, agent: ConfigEntry) -> None:
    """A server that says nothing of its work leaves everything unknown."""
    last = {"message": {"role": "assistant", "content": "Yes."}, "done": True}
    async with answering(json.dumps(last).encode()) as url:
        agent.runtime_data.server.client.url = url
        result = await house.ask("hello")
    assert speech(result) == "Yes."
    (turn,) = turns(result)
    expected = dict.fromkeys(KEYS) | {"verdict": "unknown", "reason": "no_count"}
    assert turn == expected


async def test_a_tool_turns_a_light_on(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A call of the model's is a call of Home Assistant's, and its result goes back."""
    ollama.stand_in.script = calls(call(TURN_ON, name="Ceiling", domain='["light"]', area=""))
    result = await house.ask("Light, please", "kitchen")
    state = house.hass.states.get("light.ceiling")
    assert state is not None
    assert state.state == "on"
    assert speech(result) == "Done."
    assert len(turns(result)) == len(ollama.records) == 2
    assert [message["role"] for message in ollama.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert ollama.messages[2]["tool_calls"] == [
        {"function": {"name": TURN_ON, "arguments": {"name": "Ceiling", "domain": ["light"]}}}
    ]
    assert ollama.messages[3]["tool_name"] == TURN_ON
    assert "light.ceiling" in ollama.messages[3]["content"]
    assert [success.id for success in result.response.success_results] == ["light.ceiling"]


SLIPS: dict[str, tuple[object, bool]] = {
    "text for an object": ('{"name": "Ceiling"}', True),
    "text for a list": ({"name": "Ceiling", "domain": '["light"]'}, True),
    "empty values": ({"name": "Ceiling", "area": "", "floor": None}, True),
    "half a list": ({"name": "Ceiling", "domain": '["light"'}, False),
    "half an object": ('{"name": "Ceil', False),
    "a list": (["Ceiling"], False),
    "nothing": (None, False),
}


@pytest.mark.parametrize(("arguments", "understood"), SLIPS.values(), ids=SLIPS)
async def test_small_models_slip(
    house: House, agent: ConfigEntry, ollama: Ollama, arguments: object, *, understood: bool
) -> None:
    """Arguments written as text are understood, and others answered with an error."""
    ollama.stand_in.script = calls({"function": {"name": TURN_ON, "arguments": arguments}})
    assert speech(await house.ask("Light, please")) == "Done."
    state = house.hass.states.get("light.ceiling")
    assert state is not None
    assert (state.state == "on") is understood
    assert ('"error"' in ollama.messages[-1]["content"]) is not understood


async def test_a_tool_of_another_room(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A timer in a room that keeps none: the tool says so, and the model can pass it on."""
    ollama.stand_in.script = calls(call("intent__HassStartTimer", minutes=5), then="Not here.")
    result = await house.ask("Five minutes", "bedroom")
    assert speech(result) == "Not here."
    assert ollama.messages[-1]["content"] == (
        '{"error":{"error":"NotAvailableHere","error_text":'
        '"That cannot be done from this device, or not by this person."}}'
    )
    await house.ask("Five minutes", "kitchen")
    assert '"error"' not in ollama.messages[-1]["content"]


async def test_a_tool_that_no_one_has(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A tool that the model made up is answered with an error, and the talk goes on."""
    ollama.stand_in.script = calls(call("MakeCoffee"), then="I cannot.")
    assert speech(await house.ask("Coffee!")) == "I cannot."
    assert 'Tool \\"MakeCoffee\\" not found' in ollama.messages[-1]["content"]


async def test_ten_rounds_at_most(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A model that calls tools for ever is stopped."""
    ollama.stand_in.script = lambda _: Scripted(tool_calls=[call("llm__GetDateTime")])
    result = await house.ask("What time is it?")
    assert len(ollama.records) == 10
    assert result.response.response_type.value == "error"


async def test_thinking_is_sent_again(house: House, ollama: Ollama) -> None:
    """What a model thought goes back with its answer, and is not spoken."""
    ollama.stand_in.models[0].capabilities = ("completion", "tools", "thinking")
    await house.set_up(add_server(house.hass, ollama.url, think=True))
    ollama.stand_in.script = in_turn(
        Scripted(thinking="Hm.", content="Yes?"), Scripted(content="Good.")
    )
    result = await house.ask("Are you there?", conversation_id="talk")
    assert speech(result) == "Yes?"
    assert result.continue_conversation
    await house.ask("Good", conversation_id="talk")
    ollama.stand_in.models[0].capabilities = ("completion", "tools")
    assert ollama.body["think"] is True
    assert ollama.messages[2] == {"role": "assistant", "content": "Yes?", "thinking": "Hm."}


@pytest.mark.parametrize(("limit", "sent"), [(4, [1, 2, 3, 4, 5, 4, 5, 4]), (0, range(1, 9))])
async def test_old_rounds_go_in_blocks(
    house: House, ollama: Ollama, limit: int, sent: list[int]
) -> None:
    """Past the limit half of the rounds go at once, each with all of its calls."""
    await house.set_up(add_server(house.hass, ollama.url, max_history=limit))
    ollama.stand_in.script = calls(call("llm__GetDateTime"))
    questions: list[int] = []
    for number in range(8):
        await house.ask(f"Question {number}", conversation_id="talk")
        roles = [message["role"] for message in ollama.messages]
        assert roles[:2] == ["system", "user"]
        assert roles.count("tool") == roles.count("user")
        questions.append(roles.count("user"))
    assert questions == list(sent)


@pytest.mark.parametrize(
    ("count", "limit", "dropped"),
    [(20, 20, 0), (21, 20, 10), (30, 20, 10), (31, 20, 20), (5, 0, 0), (2, 1, 1), (9, 1, 8)],
)
def test_how_many_rounds_go(count: int, limit: int, dropped: int) -> None:
    """The prefix moves once in half the limit of questions."""
    assert rounds_to_drop(count, limit) == dropped


async def test_rounds_that_do_not_fit(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Old rounds go before the server would drop messages at its window's end."""
    ollama.stand_in.script = says("Yes.")
    questions = []
    for number in range(5):
        await house.ask(f"{number} " + "and on " * 600, conversation_id="talk")
        questions.append([m["role"] for m in ollama.messages].count("user"))
        assert ollama.messages[-1]["content"].split("\n\n")[-1].startswith(f"{number} ")
    assert questions[:2] == [1, 2]
    assert max(questions) < 5
    assert all(record.prompt_tokens < NUM_CTX for record in ollama.records if record.prompt_tokens)


async def test_errors_of_others(house: House) -> None:
    """An error that is not ours keeps its words."""
    heard = conversation.ConversationInput("hello", Context(), "talk", None, None, "fr", "agent")
    for error in (
        HomeAssistantError("The bulb is broken"),
        HomeAssistantError("The bulb is broken", translation_domain=DOMAIN, translation_key="bulb"),
    ):
        result = await async_error_reply(house.hass, heard, error, "talk")
        assert speech(result) == str(error)


async def test_over_the_websocket(
    house: House, agent: ConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """The agent is listed for every language, and its reply is sent with the counts."""
    assert await async_setup_component(house.hass, "websocket_api", {})
    client = await hass_ws_client(house.hass)
    await client.send_json_auto_id({"type": "conversation/agent/list"})
    agents = (await client.receive_json())["result"]["agents"]
    (listed,) = (entry for entry in agents if entry["id"] == AGENT)
    assert (listed["name"], listed["supported_languages"]) == ("Warm", "*")
    for conversation_id in ("ollama_warm.x", "talk"):
        question = {"text": "hello", "agent_id": AGENT, "conversation_id": conversation_id}
        await client.send_json_auto_id({"type": "conversation/process", **question})
        reply = (await client.receive_json())["result"]
        assert reply["conversation_id"] == conversation_id
        data = reply["response"]["speech"]["plain"]["extra_data"]["ollama_warm"]
        assert [tuple(turn) for turn in data["turns"]] == [KEYS]
