"""A voice assistant's real pipeline: what is asked in it is never a warm-up."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from homeassistant.config_entries import ConfigEntry
from homeassistant.setup import async_setup_component

from .support.house import AGENT, House
from .support.scripts import call, calls, says
from .support.sentences import sentence
from .support.server import Ollama

ID = "ollama_warm.x"
TURN_ON = "intent__HassTurnOn"


@pytest.fixture
async def client(
    house: House, agent: ConfigEntry, hass_ws_client: WebSocketGenerator
) -> MockHAClientWebSocket:
    """Return a connection to a Home Assistant with voice assistants."""
    assert await async_setup_component(house.hass, "assist_pipeline", {})
    return await hass_ws_client(house.hass)


async def assistant(client: MockHAClientWebSocket, *, local: bool) -> str:
    """Add a voice assistant with our agent, and return its id."""
    await client.send_json_auto_id(
        {
            "type": "assist_pipeline/pipeline/create",
            "name": "Voice",
            "language": "en",
            "conversation_engine": AGENT,
            "conversation_language": "en",
            "stt_engine": None,
            "stt_language": None,
            "tts_engine": None,
            "tts_language": None,
            "tts_voice": None,
            "wake_word_entity": None,
            "wake_word_id": None,
            "prefer_local_intents": local,
        }
    )
    created = await client.receive_json()
    assert created["success"], created
    pipeline_id: str = created["result"]["id"]
    return pipeline_id


async def run(
    client: MockHAClientWebSocket, pipeline: str, text: str, conversation_id: str
) -> dict[str, Any]:
    """Run a pipeline with a text, and return what its agent replied."""
    await client.send_json_auto_id(
        {
            "type": "assist_pipeline/run",
            "start_stage": "intent",
            "end_stage": "intent",
            "input": {"text": text},
            "pipeline": pipeline,
            "conversation_id": conversation_id,
        }
    )
    reply: dict[str, Any] = {}
    while True:
        message = await client.receive_json()
        event = message.get("event") or {}
        if event.get("type") == "intent-end":
            reply = event["data"]["intent_output"]
        if event.get("type") == "run-end":
            return reply


@pytest.mark.parametrize("local", [True, False])
async def test_an_id_of_ours(
    house: House,
    ollama: Ollama,
    client: MockHAClientWebSocket,
    caplog: pytest.LogCaptureFixture,
    *,
    local: bool,
) -> None:
    """Our agent does nothing there, says why, and keeps nothing, however often it is asked."""
    ollama.stand_in.script = calls(call(TURN_ON, name="Ceiling"))
    pipeline = await assistant(client, local=local)
    for words in ("please make it bright, canary", "a second canary"):
        reply = await run(client, pipeline, words, ID)
        assert reply["response"]["response_type"] == "error"
        assert reply["response"]["speech"]["plain"]["speech"] == await sentence(
            house.hass, "exceptions", "no_warm_up_in_pipeline.message"
        )
    assert not ollama.records
    state = house.hass.states.get("light.ceiling")
    assert state is not None
    assert state.state != "on"
    ours = (record for record in caplog.records if "ollama_warm" in record.name)
    assert not any("canary" in record.getMessage() for record in ours)


async def test_what_home_assistant_answers_first(
    house: House, ollama: Ollama, client: MockHAClientWebSocket
) -> None:
    """What its own agent takes for a command is no warm-up of ours, and never comes to us."""
    pipeline = await assistant(client, local=True)
    reply = await run(client, pipeline, "turn on ceiling", ID)
    assert reply["response"]["response_type"] == "action_done"
    assert (
        "extra_data" not in reply["response"]["speech"].get("plain", {})
        or not reply["response"]["speech"]["plain"]["extra_data"]
    )
    assert not ollama.records


@pytest.mark.parametrize("local", [True, False])
async def test_a_person(
    house: House, ollama: Ollama, client: MockHAClientWebSocket, *, local: bool
) -> None:
    """With any other id a pipeline asks the agent, and a warm-up outside of it is one."""
    ollama.stand_in.script = says("Hello.")
    pipeline = await assistant(client, local=local)
    reply = await run(client, pipeline, "how are you", "talk")
    assert reply["response"]["speech"]["plain"]["speech"] == "Hello."
    result = await house.ask("how are you", conversation_id=ID)
    assert result.response.response_type.value == "action_done"
    assert ollama.body["options"]["num_predict"] == 1
