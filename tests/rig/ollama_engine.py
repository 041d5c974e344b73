"""What Ollama asks of llama.cpp's server, on its two paths.

Native: messages go to `/v1/chat/completions`, and the template in the model file makes the
prompt. Rendered: Ollama makes the prompt and posts it to `/completion`. Only the native path tells
llama.cpp where a user message starts.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
import json
from typing import Any, Self, cast

import aiohttp

type Json = dict[str, Any]
type Think = bool | str | None

# Reproducible answers: no test should depend on what a model without training says.
SAMPLING: Json = {"temperature": 0, "seed": 1}


class BackendError(Exception):
    """llama.cpp refused a request or went away while it answered."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the status Ollama would answer with."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Timings:
    """llama.cpp's own account of one request."""

    cached: int
    """Prompt tokens that were in memory."""
    read: int
    """Prompt tokens that had to be read."""
    read_ms: float
    written: int
    written_ms: float

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Read the `timings` object."""
        return cls(
            cached=data["cache_n"],
            read=data["prompt_n"],
            read_ms=data["prompt_ms"],
            written=data["predicted_n"],
            written_ms=data["predicted_ms"],
        )


@dataclass(frozen=True)
class Piece:
    """A piece of an answer; the last one has timings."""

    content: str = ""
    thinking: str = ""
    timings: Timings | None = None
    limited: bool = False
    """Whether the answer ended because it reached its length."""


def as_openai(message: Json) -> Json:
    """Turn an Ollama message into the form llama.cpp takes; like Ollama, thinking is left out."""
    converted: Json = {"role": message.get("role", ""), "content": message.get("content") or ""}
    if call_id := message.get("tool_call_id"):
        converted["tool_call_id"] = call_id
    if name := message.get("tool_name"):
        converted["name"] = name
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    if calls:
        converted["tool_calls"] = [
            {
                "type": "function",
                "function": {
                    "name": function["name"],
                    "arguments": json.dumps(
                        function.get("arguments") or {}, separators=(",", ":"), ensure_ascii=False
                    ),
                },
            }
            for function in calls
        ]
    return converted


def conversation(messages: list[Json], tools: list[Json], think: Think) -> Json:
    """Return the part of a request that makes the prompt, on either path."""
    body: Json = {"messages": [as_openai(message) for message in messages]}
    if tools:
        body["tools"] = tools
    if think is not None:
        body["chat_template_kwargs"] = {"enable_thinking": bool(think)}
        if isinstance(think, str):
            body["chat_template_kwargs"]["reasoning_effort"] = think
    return body


class Engine:
    """Speaks to one llama.cpp server."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """Use a session of the caller's."""
        self._session = session
        self._url = url

    async def render(self, talk: Json) -> str:
        """Return the prompt that the model's template makes of a conversation."""
        return cast("str", (await self._ask("/apply-template", talk))["prompt"])

    async def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Return the tokens of a text, with the special first one if asked for."""
        answer = await self._ask("/tokenize", {"content": text, "add_special": special})
        return cast("list[int]", answer["tokens"])

    async def _ask(self, path: str, body: Json) -> Json:
        try:
            async with self._session.post(self._url + path, json=body) as response:
                await _check(response)
                return cast("Json", await response.json())
        except aiohttp.ClientError as error:
            raise _gone(error) from error

    async def complete(self, prompt: str | list[int], n_predict: int) -> AsyncGenerator[Piece]:
        """Answer a prompt (the rendered path)."""
        body: Json = {"prompt": prompt, "cache_prompt": True, "n_predict": n_predict}
        async for event in self._events("/completion", body):
            if event["stop"]:
                timings = Timings.from_json(event["timings"])
                limited = event["stop_type"] == "limit"
                yield Piece(content=event["content"], timings=timings, limited=limited)
            elif event["content"]:
                yield Piece(content=event["content"])

    async def chat(self, talk: Json, n_predict: int) -> AsyncGenerator[Piece]:
        """Answer a conversation (the native path)."""
        body: Json = talk | {"cache_prompt": True, "n_predict": n_predict}
        async for event in self._events("/v1/chat/completions", body):
            if not event.get("choices"):
                continue
            choice = event["choices"][0]
            content = choice["delta"].get("content") or ""
            thinking = choice["delta"].get("reasoning_content") or ""
            if reason := choice["finish_reason"]:
                timings = Timings.from_json(event["timings"])
                yield Piece(content, thinking, timings, limited=reason == "length")
            elif content or thinking:
                yield Piece(content, thinking)

    async def _events(self, path: str, body: Json) -> AsyncGenerator[Json]:
        """Yield the events of a streamed answer; leaving early closes the socket, which cancels."""
        try:
            async with self._session.post(
                self._url + path, json=body | SAMPLING | {"stream": True}
            ) as response:
                await _check(response)
                async for line in response.content:
                    if line.startswith(b"data: {"):
                        event = cast("Json", json.loads(line.removeprefix(b"data: ")))
                        if "error" in event:
                            raise BackendError(500, f"llama-server error: {event['error']}")
                        yield event
        except aiohttp.ClientError as error:
            raise _gone(error) from error


async def _check(response: aiohttp.ClientResponse) -> None:
    """Raise what llama.cpp says is wrong with a request."""
    if not response.ok:
        raise BackendError(response.status, (await response.text()).strip())


def _gone(error: aiohttp.ClientError) -> BackendError:
    """Return Ollama's words for a runner that went away."""
    return BackendError(500, f"an error was encountered while running the model: {error}")
