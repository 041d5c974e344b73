"""What a person hears when something goes wrong, and that the next question is answered."""

import json
from typing import Any

import pytest

from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.config_entries import ConfigEntry
from tests.rig.ollama import Fault, FaultKind, Scripted

from .support.house import House, add_server, speech, turns
from .support.scripts import call, calls, says
from .support.sentences import sentence
from .support.server import API_KEY, NOWHERE, Ollama, answering

BROKEN_OFF = "The model server at {url} stopped in the middle of its answer. Please ask again."
HEARD = {
    FaultKind.CLOSE: ("broken_answer", "", BROKEN_OFF),
    FaultKind.HALF_LINE: ("broken_answer", "", BROKEN_OFF),
    FaultKind.ERROR_LINE: (
        "server_error",
        "an error was encountered while running the model",
        "The model server reports an error: {message}",
    ),
    FaultKind.STATUS_500: (
        "server_error",
        "llama-server process has terminated: exit status 2",
        "The model server reports an error: {message}",
    ),
    FaultKind.STATUS_401: (
        "invalid_auth",
        "",
        (
            "The model server at {url} does not accept the API key. Enter the right one in the "
            "settings of Ollama Warm."
        ),
    ),
    FaultKind.HTML: (
        "not_ollama",
        "",
        (
            "Something answers at {url}, but it is not Ollama. Check the address in the settings "
            "of Ollama Warm."
        ),
    ),
}


@pytest.mark.parametrize("kind", HEARD)
@pytest.mark.parametrize("conversation_id", ["talk", "ollama_warm.talk"])
async def test_the_server_fails(
    house: House, agent: ConfigEntry, ollama: Ollama, conversation_id: str, kind: FaultKind
) -> None:
    """It is said in the person's language, nothing is remembered of it, and it is over then."""
    key, message, english = HEARD[kind]
    values = {"url": ollama.url, "message": message}
    french = await sentence(house.hass, "exceptions", f"{key}.message", values, "fr")
    ollama.stand_in.script = says("One ", "two ", "three.")
    ollama.stand_in.fault = Fault(kind, after=1)
    for language, expected in (("en", english), ("fr", french), ("tlh", english)):
        result = await house.ask("Count", conversation_id=conversation_id, language=language)
        assert result.response.response_type.value == "error"
        assert speech(result) == expected.format(**values)
        assert result.conversation_id == conversation_id
    assert conversation_id not in house.hass.data.get(DATA_CHAT_LOGS, {})
    ollama.stand_in.fault = None
    result = await house.ask("Count", conversation_id=conversation_id)
    assert speech(result) == ("" if "." in conversation_id else "One two three.")
    assert [message["role"] for message in ollama.messages] == ["system", "user"]


async def test_the_server_is_down(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A server that is switched off is named; when it is back, it answers."""
    await ollama.run(ollama.stand_in.stop())
    result = await house.ask("hello", "kitchen", language="fr")
    await ollama.run(ollama.stand_in.start())
    assert speech(result) == (
        f"Je ne peux pas joindre le serveur de modèles à l\u2019adresse {ollama.url}. Vérifiez "
        "qu\u2019Ollama est démarré."
    )
    result = await house.ask("hello", "kitchen")
    assert result.response.response_type.value == "action_done"


async def test_the_model_dies(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A model whose process was killed is loaded again for the next question."""
    await house.ask("hello", "kitchen")
    await ollama.run(ollama.stand_in.restart_backend("tiny"))
    result = await house.ask("hello again", "kitchen")
    (turn,) = turns(result)
    assert (turn["verdict"], turn["cached_tokens"]) == ("server_lost_it", 0)


async def test_the_model_is_gone(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A model that someone removed from the server is named."""
    (model,) = ollama.stand_in.models
    ollama.stand_in.models.clear()
    result = await house.ask("hello")
    ollama.stand_in.models.append(model)
    assert speech(result) == (
        "The model server does not have the model tiny. Fetch it there, or choose another one in "
        "the agent's settings."
    )
    assert (await house.ask("hello")).response.response_type.value == "action_done"


@pytest.mark.parametrize("conversation_id", [None, "ollama_warm.x"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"prompt": "It is {{ now( }}"}, "Sorry, I had a problem with my template"),
        ({"llm_hass_api": ["gone"]}, "Error preparing LLM API"),
    ],
)
async def test_no_prompt_can_be_built(
    house: House,
    ollama: Ollama,
    options: dict[str, Any],
    expected: str,
    conversation_id: str | None,
) -> None:
    """Home Assistant's own words are spoken, and the server is not asked."""
    await house.set_up(add_server(house.hass, ollama.url, **options))
    result = await house.ask("hello", conversation_id=conversation_id)
    assert result.response.response_type.value == "error"
    assert speech(result) == expected
    assert not ollama.records


async def test_without_tools(house: House, ollama: Ollama) -> None:
    """An agent that may not see the house is asked without tools, the clock in the tail."""
    await house.set_up(add_server(house.hass, ollama.url, llm_hass_api=None))
    ollama.stand_in.script = says("Hello.")
    assert speech(await house.ask("hello", "kitchen")) == "Hello."
    assert ollama.body["tools"] == []
    state = house.hass.states.get("conversation.warm")
    assert state is not None
    assert state.attributes["supported_features"] == 0


async def test_settings_that_changed(house: House, ollama: Ollama) -> None:
    """An address that is wrong now is said so, and right again after it was changed back."""
    ollama.stand_in.api_key = API_KEY
    entry = await house.set_up(add_server(house.hass, ollama.url, api_key=API_KEY))
    entry.runtime_data.server.client.url = NOWHERE
    assert speech(await house.ask("hello")).startswith(
        f"I cannot reach the model server at {NOWHERE}"
    )
    await house.hass.config_entries.async_reload(entry.entry_id)
    assert (await house.ask("hello")).response.response_type.value == "action_done"


async def test_calls_for_ever(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A model that only calls tools is stopped, and can be asked again."""
    ollama.stand_in.script = lambda _: Scripted(tool_calls=[call("llm__GetDateTime")])
    result = await house.ask("What time is it?")
    assert len(ollama.records) == 10
    assert result.response.response_type.value == "error"
    ollama.stand_in.script = says("Noon.")
    assert speech(await house.ask("What time is it?")) == "Noon."


OLLAMA_COUNTS = {
    "reloaded": ({"cached": 0, "load_duration": 4 * 10**9}, "model_loaded"),
    "one batch back": ({"cached": 3000 - 1024 - 20}, "checkpoint"),
    "something else": ({"cached": 300}, "evicted"),
}


@pytest.mark.parametrize(("counts", "reason"), OLLAMA_COUNTS.values(), ids=OLLAMA_COUNTS)
async def test_why_a_server_lost_it(
    house: House, agent: ConfigEntry, ollama: Ollama, counts: dict[str, int], reason: str
) -> None:
    """The likeliest reason is named when tokens are read again that the server had."""
    await house.ask("hello", "kitchen")
    last = {"message": {"content": "Yes."}, "done": True, "prompt_eval_count": 3000, **counts}
    last["prompt_eval_cached_count"] = last.pop("cached")
    async with answering(json.dumps(last).encode()) as url:
        agent.runtime_data.server.client.url = url
        (turn,) = turns(await house.ask("hello again", "kitchen"))
    assert (turn["verdict"], turn["reason"]) == ("server_lost_it", reason)


async def test_a_tool_call_without_tools(house: House, ollama: Ollama) -> None:
    """A model that calls a tool though it was offered none is answered with an error."""
    await house.set_up(add_server(house.hass, ollama.url, llm_hass_api=None))
    ollama.stand_in.script = calls(call("HassTurnOn", name="Ceiling"))
    result = await house.ask("Light, please")
    assert result.response.response_type.value in ("error", "action_done")


NOTHING_TO_SAY = {
    "says nothing": Scripted(content=""),
    "only thinks": Scripted(thinking="They want something."),
    "thinks, and breaks a line": Scripted(thinking="Hm.", content=["\n", " "]),
    "calls for ever": Scripted(tool_calls=[call("llm__GetDateTime")]),
}


@pytest.mark.parametrize("answer", NOTHING_TO_SAY.values(), ids=NOTHING_TO_SAY)
async def test_nothing_to_say(
    house: House, agent: ConfigEntry, ollama: Ollama, answer: Scripted
) -> None:
    """A model that reaches no answer is reported in the person's language."""
    ollama.stand_in.script = lambda _: answer
    result = await house.ask("hello", conversation_id="talk", language="fr")
    assert result.response.response_type.value == "error"
    assert result.conversation_id == "talk"
    assert speech(result) == await sentence(
        house.hass, "exceptions", "no_answer.message", language="fr"
    )
