"""Talks to Ollama over HTTP: the one place that knows its paths, fields and errors."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
import json
import os
from typing import Any, Self

from aiohttp import (
    ClientConnectionError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    TCPConnector,
)

from ollama_warmer.errors import CannotConnectOllama, NotOllama, RefusedByOllama
from ollama_warmer.words import phrase

API_KEY = "OLLAMA_API_KEY"
# A cold prompt on a slow machine takes many minutes before the first byte.
_LONG = ClientTimeout(total=None, sock_connect=10, sock_read=3600)
_SHORT = ClientTimeout(total=10)
_NANO = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer. Durations are in seconds; whatever the server did not say is None.

    Attributes:
        text: The words of the answer.
        prompt_tokens: Tokens of the whole prompt, the cached ones included (0.30.1 and newer).
        cached_tokens: Tokens of it that were not read again; reported by 0.33.3 and newer.
        answer_tokens: Tokens of the answer.
        prefill_s: Reading what was not cached, without waiting and loading.
        load_s: Loading the model; more than a second if it was not there.
        total_s: From the server having the request, waiting for others included.
        done_reason: `stop`, `length`, `load` or `unload`.
        headers: The response's headers; a router in front says there which machine answered.
        raw: The object as it came.
    """

    text: str
    prompt_tokens: int | None
    cached_tokens: int | None
    answer_tokens: int | None
    prefill_s: float | None
    load_s: float | None
    total_s: float | None
    done_reason: str | None
    headers: Mapping[str, str]
    raw: Mapping[str, Any]

    @classmethod
    def read(cls, raw: Mapping[str, Any], headers: Mapping[str, str]) -> Self:
        """Read an answer of /api/chat or /api/generate."""
        message = raw.get("message")
        words = message.get("content") if isinstance(message, dict) else raw.get("response")
        reason = raw.get("done_reason")
        return cls(
            text=words if isinstance(words, str) else "",
            prompt_tokens=_count(raw.get("prompt_eval_count")),
            cached_tokens=_count(raw.get("prompt_eval_cached_count")),
            answer_tokens=_count(raw.get("eval_count")),
            prefill_s=_seconds(raw.get("prompt_eval_duration")),
            load_s=_seconds(raw.get("load_duration")),
            total_s=_seconds(raw.get("total_duration")),
            done_reason=reason if isinstance(reason, str) else None,
            headers=headers,
            raw=raw,
        )

    @property
    def re_read_tokens(self) -> int | None:
        """Tokens of the prompt that were read again; None unless both counts are known."""
        if self.prompt_tokens is None or self.cached_tokens is None:
            return None
        return self.prompt_tokens - self.cached_tokens


class Ollama:
    """One Ollama server, or a router that speaks like one."""

    def __init__(self, session: ClientSession, url: str) -> None:
        """Use this session; nothing is connected yet."""
        self.url = url.rstrip("/")
        self._session = session
        key = os.environ.get(API_KEY)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def version(self) -> str:
        """Return the server's version, such as `0.35.1`; raises OllamaError."""
        version = (await self.get("/api/version")).get("version")
        if not isinstance(version, str):
            raise NotOllama(f"What answers at {self.url} has no version: is it Ollama's address?")
        return version

    async def models(self) -> list[dict[str, Any]]:
        """Return the models on the server as `/api/tags` lists them; raises OllamaError."""
        return self._list(await self.get("/api/tags"))

    async def loaded(self) -> list[dict[str, Any]]:
        """Return the models in memory as `/api/ps` lists them; raises OllamaError."""
        return self._list(await self.get("/api/ps"))

    async def show(self, model: str) -> dict[str, Any]:
        """Return what `/api/show` says of a model; raises OllamaError."""
        return (await self._post("/api/show", {"model": model}, _SHORT))[0]

    async def chat(self, body: Mapping[str, Any]) -> Answer:
        """Return the whole answer of `/api/chat`; leaving early drops the connection.

        Raises:
            OllamaError: Of whatever kind.
        """
        return Answer.read(*await self._post("/api/chat", {**body, "stream": False}, _LONG))

    async def generate(self, body: Mapping[str, Any]) -> Answer:
        """Return the whole answer of `/api/generate`; as `chat`."""
        return Answer.read(*await self._post("/api/generate", {**body, "stream": False}, _LONG))

    async def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path; raises OllamaError."""
        async with self._request("GET", path, None, _SHORT) as response:
            return await self._parsed(response)

    async def _post(
        self, path: str, body: Mapping[str, Any], limits: ClientTimeout
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        async with self._request("POST", path, body, limits) as response:
            return await self._parsed(response), response.headers

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, limits: ClientTimeout
    ) -> AsyncIterator[ClientResponse]:
        """Send a request; all that goes wrong until its last byte becomes an error here."""
        try:
            async with self._session.request(
                method, self.url + path, json=body, headers=self._headers, timeout=limits
            ) as response:
                yield response
        except (ClientConnectionError, TimeoutError) as err:
            raise CannotConnectOllama(
                f"Ollama cannot be reached at {self.url}: {_why(err)}. See whether it runs, and "
                "whether the address is right"
            ) from err
        except ClientError as err:
            raise NotOllama(
                f"What answers at {self.url} broke off or does not speak HTTP as Ollama does: "
                f"{_why(err)}"
            ) from err

    async def _parsed(self, response: ClientResponse) -> dict[str, Any]:
        text = await response.text(errors="replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        error = parsed.get("error") if isinstance(parsed, dict) else None
        if error is not None or response.status >= HTTPStatus.BAD_REQUEST:
            raise RefusedByOllama(
                self.url,
                response.status,
                phrase(error or response.reason or "") or "no reason given",
            )
        if not isinstance(parsed, dict):
            raise NotOllama(f"What answers at {self.url} is not Ollama: check the address")
        return parsed

    def _list(self, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        models = answer.get("models")
        if not isinstance(models, list) or not all(isinstance(it, dict) for it in models):
            raise NotOllama(f"Ollama's list of models at {self.url} has an unknown shape")
        return models


@asynccontextmanager
async def open_ollama(url: str) -> AsyncIterator[Ollama]:
    """Yield a server; every call has a connection of its own, as separate programs have.

    Args:
        url: Web address of Ollama, such as `http://127.0.0.1:11434`. A key for a proxy in front
            comes from the variable OLLAMA_API_KEY.
    """
    async with ClientSession(connector=TCPConnector(force_close=True)) as session:
        yield Ollama(session, url)


def _why(err: Exception) -> str:
    if isinstance(err, TimeoutError):
        return "it did not answer in time"
    if isinstance(err, OSError) and err.errno is not None and err.errno > 0:
        return os.strerror(err.errno)
    return phrase(err) or type(err).__name__


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _seconds(value: object) -> float | None:
    count = _count(value)
    return None if count is None else count / _NANO
