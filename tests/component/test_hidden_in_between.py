"""Something that is un-exposed while a question waits, or is being answered."""

import asyncio

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context
from homeassistant.helpers import entity_registry as er, llm
from tests.rig.ollama import Scripted

from .support.house import House, speech
from .support.scripts import call, in_turn
from .support.server import Ollama

LIVE = "homeassistant__GetLiveContext"
ON = "intent__HassTurnOn"


def sent(ollama: Ollama) -> str:
    """Return the last request as one text."""
    return str(ollama.body)


@pytest.mark.parametrize("conversation_id", [None, "talk"])
async def test_while_a_question_waits(
    house: House, agent: ConfigEntry, ollama: Ollama, conversation_id: str | None
) -> None:
    """A question that waits for a warm-up is sent as the house is after that."""
    warmed = agent.runtime_data.agents["agent"]
    turnstile = warmed.server.turnstile
    over = asyncio.Event()
    begun = asyncio.Event()

    async def read() -> None:
        begun.set()
        await over.wait()

    async def warm_up() -> None:
        async with turnstile.warm_up(warmed):
            await turnstile.request(read)

    await house.ask("hello", conversation_id=conversation_id)
    warming = asyncio.create_task(warm_up())
    await begun.wait()
    question = asyncio.create_task(house.ask("turn it on", conversation_id=conversation_id))
    for _ in range(20):
        await asyncio.sleep(0)
    assert turnstile.recently_used
    assert len(ollama.records) == 1
    house.expose("light.bedside", exposed=False)
    over.set()
    await asyncio.gather(question, warming)
    assert "Ceiling" in sent(ollama)
    assert "Bedside" not in sent(ollama)


@pytest.fixture
def hides(monkeypatch: pytest.MonkeyPatch, house: House) -> None:
    """Have the light by the bed hidden at the end of each tool's call."""
    call_tool = llm.APIInstance.async_call_tool

    async def call_and_hide(self: llm.APIInstance, tool_input: llm.ToolInput) -> llm.ToolResult:
        try:
            return await call_tool(self, tool_input)
        finally:
            house.expose("light.bedside", exposed=False)

    monkeypatch.setattr(llm.APIInstance, "async_call_tool", call_and_hide)


CALLS = {
    "what is on": call(LIVE),
    "turn all on": call(ON, domain=["light"]),
    "turn that on": call(ON, name="Bedside"),
    "turn the lamp in the bedroom on": call(ON, name="Ceiling", area="Bedside"),
}


@pytest.mark.parametrize(("words", "tool_call"), CALLS.items(), ids=CALLS)
async def test_while_a_tool_runs(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    hides: None,
    words: str,
    tool_call: dict[str, object],
) -> None:
    """Prompt, history, call and result are without it; what the person asked is answered."""
    ollama.stand_in.script = in_turn(
        Scripted(content="The Bedside is on."),
        Scripted(content="Yes."),
        Scripted(tool_calls=[tool_call]),
        Scripted(content="Done."),
    )
    await house.ask("what is on", conversation_id="talk")
    await house.ask("thank you", conversation_id="talk")
    assert speech(await house.ask(words, conversation_id="talk")) == "Done."
    assert len(ollama.records) == 4
    assert "Bedside" in str(ollama.records[2].body)
    assert "bedside" not in sent(ollama).casefold()
    assert "Ceiling" in ollama.messages[0]["content"]
    assert [message["role"] for message in ollama.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
    ]
    assert "thank you" in ollama.messages[1]["content"]


async def test_what_the_person_said_stays(
    house: House, agent: ConfigEntry, ollama: Ollama, hides: None, freezer: FrozenDateTimeFactory
) -> None:
    """Their own words are their question, and the model knows what its call was about."""
    ollama.stand_in.script = in_turn(
        Scripted(tool_calls=[call(ON, name="Bedside")]), Scripted(content="Done.")
    )
    await house.ask("turn the bedside on", conversation_id="talk")
    assert "Bedside" not in ollama.messages[0]["content"]
    assert ollama.messages[2]["tool_calls"] == [call(ON, name="Bedside")]
    freezer.tick(1)
    ollama.stand_in.script = None
    await house.ask("and now", conversation_id="talk")
    assert "bedside" not in sent(ollama).casefold()


async def test_a_new_device_that_is_hidden_again(
    house: House, agent: ConfigEntry, ollama: Ollama, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What rode with the question as new is not sent again with a tool's answer."""
    await house.ask("hello")
    house.expose("light.porch")
    call_tool = llm.APIInstance.async_call_tool

    async def call_and_hide(self: llm.APIInstance, tool_input: llm.ToolInput) -> llm.ToolResult:
        house.expose("light.porch", exposed=False)
        return await call_tool(self, tool_input)

    monkeypatch.setattr(llm.APIInstance, "async_call_tool", call_and_hide)
    ollama.stand_in.script = in_turn(Scripted(tool_calls=[call(LIVE)]), Scripted(content="Done."))
    await house.ask("what is new", "kitchen")
    assert "Porch" in ollama.records[1].body["messages"][1]["content"]
    assert "Porch" not in sent(ollama)
    assert "You are in area Kitchen" in ollama.messages[1]["content"]


async def test_tools_that_change_nothing(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A prompt is built once for a question with tools where nothing is hidden."""
    ollama.stand_in.script = in_turn(Scripted(tool_calls=[call(LIVE)]), Scripted(content="Done."))
    built = 0
    provide = conversation.ChatLog.async_provide_llm_data

    async def count(self: conversation.ChatLog, *args: object, **more: object) -> None:
        nonlocal built
        built += self.conversation_id == "talk"
        await provide(self, *args, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(conversation.ChatLog, "async_provide_llm_data", count)
        await house.ask("what is on", conversation_id="talk", context=Context())
    assert built == 1
    assert er.async_get(house.hass).async_get("light.bedside")
