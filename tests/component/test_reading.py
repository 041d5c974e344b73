"""Answers that no honest server sends: endless, huge, deep, and full of numbers that are none."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
import gc
import gzip
import json
import time
from typing import Any

import aiohttp
from hypothesis import given, settings, strategies as st
import pytest

from custom_components.ollama_warm.agent.answer import Answer
from custom_components.ollama_warm.ollama import reading
from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.ollama.counts import Counts
from custom_components.ollama_warm.ollama.download import async_download
from custom_components.ollama_warm.ollama.errors import (
    BrokenAnswerError,
    NotOllamaError,
    OllamaError,
    ServerError,
    UnreadableAnswerError,
)
from homeassistant.exceptions import HomeAssistantError

from .support.server import JSON, answering, reply

BODY: dict[str, Any] = {"model": "tiny", "messages": []}
DONE = b'{"done": true, "prompt_eval_count": 9}\n'
DEEP = 100_000
FAILED = reply("500 Internal Server Error", "application/json")
MEGABYTE = b"x" * reading.MIB


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    """Return a session as Home Assistant shares one."""
    async with aiohttp.ClientSession() as opened:
        yield opened


class Endless:
    """A server that sends the same piece again and again until its client goes."""

    def __init__(self, head: bytes, first: bytes, piece: bytes) -> None:
        """Send a head, a first piece, and then this piece without end."""
        self._start = head + first
        self._piece = piece
        self.sent = 0
        self.flowing = asyncio.Event()
        self.gone = asyncio.Event()
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Endless]:
        """Serve."""
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield self

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self._start)
            while True:
                writer.write(self._piece)
                await writer.drain()
                self.sent += len(self._piece)
                if self.sent > reading.MIB:
                    self.flowing.set()
                await asyncio.sleep(0)
        except OSError, asyncio.IncompleteReadError:
            self.gone.set()
        finally:
            writer.close()


async def chunks_of(client: OllamaClient) -> list[dict[str, Any]]:
    """Return the whole answer to a question."""
    return [chunk async for chunk in client.chat(BODY)]


QUICK = ("version", "models", "loaded")


@pytest.mark.parametrize("head", [JSON, FAILED], ids=["200", "500"])
async def test_a_body_without_an_end(session: aiohttp.ClientSession, head: bytes) -> None:
    """It is given up after what no honest answer has, whoever asked."""
    async with Endless(head, b'{"models": "', MEGABYTE).running() as server:
        client = OllamaClient(session, server.url)
        for ask in (*(getattr(client, name) for name in QUICK), lambda: client.show("tiny")):
            server.gone.clear()
            server.sent = 0
            with pytest.raises(UnreadableAnswerError) as caught:
                await ask()
            assert caught.value.translation_placeholders == {"url": server.url}
            await server.gone.wait()
            # What lies in the buffers of both sides is sent, too.
            assert server.sent < reading.LONGEST_BODY + 32 * reading.MIB


async def test_a_line_without_an_end(session: aiohttp.ClientSession) -> None:
    """A stream whose line never ends is given up."""
    first = b'{"message": {"content": "'
    async with Endless(reply(), first, MEGABYTE).running() as server:
        with pytest.raises(UnreadableAnswerError):
            await chunks_of(OllamaClient(session, server.url))
        await server.gone.wait()
        assert server.sent < reading.LONGEST_LINE + 32 * reading.MIB


async def test_a_long_answer_is_honest(session: aiohttp.ClientSession) -> None:
    """A long list of models, and an answer of many chunks, are read whole."""
    models = [{"name": f"model-{number}", "size": number} for number in range(10_000)]
    async with answering(json.dumps({"models": models}).encode(), head=JSON) as url:
        assert len(await OllamaClient(session, url).models()) == len(models)
    chunk = b'{"message": {"role": "assistant", "content": "word "}, "done": false}\n'
    async with answering(*[chunk * 1000] * 20, DONE) as url:
        assert len(await chunks_of(OllamaClient(session, url))) == 20_001


@pytest.mark.parametrize("head", [JSON, FAILED], ids=["200", "500"])
async def test_compressed(session: aiohttp.ClientSession, head: bytes) -> None:
    """Nothing is asked for compressed, and what comes so is not unpacked."""
    bomb = gzip.compress(b"[" * 10**7)
    head = head.replace(b"Connection", b"Content-Encoding: gzip\r\nConnection")
    async with answering(bomb, head=head) as url:
        for name in QUICK:
            with pytest.raises(UnreadableAnswerError):
                await getattr(OllamaClient(session, url), name)()


def nested(opening: str, inner: str, closing: str, depth: int = DEEP) -> bytes:
    """Return something nested deep."""
    return f"{opening * depth}{inner}{closing * depth}".encode()


LISTS, OBJECTS = nested("[", "", "]"), nested('{"a":', "1", "}")
CALL = b'{"message": {"tool_calls": [{"function": {"name": "a", "arguments": %s}}]}}\n'
DEEP_STREAMS = {
    "a chunk": [b'{"message": ' + LISTS + b"}\n"],
    "a chunk of objects": [b'{"message": ' + OBJECTS + b"}\n"],
    "arguments": [CALL % OBJECTS],
    "an error": [b'{"error": ' + LISTS + b"}\n"],
    "the last chunk": [b'{"done": true, "more": ' + LISTS + b"}\n"],
    "not so deep": [CALL % nested('{"a":', "1", "}", reading.DEEPEST)],
}


@pytest.mark.parametrize("pieces", DEEP_STREAMS.values(), ids=DEEP_STREAMS)
async def test_deep_streams(session: aiohttp.ClientSession, pieces: list[bytes]) -> None:
    """What is nested too deep is no answer."""
    async with answering(*pieces, DONE) as url:
        with pytest.raises(UnreadableAnswerError):
            await chunks_of(OllamaClient(session, url))


@pytest.mark.parametrize("text", [LISTS, OBJECTS, b'{"error": ' + LISTS + b"}"])
@pytest.mark.parametrize("head", [JSON, FAILED], ids=["200", "500"])
async def test_deep_bodies(session: aiohttp.ClientSession, head: bytes, text: bytes) -> None:
    """The same of an answer in one piece, an error or not."""
    async with answering(text, head=head) as url:
        with pytest.raises(UnreadableAnswerError):
            await OllamaClient(session, url).version()


BAD_JSON = {
    "no UTF-8": (b'{"version": "\xff\xfe"}', BrokenAnswerError),
    "not a number": (b'{"version": NaN}', BrokenAnswerError),
    "infinity": (b'{"version": -Infinity}', BrokenAnswerError),
    "a number of 5,000 digits": (b'{"version": ' + b"9" * 5000 + b"}", BrokenAnswerError),
    "a list": (b"[1, 2]", NotOllamaError),
    "nothing": (b"", BrokenAnswerError),
}


@pytest.mark.parametrize(("text", "expected"), BAD_JSON.values(), ids=BAD_JSON)
async def test_what_is_no_json(
    session: aiohttp.ClientSession, text: bytes, expected: type[OllamaError]
) -> None:
    """Each has its error, in a body and in a stream."""
    async with answering(text, head=JSON) as url:
        with pytest.raises(expected):
            await OllamaClient(session, url).version()
    async with answering(text + b"\n") as url:
        with pytest.raises((expected, BrokenAnswerError)):
            await chunks_of(OllamaClient(session, url))


NO_COUNT = st.one_of(
    st.none(), st.booleans(), st.text(), st.floats(), st.integers(max_value=-1),
    st.lists(st.integers()), st.dictionaries(st.text(), st.integers()),
    st.integers(min_value=2**63),
)  # fmt: skip
FIELDS = ("prompt_tokens", "cached_tokens", "prefill_s", "load_s", "total_s", "answer_tokens")
NAMES = (
    "prompt_eval_count",
    "prompt_eval_cached_count",
    "prompt_eval_duration",
    "load_duration",
    "total_duration",
    "eval_count",
)


@settings(deadline=None)
@given(value=NO_COUNT)
@pytest.mark.parametrize("place", range(len(NAMES)))
def test_what_is_no_count(place: int, value: object) -> None:
    """It is unknown: never 0, never below it, and no other count suffers."""
    good = dict.fromkeys(NAMES, 7)
    counts = Counts.from_chunk(good | {NAMES[place]: value})
    assert getattr(counts, FIELDS[place]) is None
    assert all(getattr(counts, one) for one in FIELDS if one != FIELDS[place])


@settings(deadline=None)
@given(prompt=st.integers(1, 10**6), cached=st.integers(0, 10**6))
def test_more_cached_than_there_are(prompt: int, cached: int) -> None:
    """Counts that contradict each other leave the cached one unknown."""
    counts = Counts.from_chunk({"prompt_eval_count": prompt, "prompt_eval_cached_count": cached})
    assert counts.prompt_tokens == prompt
    assert counts.cached_tokens == (cached if cached <= prompt else None)


def test_a_prompt_of_no_tokens() -> None:
    """There is none, so nothing is known of it, and nothing of it can be warm."""
    counts = Counts.from_chunk({"prompt_eval_count": 0, "prompt_eval_cached_count": 0})
    assert counts.prompt_tokens is None


async def _given(*chunks: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """Yield chunks."""
    for chunk in chunks:
        yield chunk


def message(**parts: object) -> dict[str, Any]:
    """Return a chunk."""
    return {"message": {"role": "assistant", **parts}, "done": False}


def calls(count: int, name: object = "a", arguments: object = None) -> dict[str, Any]:
    """Return a chunk with tool calls."""
    return message(tool_calls=[{"function": {"name": name, "arguments": arguments}}] * count)


async def answer_of(*chunks: dict[str, Any]) -> list[Any]:
    """Return what an answer adds to the chat log."""
    answer = Answer(_given(*chunks), may_call=True, asked=time.monotonic())
    return [delta async for delta in answer.deltas()]


@pytest.mark.parametrize("chunks", [[calls(10_000)], [calls(1)] * 10_000, [calls(40), calls(40)]])
async def test_calls_without_end(chunks: list[dict[str, Any]]) -> None:
    """A model that loops is stopped before the house is."""
    with pytest.raises(HomeAssistantError) as caught:
        await answer_of(*chunks)
    assert caught.value.translation_key == "too_many_calls"


@pytest.mark.parametrize(
    ("name", "called"), [(None, ""), (7, ""), (["a"], ""), ("b" * 10**6, "b" * 256), ("a", "a")]
)
async def test_names_of_tools(name: object, called: str) -> None:
    """A name is a text of bounded length."""
    (delta,) = await answer_of(calls(1, name))
    assert delta["tool_calls"][0].tool_name == called


@pytest.mark.parametrize(
    "arguments", [None, 7, "x", [1], "[" * DEEP, OBJECTS.decode(), "NaN", True]
)
async def test_arguments(arguments: object) -> None:
    """Arguments are an object, or none."""
    (delta,) = await answer_of(calls(1, "a", arguments))
    assert delta["tool_calls"][0].tool_args == {}


async def test_text_in_arguments() -> None:
    """A text that looks like JSON and is none, or is too deep, stays a text."""
    deep = LISTS.decode()
    (delta,) = await answer_of(calls(1, "a", {"one": "[1", "two": deep, "three": "[1]"}))
    assert delta["tool_calls"][0].tool_args == {"one": "[1", "two": deep, "three": [1]}


@pytest.mark.parametrize(
    "behind", [DONE, b'{"error": "late"}\n', b'{"done": false}\n', b"{{{\n", LISTS]
)
async def test_what_comes_after_the_end(session: aiohttp.ClientSession, behind: bytes) -> None:
    """An answer that has ended is whole, whatever follows, and no one waits for it to stop."""
    async with Endless(reply(), DONE, behind).running() as server:
        (chunk,) = await chunks_of(OllamaClient(session, server.url))
        assert Counts.from_chunk(chunk).prompt_tokens == 9
        await server.gone.wait()


TICK = b'{"message": {"content": "tick "}, "done": false}\n'


async def _as_an_agent(client: OllamaClient) -> None:
    """Read an answer as an agent does."""
    answer = Answer(client.chat(BODY), may_call=False, asked=time.monotonic())
    async with aclosing(answer.deltas()) as deltas:
        async for _delta in deltas:
            pass


async def _as_a_warm_up(client: OllamaClient) -> None:
    """Read an answer as a warm-up does."""
    await client.chat_counts(BODY)


async def _as_a_download(client: OllamaClient) -> None:
    """Wait for a download."""
    await async_download(client, "tiny", lambda _share: None)


PROGRESS = b'{"status": "pulling", "digest": "a", "total": 1000000, "completed": 500000}\n'


@pytest.mark.parametrize(
    ("read", "piece"), [(_as_an_agent, TICK), (_as_a_warm_up, TICK), (_as_a_download, PROGRESS)]
)
async def test_whoever_stops_hangs_up(
    session: aiohttp.ClientSession,
    read: Callable[[OllamaClient], Coroutine[Any, Any, None]],
    piece: bytes,
) -> None:
    """The connection is closed with the call that is cancelled, not when memory is tidied up."""
    async with Endless(reply(), piece, piece).running() as server:
        task = asyncio.create_task(read(OllamaClient(session, server.url)))
        await server.flowing.wait()
        gc.disable()
        try:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.gone.wait()
        finally:
            gc.enable()


async def test_an_error_of_any_kind(session: aiohttp.ClientSession) -> None:
    """An error that is no text is shown as what it is, cut."""
    async with answering(
        json.dumps({"error": {"code": 400, "message": "x" * 999}}).encode(), head=FAILED
    ) as url:
        with pytest.raises(ServerError) as caught:
            await OllamaClient(session, url).version()
    shown = (caught.value.translation_placeholders or {})["message"]
    assert shown.startswith("{'code': 400")
    assert len(shown) <= 120
