"""Tools that take their time, or never end: they keep no one else waiting."""

import asyncio
from collections.abc import AsyncGenerator
import json
import logging
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.agent import bounded_tool
from custom_components.ollama_warm.agent.bounded_tool import LONGEST_S
from custom_components.ollama_warm.ollama.turnstile import QUIET_S
from homeassistant.components.conversation import ConversationResult
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.rig.ollama import Scripted

from .support.house import House, speech, turns
from .support.scripts import Json, call
from .support.server import Ollama

BELL = "bell_rang"
SCRIPT = {
    "alias": "Bell",
    "sequence": [{"wait_for_trigger": {"trigger": "event", "event_type": BELL}}],
}
ENDS = 30
"""Seconds within which everything ends that does not wait for a tool."""


class Tools:
    """A script that waits for a bell, one that ends at once, and whether they were begun."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen to what is begun."""
        self.hass = hass
        self.begun = asyncio.Event()
        hass.bus.async_listen("script_started", self._note)

    @callback
    def _note(self, _: Event) -> None:
        self.begun.set()

    def ring(self) -> None:
        """Let the script go on."""
        self.hass.bus.async_fire(BELL)


def script(body: Json) -> Scripted:
    """Call the tools that a question names, and repeat what they say; or answer at once."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        results = [message for message in body["messages"] if message["role"] == "tool"]
        return Scripted(content=" ".join(message["content"] for message in results))
    offered = [tool["function"]["name"] for tool in body["tools"]]
    words = [word for word in ("bell", "quick") if f"<{word}>" in last["content"]]
    wanted = [name for word in words for name in offered if name.endswith(word)]
    if wanted:
        return Scripted(tool_calls=[call(name) for name in wanted])
    return Scripted(content="Yes.")


@pytest.fixture
async def tools(house: House, agent: ConfigEntry, ollama: Ollama) -> AsyncGenerator[Tools]:
    """Give the house its scripts, and the model the wish to run them."""
    tools = Tools(house.hass)
    scripts: dict[str, Any] = {"bell": SCRIPT, "quick": {"alias": "Quick", "sequence": []}}
    assert await async_setup_component(house.hass, "script", {"script": scripts})
    await house.hass.async_block_till_done()
    for name in scripts:
        house.expose(f"script.{name}")
    ollama.stand_in.script = script
    yield tools
    tools.ring()


async def passes(tools: Tools, question: asyncio.Task[ConversationResult]) -> None:
    """Wait until the tool of a question is running and nothing else is."""
    async with asyncio.timeout(ENDS):
        await tools.begun.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert not question.done()


async def test_no_one_waits_for_the_tool_of_another(
    house: House, agent: ConfigEntry, ollama: Ollama, tools: Tools
) -> None:
    """While a script waits, warm-ups go on and others are answered; then its own answer comes."""
    question = asyncio.create_task(house.ask("Wait for the <bell>", "kitchen"))
    await passes(tools, question)
    turnstile = agent.runtime_data.server.turnstile
    async with asyncio.timeout(ENDS):
        assert not turnstile.recently_used
        turn = await agent.runtime_data.warmth.async_warm("agent")
        assert turn.verdict == "warm"
        assert speech(await house.ask("Are you there?", "bedroom")) == "Yes."
        assert not question.done()
        tools.ring()
        assert json.loads(speech(await question))["result"] is not None
    assert len(turns(await question)) == 2
    assert turnstile._people == 0


async def test_the_answer_after_a_tool_takes_its_place_again(
    house: House, agent: ConfigEntry, ollama: Ollama, tools: Tools
) -> None:
    """Whoever had a tool run and goes on breaks off what came in between, as at first."""
    question = asyncio.create_task(house.ask("Wait for the <bell>", "kitchen"))
    await passes(tools, question)
    turnstile = agent.runtime_data.server.turnstile
    sent, never = asyncio.Event(), asyncio.Event()

    async def send() -> None:
        sent.set()
        await never.wait()

    async def warm_up() -> None:
        async with turnstile.warm_up("another agent"):
            await turnstile.request(send)

    warming = asyncio.create_task(warm_up())
    async with asyncio.timeout(ENDS):
        await sent.wait()
        tools.ring()
        await question
    warming.cancel()
    await asyncio.wait([warming])


@pytest.mark.parametrize("after", [0, 1], ids=["alone", "beside another"])
async def test_a_tool_that_never_ends(  # noqa: PLR0913, PLR0917 (fixtures)
    freezer: FrozenDateTimeFactory,
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    tools: Tools,
    caplog: pytest.LogCaptureFixture,
    after: int,
) -> None:
    """It is given up, the model is informed, and what other tools said is not lost."""
    words = "Wait for the <bell>, <quick>" if after else "Wait for the <bell>"
    question = asyncio.create_task(house.ask(words, "kitchen"))
    await passes(tools, question)
    freezer.tick(LONGEST_S - 1)
    await passes(tools, question)
    freezer.tick(1 + QUIET_S)
    result = await question
    assert "This did not end within 5 minutes. It may still be running." in speech(result)
    assert ("result" in speech(result)) == bool(after)
    (line,) = [record for record in caplog.records if "so the model was informed" in record.message]
    assert (line.levelno, str(LONGEST_S) in line.message) == (logging.WARNING, True)
    assert agent.runtime_data.server.turnstile._people == 0
    assert speech(await house.ask("Are you there?", "kitchen")) == "Yes."


async def test_a_tool_that_cannot_be_stopped(
    monkeypatch: pytest.MonkeyPatch, house: House, tools: Tools
) -> None:
    """A tool that goes on when it is cancelled is given up all the same."""
    monkeypatch.setattr(bounded_tool, "LONGEST_S", 0)
    cancelled, stop = asyncio.Event(), asyncio.Event()

    async def stubborn(*_: object) -> None:
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:
                cancelled.set()

    monkeypatch.setattr(llm.ActionTool, "async_call", stubborn)
    try:
        async with asyncio.timeout(ENDS):
            answer = speech(await house.ask("Wait for the <bell>", "kitchen"))
            assert "may still be running" in answer
            await cancelled.wait()
    finally:
        stop.set()


async def test_a_question_that_is_given_up(
    house: House, agent: ConfigEntry, ollama: Ollama, tools: Tools
) -> None:
    """Whoever goes away while a tool runs leaves no place taken."""
    question = asyncio.create_task(house.ask("Wait for the <bell>", "kitchen"))
    await passes(tools, question)
    question.cancel()
    await asyncio.wait([question])
    assert agent.runtime_data.server.turnstile._people == 0
