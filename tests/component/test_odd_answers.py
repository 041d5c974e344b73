"""Answers that make little sense: ends, errors, names and numbers that are none."""

import asyncio
from collections.abc import AsyncGenerator
import json
from typing import Any

import aiohttp
import pytest

from custom_components.ollama_warm.ollama import client as client_module, reading
from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.ollama.counts import Counts
from custom_components.ollama_warm.ollama.errors import (
    BrokenAnswerError,
    NotOllamaError,
    ServerError,
)
from custom_components.ollama_warm.ollama.server import ServerState

from .support.server import JSON, answering, reply

BODY: dict[str, Any] = {"model": "tiny", "messages": []}
DONE = b'{"done": true, "prompt_eval_count": 9}\n'
NOTHING: tuple[Any, ...] = (None, "", False, 0, [], {})


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    """Return a session as Home Assistant shares one."""
    async with aiohttp.ClientSession() as opened:
        yield opened


async def chunks_of(session: aiohttp.ClientSession, *pieces: bytes) -> list[dict[str, Any]]:
    """Return the chunks that are read of an answer."""
    async with answering(*pieces) as url:
        return [chunk async for chunk in OllamaClient(session, url).chat(BODY)]


@pytest.mark.parametrize("done", ["false", "true", 1, 2.0, [0], {"a": 1}, *NOTHING])
async def test_what_is_no_end(session: aiohttp.ClientSession, done: object) -> None:
    """Only `true` ends an answer: its counts are those of the last chunk, and without it none."""
    early = json.dumps({"done": done, "prompt_eval_count": 1}).encode() + b"\n"
    assert len(await chunks_of(session, early, DONE)) == 2
    async with answering(early, DONE) as url:
        counts = await OllamaClient(session, url).chat_counts(BODY)
    assert counts == Counts.from_chunk(json.loads(DONE))
    with pytest.raises(BrokenAnswerError):
        await chunks_of(session, early)


@pytest.mark.parametrize("error", NOTHING)
async def test_an_error_that_is_none(session: aiohttp.ClientSession, error: object) -> None:
    """A field that says nothing ends no answer; a refusal without words is named by its number."""
    said = json.dumps({"error": error}).encode()
    assert len(await chunks_of(session, said + b"\n", DONE)) == 2
    for body in (said, b"{}"):
        async with answering(body, head=reply("507 No", "application/json")) as url:
            with pytest.raises(ServerError) as caught:
                await OllamaClient(session, url).show("tiny")
        assert caught.value.translation_placeholders == {"message": "HTTP 507"}


HALVES = {
    "a chunk": (b'{"message": {"content": "\\ud83d x"}}\n', {"message": {"content": "? x"}}),
    "bytes": (b'{"message": {"content": "\xed\xa0\xbd"}}\n', {"message": {"content": "?"}}),
    "a key": (b'{"\\uDC00": 1}\n', {"?": 1}),
    "arguments": (
        b'{"message": {"tool_calls": [{"function": {"arguments": {"a": ["\\ud800"]}}}]}}\n',
        {"message": {"tool_calls": [{"function": {"arguments": {"a": ["?"]}}}]}},
    ),
    "two": (b'{"message": {"content": "\\ud83d\\ude00"}}\n', {"message": {"content": "😀"}}),
}


@pytest.mark.parametrize(("chunk", "expected"), HALVES.values(), ids=HALVES)
async def test_halves_of_characters(
    session: aiohttp.ClientSession, chunk: bytes, expected: dict[str, Any]
) -> None:
    """What could not be stored, or sent on to a speaker or a screen, is replaced."""
    first, _ = await chunks_of(session, chunk, DONE)
    assert first == expected


async def test_halves_in_a_name(session: aiohttp.ClientSession) -> None:
    """The same of a header, which is cut as well."""
    for node, expected in ((b"\xff\xed\xa0\x80", "????"), (b"n" * 999, "n" * 120), (b"", None)):
        head = reply().replace(b"\r\n\r\n", b"\r\nX-Fleet-Node: " + node + b"\r\n\r\n")
        async with answering(DONE, head=head) as url:
            counts = await OllamaClient(session, url).chat_counts(BODY)
        assert counts.node == expected


@pytest.mark.parametrize("version", [None, 7, ["0.35.1"], "0" * 256])
async def test_what_is_no_version(session: aiohttp.ClientSession, version: object) -> None:
    """What is no text, or longer than a state can be, is no version of Ollama."""
    async with answering(json.dumps({"version": version}).encode(), head=JSON) as url:
        with pytest.raises(NotOllamaError):
            await OllamaClient(session, url).version()


NO_COUNTS: tuple[Any, ...] = (None, -5, True, "8192", 8192.0, 2**63, [1])


@pytest.mark.parametrize("value", NO_COUNTS)
def test_what_a_loaded_model_says(value: object) -> None:
    """A length or a size that is no count was not reported."""
    state = ServerState.of("", [{"name": "a", "context_length": value}])
    assert state.context_length("a") == 0
    for sizes in ({"size": value, "size_vram": 5}, {"size": 10, "size_vram": value}):
        assert ServerState.of("", [{"name": "a"} | sizes]).percent_on_gpu("a") is None


def test_more_on_a_gpu_than_there_is() -> None:
    """Sizes that contradict each other say nothing."""
    for in_vram, percent in ((11, None), (10, 100), (5, 50), (0, 0)):
        state = ServerState.of("", [{"name": "a", "size": 10, "size_vram": in_vram}])
        assert state.percent_on_gpu("a") == percent


class Dripping:
    """A server that sends a byte again and again, as fast as a client takes it."""

    def __init__(self, head: bytes) -> None:
        """Send a head first."""
        self._head = head
        self.url = ""
        self.server: asyncio.Server

    async def start(self) -> None:
        """Serve."""
        self.server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self._head)
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.001)
        except OSError, asyncio.IncompleteReadError:
            writer.close()


@pytest.mark.parametrize("ask", ["chat_counts", "render", "read", "show", "version"])
async def test_a_drip(
    monkeypatch: pytest.MonkeyPatch, session: aiohttp.ClientSession, ask: str
) -> None:
    """Bytes that come and come are no sign of life for ever, whatever was asked."""
    for name in ("_CHAT_TIMEOUT", "_PIECE_TIMEOUT", "_QUICK_TIMEOUT"):
        limits = getattr(client_module, name)
        assert limits.total
        short = aiohttp.ClientTimeout(total=0.05, sock_read=limits.sock_read)
        monkeypatch.setattr(client_module, name, short)
    server = Dripping(reply())
    await server.start()
    client = OllamaClient(session, server.url)
    given: dict[str, list[Any]] = {"version": [], "show": ["tiny"]}
    async with server.server:
        with pytest.raises(BrokenAnswerError):
            await getattr(client, ask)(*given.get(ask, [BODY]))


def test_a_text_that_is_clean() -> None:
    """Nothing else of a JSON value changes."""
    value = {"é": ["ü", 1, 1.5, True, None, {"a": {}}]}
    assert reading.parsed(json.dumps(value)) == value
