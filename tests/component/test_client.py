"""Ollama's HTTP API as it really comes: in pieces, broken, without counts, with errors."""

from collections.abc import AsyncGenerator
import json
from typing import Any

import aiohttp
from hypothesis import given, settings, strategies as st
import pytest

from custom_components.ollama_warm.ollama.client import Model, OllamaClient
from custom_components.ollama_warm.ollama.counts import Counts
from custom_components.ollama_warm.ollama.errors import (
    BrokenAnswerError,
    CannotConnectError,
    InvalidAuthError,
    ModelNotFoundError,
    NotOllamaError,
    OllamaError,
    ServerError,
)
from tests.rig.ollama import Fault, FaultKind

from .support.server import API_KEY, JSON, MODEL, NOWHERE, NUM_CTX, Ollama, answering, reply, split

BODY: dict[str, Any] = {
    "model": MODEL,
    "messages": [{"role": "user", "content": "hello"}],
    "options": {"num_ctx": NUM_CTX},
}
LONG = "a long answer, " * 10_000
CHUNKS: list[dict[str, Any]] = [
    {"message": {"role": "assistant", "content": "é🙂\u2028"}, "done": False},
    {"message": {"role": "assistant", "content": LONG}, "done": False},
    {"done": True, "prompt_eval_count": 9, "prompt_eval_cached_count": 0},
]
STREAM = b"\n".join(json.dumps(chunk, ensure_ascii=False).encode() for chunk in CHUNKS)


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    """Return a session as Home Assistant shares one."""
    async with aiohttp.ClientSession() as opened:
        yield opened


async def chunks_of(session: aiohttp.ClientSession, url: str) -> list[dict[str, Any]]:
    """Return the whole answer to a question."""
    return [chunk async for chunk in OllamaClient(session, url).chat(BODY)]


async def test_what_a_server_says(session: aiohttp.ClientSession, ollama: Ollama) -> None:
    """Version, models and loaded models come as they are."""
    client = OllamaClient(session, f"{ollama.url}/")
    assert await client.version() == "0.35.1"
    (model,) = await client.models()
    assert (model.name, model.size > 0) == ("tiny:latest", True)
    chunks = [chunk async for chunk in client.chat(BODY)]
    assert [chunk["done"] for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    (loaded,) = await client.loaded()
    assert loaded["context_length"] == NUM_CTX
    assert "Authorization" not in ollama.records[-1].headers


async def test_the_key_is_sent(session: aiohttp.ClientSession, ollama: Ollama) -> None:
    """A key goes as a bearer token, with every request."""
    ollama.stand_in.api_key = API_KEY
    client = OllamaClient(session, ollama.url, API_KEY)
    assert await client.version()
    assert [chunk async for chunk in client.chat(BODY)][-1]["done"]
    assert ollama.records[-1].headers["Authorization"] == f"Bearer {API_KEY}"


@pytest.mark.parametrize("size", [1, 7, 1460, 65_537, 10**6])
async def test_lines_split_anywhere(session: aiohttp.ClientSession, size: int) -> None:
    """Chunks come whole however the network cuts them, in a character or in a long line."""
    short = b"\n".join(json.dumps(chunk | {"message": {}}).encode() for chunk in CHUNKS)
    stream = STREAM if size > 7 else b"\n\n" + short + b"\n"
    async with answering(*split(stream, size)) as url:
        chunks = await chunks_of(session, url)
    assert [chunk["done"] for chunk in chunks] == [False, False, True]
    if size > 7:
        pairs = zip(CHUNKS, chunks, strict=True)
        assert all(sent.items() <= received.items() for sent, received in pairs)


@settings(deadline=None)
@given(value=st.one_of(st.none(), st.booleans(), st.text(), st.floats(), st.lists(st.integers())))
def test_what_is_no_count(value: object) -> None:
    """Anything but a whole number is an unknown count, never 0."""
    counts = Counts.from_chunk({"prompt_eval_count": value, "prompt_eval_duration": value})
    assert counts == Counts.from_chunk({})
    assert counts.prompt_tokens is counts.cached_tokens is counts.prefill_s is None


@settings(deadline=None)
@given(count=st.integers(min_value=0, max_value=2**63 - 1))
def test_what_is_a_count(count: int) -> None:
    """A count of 0 is a count, and durations are seconds."""
    counts = Counts.from_chunk(
        {"prompt_eval_cached_count": count, "load_duration": count, "eval_count": count}
    )
    assert counts.cached_tokens == counts.answer_tokens == count
    assert counts.load_s == count / 1e9


@pytest.mark.parametrize(("reports", "cached"), [(True, True), (False, False)])
async def test_counts_of_a_server(
    session: aiohttp.ClientSession, ollama: Ollama, *, reports: bool, cached: bool
) -> None:
    """A server that does not report the cached count leaves it unknown."""
    ollama.stand_in.reports_cached = reports
    counts = Counts.from_chunk((await chunks_of(session, ollama.url))[-1])
    assert counts.prompt_tokens == ollama.records[-1].prompt_tokens
    assert counts.cached_tokens == (ollama.records[-1].cached_tokens if cached else None)


HALF = JSON.replace(b"Connection", b"Content-Length: 9\r\nConnection")
FAILED = reply("500 Internal Server Error", "application/json")
QUICK: dict[str, tuple[list[bytes], bytes, type[OllamaError]]] = {
    "html": ([b"<html>"], reply(content_type="text/html"), NotOllamaError),
    "html with a status": ([b"<html>"], reply("502 Bad Gateway", "text/html"), NotOllamaError),
    "a list": ([b"[]"], JSON, NotOllamaError),
    "no version": ([b'{"version": 3, "models": {}}'], JSON, NotOllamaError),
    "half json": ([b'{"version": "0.'], JSON, BrokenAnswerError),
    "half a body": (
        [b"{}"],
        JSON.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\n"),
        BrokenAnswerError,
    ),
    "no json with a status": ([b"oh"], FAILED, BrokenAnswerError),
    "401": ([b"{}"], reply("401 Unauthorized", "text/plain"), InvalidAuthError),
    "403": ([b"{}"], reply("403 Forbidden", "text/html"), InvalidAuthError),
    "404": ([b'{"error": "no"}'], reply("404 Not Found", "application/json"), ServerError),
    "500": ([b'{"error": "no"}'], FAILED, ServerError),
    "no http": ([], b"220 mail\r\n\r\n", CannotConnectError),
}


@pytest.mark.parametrize(("pieces", "head", "expected"), QUICK.values(), ids=QUICK)
async def test_broken_answers(
    session: aiohttp.ClientSession, pieces: list[bytes], head: bytes, expected: type[OllamaError]
) -> None:
    """Every wrong answer has its own error, whoever asked, and the address in it."""
    async with answering(*pieces, head=head) as url:
        client = OllamaClient(session, url)
        for ask in (client.version, client.models, client.loaded):
            with pytest.raises(expected) as caught:
                await ask()
            values = caught.value.translation_placeholders
            assert values == ({"message": "no"} if expected is ServerError else {"url": url})


STREAMS: dict[str, tuple[list[bytes], type[OllamaError]]] = {
    "no last chunk": ([b'{"done": false}\n'], BrokenAnswerError),
    "nothing at all": ([], BrokenAnswerError),
    "half a line": ([b'{"done": false}\n{"mess'], BrokenAnswerError),
    "no object": ([b'"done"\n'], NotOllamaError),
    "an error": ([b'{"done": false}\n', b'{"error": "out of memory"}\n'], ServerError),
    "no model": ([b'{"error": "model \'tiny\' not found"}\n'], ModelNotFoundError),
}


@pytest.mark.parametrize(("pieces", "expected"), STREAMS.values(), ids=STREAMS)
async def test_broken_streams(
    session: aiohttp.ClientSession, pieces: list[bytes], expected: type[OllamaError]
) -> None:
    """An answer counts only with its last chunk; an error may come in the middle."""
    async with answering(*pieces) as url:
        with pytest.raises(expected):
            await chunks_of(session, url)


FAULTS = [
    (FaultKind.HTML, NotOllamaError),
    (FaultKind.STATUS_401, InvalidAuthError),
    (FaultKind.STATUS_500, ServerError),
    (FaultKind.HALF_LINE, BrokenAnswerError),
    (FaultKind.CLOSE, BrokenAnswerError),
    (FaultKind.ERROR_LINE, ServerError),
]


@pytest.mark.parametrize(("kind", "expected"), FAULTS)
async def test_a_server_that_fails(
    session: aiohttp.ClientSession, ollama: Ollama, kind: FaultKind, expected: type[OllamaError]
) -> None:
    """A server may fail before or in the middle of an answer, and answer the next one."""
    ollama.stand_in.fault = Fault(kind, after=2, times=1)
    with pytest.raises(expected):
        await chunks_of(session, ollama.url)
    assert (await chunks_of(session, ollama.url))[-1]["done"]


async def test_a_model_that_is_not_there(session: aiohttp.ClientSession, ollama: Ollama) -> None:
    """The error names the model."""
    with pytest.raises(ModelNotFoundError) as caught:
        await anext(OllamaClient(session, ollama.url).chat(BODY | {"model": "qwen9"}))
    assert caught.value.translation_placeholders == {"model": "qwen9"}


async def test_nothing_answers(session: aiohttp.ClientSession) -> None:
    """A server that is down cannot be connected, whatever is asked."""
    with pytest.raises(CannotConnectError):
        await chunks_of(session, NOWHERE)
    with pytest.raises(CannotConnectError):
        await OllamaClient(session, NOWHERE).version()


async def test_models_that_are_listed_oddly(session: aiohttp.ClientSession) -> None:
    """A list with gaps is still a list."""
    listed = {
        "models": [{"name": "a"}, {"model": "b", "size": None}, {"name": "c", "size": "big"}, 7]
    }
    async with answering(json.dumps(listed).encode(), head=JSON) as url:
        models = await OllamaClient(session, url).models()
    assert models == [Model("a", 0), Model("b", 0), Model("c", 0)]


async def test_a_long_error_is_cut(session: aiohttp.ClientSession) -> None:
    """A server that quotes a whole prompt in its error is not repeated in full."""
    async with answering(json.dumps({"error": LONG}).encode(), head=FAILED) as url:
        with pytest.raises(ServerError) as caught:
            await OllamaClient(session, url).version()
    assert caught.value.translation_placeholders == {"message": LONG[:120]}
