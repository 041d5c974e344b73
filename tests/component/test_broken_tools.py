"""Tools that break, or answer with what cannot be sent: the model is informed, and goes on."""

import asyncio
from collections.abc import Awaitable, Callable
import gc
import json
import logging
from typing import Any

import pytest

from custom_components.ollama_warm.agent import bounded_tool
from custom_components.ollama_warm.agent.bounded_tool import LONGEST_RESULT
from homeassistant.config_entries import ConfigEntry
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import llm

from .support.house import House, add_server, speech, turns
from .support.people import API_ID, People, PersonsTool
from .support.scripts import call, calls
from .support.server import Ollama

SECRET = "quillfeather"
"""In what a tool raises."""


def raising(error: BaseException) -> Callable[[], Awaitable[Any]]:
    """Return a tool that raises this."""

    async def work() -> None:
        raise error

    return work


def answering(data: Any) -> Callable[[], Awaitable[Any]]:  # noqa: ANN401 - anything at all
    """Return a tool that answers with this."""

    async def work() -> llm.ToolResult:
        return llm.ToolResult(data=data)

    return work


async def awaiting_the_cancelled() -> None:
    """Wait for something that someone else gave up."""
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


CIRCLE: dict[str, Any] = {}
CIRCLE["circle"] = CIRCLE
BROKEN: dict[str, tuple[Callable[[], Awaitable[Any]], str]] = {
    "is cancelled": (raising(asyncio.CancelledError(SECRET)), "CancelledError"),
    "waits for the cancelled": (awaiting_the_cancelled, "CancelledError"),
    "has a wrong value": (raising(ValueError(SECRET)), "ValueError"),
    "lacks a key": (raising(KeyError(SECRET)), "KeyError"),
    "is out of time": (raising(TimeoutError(SECRET)), "TimeoutError"),
    "has no file": (raising(OSError(SECRET)), "OSError"),
    "is no iterator": (raising(StopAsyncIteration(SECRET)), "StopAsyncIteration"),
    "answers with bytes": (answering({"a": SECRET.encode()}), "TypeError"),
    "answers with an object": (answering({"a": object()}), "TypeError"),
    "answers with half a character": (answering({"a": f"{SECRET}\ud800"}), "TypeError"),
    "answers with a huge number": (answering({SECRET: 10**30}), "TypeError"),
    "answers with a circle": (answering(CIRCLE), "TypeError"),
    "answers without end": (answering({"a": SECRET * LONGEST_RESULT}), "TooLong"),
}
IN_WORDS = {
    "fails": (raising(HomeAssistantError("no")), "HomeAssistantError"),
    "refuses": (raising(ServiceValidationError("no")), "ServiceValidationError"),
}


@pytest.fixture
async def entry(house: House, ollama: Ollama) -> ConfigEntry:
    """Return the entry of an agent with two tools."""
    People(house.hass).offers[None] = {"m_broken": "Breaks", "n_sound": "Works"}
    ollama.stand_in.script = calls(call("m_broken"), call("n_sound"))
    return await house.set_up(add_server(house.hass, ollama.url, llm_hass_api=[API_ID]))


def breaking(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Awaitable[Any]]) -> None:
    """Have one of the tools do this."""
    sound = PersonsTool.async_call

    async def act(self: PersonsTool, *rest: Any) -> Any:  # noqa: ANN401 - as it is called
        return await (work() if self.name == "m_broken" else sound(self, *rest))

    monkeypatch.setattr(PersonsTool, "async_call", act)


@pytest.mark.parametrize(
    ("work", "kind"), [*BROKEN.values(), *IN_WORDS.values()], ids=[*BROKEN, *IN_WORDS]
)
async def test_a_tool_that(  # noqa: PLR0913, PLR0917 (fixtures)
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    house: House,
    entry: ConfigEntry,
    ollama: Ollama,
    work: Callable[[], Awaitable[Any]],
    kind: str,
) -> None:
    """The question is answered, the other tool is heard, and the conversation goes on."""
    breaking(monkeypatch, work)
    caplog.set_level(logging.INFO)
    for _ in range(2):
        result = await house.ask("Do both", "kitchen", conversation_id="talk")
        assert (speech(result), len(turns(result))) == ("Done.", 2)
        answers = [message["content"] for message in ollama.messages if message["role"] == "tool"]
        assert json.loads(answers[-2])["error"]["error"] == kind
        assert json.loads(answers[-1]) == {"done": "Works"}
        assert SECRET not in str(answers)
    assert entry.runtime_data.server.turnstile._people == 0
    lines = [record for record in caplog.records if "m_broken" in record.getMessage()]
    assert len(lines) == (0 if kind in {kind for _, kind in IN_WORDS.values()} else 2)
    assert SECRET not in caplog.text


async def test_what_comes_after_it_was_given_up(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    house: House,
    entry: ConfigEntry,
) -> None:
    """A tool that fails when no one waits for it is in no log with what it says."""
    ended = asyncio.Event()

    async def late() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.set()
            raise ValueError(SECRET) from None

    monkeypatch.setattr(bounded_tool, "LONGEST_S", 0)
    breaking(monkeypatch, late)
    assert speech(await house.ask("Do both", "kitchen")) == "Done."
    await ended.wait()
    await house.hass.async_block_till_done(wait_background_tasks=True)
    gc.collect()
    assert SECRET not in caplog.text
