"""Ollama's HTTP API, as far as this integration speaks it.

The one place that knows paths, fields and errors of Ollama. Answers are read as raw JSON:
the PyPI client drops `prompt_eval_cached_count` (seen in `ollama` 0.6.2 and 0.6.3).
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, hdrs

from homeassistant.const import (
    CONF_API_KEY,
    CONF_PASSWORD,
    CONF_URL,
    CONF_USERNAME,
    MAX_LENGTH_STATE_STATE,
)

from . import reading
from .address import authorization, server_data, without_secrets
from .counts import Counts
from .errors import (
    BrokenAnswerError,
    CannotConnectError,
    InvalidAuthError,
    InvalidPasswordError,
    ModelNotFoundError,
    NotArrivingError,
    NotOllamaError,
    OllamaError,
    RedirectedError,
    ServerError,
    UnreadableAnswerError,
)
from .origin import SentElsewhereError, staying

# A cold prompt on a slow machine takes minutes before the first byte, and each chunk that
# follows is a sign of life. But one that comes a byte at a time holds everyone up for ever.
_CHAT_TIMEOUT = ClientTimeout(total=3600, sock_connect=10, sock_read=1800)
# What comes in one piece comes at once when the model is through.
_PIECE_TIMEOUT = ClientTimeout(total=1800, sock_connect=10)
# A model of 100 GB takes a night, and a person watches how far it has come.
_PULL_TIMEOUT = ClientTimeout(total=None, sock_connect=10, sock_read=1800)
_QUICK_TIMEOUT = ClientTimeout(total=10)
_LONGEST_QUOTE = 120
_LONGEST_LOOK = 2000
_NODE_HEADER = "X-Fleet-Node"
_PLAIN: dict[str, str] = {hdrs.ACCEPT_ENCODING: "identity"}


@dataclass(frozen=True, slots=True)
class Model:
    """A model that the server has. `size` is in bytes."""

    name: str
    size: int


class OllamaClient:
    """Speaks to one Ollama server."""

    def __init__(
        self,
        session: ClientSession,
        url: str,
        api_key: str | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
    ) -> None:
        """Use Home Assistant's shared session; nothing is connected yet.

        What the address holds of secrets is sent as a credential, and is not part of `url`.
        """
        given = {CONF_API_KEY: api_key, CONF_USERNAME: username, CONF_PASSWORD: password}
        data = server_data({CONF_URL: url} | {key: value for key, value in given.items() if value})
        self._session = session
        self.url: str = data[CONF_URL]
        self._authorization = authorization(data)

    @classmethod
    def of(cls, session: ClientSession, data: Mapping[str, str]) -> Self:
        """Return the client for the settings of a server as they are stored."""
        return cls(
            session,
            data[CONF_URL],
            data.get(CONF_API_KEY),
            username=data.get(CONF_USERNAME),
            password=data.get(CONF_PASSWORD),
        )

    async def version(self) -> str:
        """Return the server's version. Raises OllamaError."""
        answer = await self._get("/api/version")
        version = answer.get("version")
        if not isinstance(version, str) or len(version) > MAX_LENGTH_STATE_STATE:
            raise NotOllamaError(url=self.url)
        return version

    async def models(self) -> list[Model]:
        """Return the models on the server, in its own order. Raises OllamaError."""
        answer = await self._get("/api/tags")
        return [
            Model(
                str(model.get("model") or model.get("name")), reading.count(model.get("size")) or 0
            )
            for model in _list(answer, "models", self.url)
        ]

    async def loaded(self) -> list[dict[str, Any]]:
        """Return the loaded models as `/api/ps` lists them. Raises OllamaError."""
        return _list(await self._get("/api/ps"), "models", self.url)

    def chat(self, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Stream the chunks of `/api/chat`, the last of them with `done: true`.

        Raises OllamaError, also in the middle; an answer without its last chunk is an error.
        """
        return self._stream("/api/chat", body, is_last, _CHAT_TIMEOUT)

    def pull(self, model: str) -> AsyncGenerator[dict[str, Any]]:
        """Have a model downloaded, and stream what `/api/pull` says of it. Raises OllamaError."""
        body = {"model": model}
        return self._stream("/api/pull", body, _is_pulled, _PULL_TIMEOUT)

    async def _stream(
        self,
        path: str,
        body: Mapping[str, Any],
        ends: Callable[[Mapping[str, Any]], bool],
        limits: ClientTimeout,
    ) -> AsyncGenerator[dict[str, Any]]:
        """Stream the chunks that answer a body, and be sure that the last one has come."""
        async with (
            self._request("POST", path, body, limits) as response,
            aclosing(reading.lines(response)) as lines,
        ):
            async for line in lines:
                chunk = _parse(line, self.url)
                if error := chunk.get("error"):
                    raise _server_error(str(error), str(body.get("model")))
                if ends(chunk):
                    # What a server says after that is no part of the answer, and is not waited for.
                    yield chunk | {"node": _node(response)}
                    return
                yield chunk
        raise BrokenAnswerError(url=self.url)

    async def chat_counts(self, body: Mapping[str, Any]) -> Counts:
        """Have a chat answered, and return only the counts. Raises OllamaError."""
        counts = Counts.from_chunk({})
        async with aclosing(self.chat(body)) as chunks:
            async for chunk in chunks:
                if is_last(chunk):
                    counts = Counts.from_chunk(chunk, chunk["node"])
        return counts

    async def show(self, model: str) -> dict[str, Any]:
        """Return what `/api/show` says of a model. Raises OllamaError."""
        return await self._post("/api/show", {"model": model}, _QUICK_TIMEOUT)

    async def render(self, body: Mapping[str, Any]) -> str | None:
        """Return the prompt that a chat body becomes, without running the model on it.

        None where the server does not say. Ollama knows `_debug_render_only` since 0.11.5; an
        older one would answer the chat, so ask its version first. Raises OllamaError.
        """
        question = {**body, "stream": False, "_debug_render_only": True}
        answer = await self._post("/api/chat", question, _PIECE_TIMEOUT)
        info = answer.get("_debug_info")
        rendered = info.get("rendered_template") if isinstance(info, dict) else None
        return rendered if isinstance(rendered, str) and rendered else None

    async def read(self, body: Mapping[str, Any]) -> Counts:
        """Have a raw prompt read by `/api/generate`, and return the counts. Raises OllamaError."""
        raw = {**body, "raw": True, "stream": False}
        answer = await self._post("/api/generate", raw, _PIECE_TIMEOUT)
        return Counts.from_chunk(answer, answer.get("node"))

    async def _post(
        self, path: str, body: Mapping[str, Any], limits: ClientTimeout
    ) -> dict[str, Any]:
        """Return the JSON object that answers a body."""
        async with self._request("POST", path, body, limits) as response:
            answer = _parse(await reading.body(response), self.url)
            return {**answer, "node": _node(response)}

    async def _get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path."""
        async with self._request("GET", path, None, _QUICK_TIMEOUT) as response:
            return _parse(await reading.body(response), self.url)

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, limits: ClientTimeout
    ) -> AsyncIterator[ClientResponse]:
        """Send a request, and turn whatever fails until its answer is read into OllamaError."""
        if not self._authorization.isprintable():
            # No header can hold it, so it can't be the right one.
            raise self._refusal
        headers = {**_PLAIN}
        if self._authorization:
            headers[hdrs.AUTHORIZATION] = self._authorization
        started = False
        try:
            async with staying(
                self._session,
                method,
                self.url,
                path,
                body=body,
                headers=headers,
                limits=limits,
            ) as response:
                await self._check(response, body)
                started = True
                yield response
        except SentElsewhereError as err:
            if err.target:
                raise RedirectedError(url=self.url, target=err.target) from err
            raise NotArrivingError(url=self.url) from err
        except reading.UnreadableError as err:
            raise UnreadableAnswerError(url=self.url) from err
        except (ClientError, TimeoutError, OSError) as err:
            if started:
                raise BrokenAnswerError(url=self.url) from err
            raise CannotConnectError(url=self.url) from err

    @property
    def _refusal(self) -> OllamaError:
        """Return the error for a credential that is not accepted."""
        if self._authorization.startswith("Basic"):
            return InvalidPasswordError(url=self.url)
        return InvalidAuthError(url=self.url)

    async def _check(self, response: ClientResponse, body: Mapping[str, Any] | None) -> None:
        """Raise the error that this answer stands for, if it is one."""
        if response.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise self._refusal
        reading.refuse_compressed(response)
        if response.content_type not in ("application/json", "application/x-ndjson"):
            raise NotOllamaError(url=self.url)
        if response.status < HTTPStatus.BAD_REQUEST:
            return
        error = _parse(await reading.body(response), self.url).get("error")
        message = str(error or f"HTTP {response.status}")
        if body and response.status == HTTPStatus.NOT_FOUND:
            raise ModelNotFoundError(model=str(body.get("model")))
        raise _server_error(message, str(body.get("model")) if body else "")


def is_last(chunk: Mapping[str, Any]) -> bool:
    """Return whether a chunk is the last of an answer, as only `true` says."""
    return chunk.get("done") is True


def _is_pulled(chunk: Mapping[str, Any]) -> bool:
    """Return whether a chunk is the last of a download."""
    return chunk.get("status") == "success"


def _node(response: ClientResponse) -> str | None:
    """Return which machine answered, None where no router says so."""
    return reading.clean(response.headers.get(_NODE_HEADER, ""))[:_LONGEST_QUOTE] or None


def _parse(text: bytes, url: str) -> dict[str, Any]:
    """Return the JSON object of a line or body. Raises UnreadableError where it is too deep."""
    try:
        value = reading.parsed(text)
    except reading.BrokenError as err:
        raise BrokenAnswerError(url=url) from err
    if not isinstance(value, dict):
        raise NotOllamaError(url=url)
    return value


def _list(answer: Mapping[str, Any], key: str, url: str) -> list[dict[str, Any]]:
    """Return the list of objects under a key."""
    value = answer.get(key)
    if not isinstance(value, list):
        raise NotOllamaError(url=url)
    return [item for item in value if isinstance(item, dict)]


def _server_error(message: str, model: str) -> OllamaError:
    """Return the error for a message of Ollama's."""
    if "not found" in message and "model" in message:
        return ModelNotFoundError(model=model)
    message = without_secrets(message[:_LONGEST_LOOK])
    return ServerError(message=message[:_LONGEST_QUOTE])
