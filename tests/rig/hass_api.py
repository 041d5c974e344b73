"""The two ways of talking to a running Home Assistant: WebSocket commands and REST."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
import contextlib
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
import time
from typing import Any, Self

import aiohttp

type Json = dict[str, Any]

# How often we look whether something has happened that Home Assistant does not announce.
GLANCE_SECONDS = 0.1


async def until[Seen](look: Callable[[], Awaitable[Seen]]) -> Seen:
    """Look again and again until there is something to see, and return it.

    Who waits sets the limit, with `asyncio.timeout`.
    """
    while not (seen := await look()):  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(GLANCE_SECONDS)
    return seen


class HassError(RuntimeError):
    """Something that Home Assistant, or the rig around it, could not do."""


class CommandError(HassError):
    """A WebSocket command that Home Assistant refused."""

    def __init__(self, command: str, code: str, message: str) -> None:
        """Keep Home Assistant's own code and message."""
        super().__init__(f"{command}: {code}: {message}")
        self.code = code
        self.message = message


class RestError(HassError):
    """A request that Home Assistant answered with a status of failure."""

    def __init__(self, path: str, status: int, text: str) -> None:
        """Keep the status and Home Assistant's own words."""
        super().__init__(f"{path}: HTTP {status}: {text}")
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Reply:
    """What a conversation agent answered."""

    raw: Json
    seconds: float

    @property
    def response(self) -> Json:
        """The intent response inside."""
        response: Json = self.raw["response"]
        return response

    @property
    def speech(self) -> str:
        """The spoken words; nothing said is an empty text."""
        return str(self._plain.get("speech", ""))

    @property
    def extra_data(self) -> Json:
        """What the agent added beside its words."""
        return dict(self._plain.get("extra_data") or {})

    @property
    def conversation_id(self) -> str | None:
        """The conversation that the next question can continue."""
        return self.raw.get("conversation_id")

    @property
    def error_code(self) -> str | None:
        """Home Assistant's code if the answer is an error."""
        if self.response.get("response_type") != "error":
            return None
        return str(self.response["data"]["code"])

    @property
    def _plain(self) -> Json:
        return dict(self.response.get("speech", {}).get("plain") or {})


@dataclass
class Socket:
    """One authenticated WebSocket connection; commands may overlap."""

    socket: aiohttp.ClientWebSocketResponse
    _ids: count[int] = field(default_factory=lambda: count(1))
    _waiting: dict[int, asyncio.Future[Json]] = field(default_factory=dict)
    _reader: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, session: aiohttp.ClientSession, url: str, token: str) -> Self:
        """Connect and authenticate."""
        # Two thousand exposed entities make a message larger than the usual four megabytes.
        socket = await session.ws_connect(f"{url}/api/websocket", max_msg_size=0)
        await socket.receive_json()
        await socket.send_json({"type": "auth", "access_token": token})
        answer = await socket.receive_json()
        if answer["type"] != "auth_ok":
            await socket.close()
            raise CommandError("auth", answer["type"], answer.get("message", ""))
        self = cls(socket)
        self._reader = asyncio.create_task(self._read())
        return self

    @property
    def closed(self) -> bool:
        """Whether Home Assistant, or we, hung up."""
        return self.socket.closed or self._reader is None or self._reader.done()

    async def command(self, command: str, data: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Send a command and return its result."""
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self.socket.send_json({"id": number, "type": command, **data})
            answer = await self._waiting[number]
        finally:
            del self._waiting[number]
        if not answer["success"]:
            error = answer["error"]
            raise CommandError(command, error["code"], error["message"])
        return answer["result"]

    async def close(self) -> None:
        """Hang up."""
        await self.socket.close()
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader

    async def _read(self) -> None:
        """Hand every answer to whoever waits for it."""
        async for message in self.socket:
            answer = message.json()
            waiting = self._waiting.get(answer["id"])
            if answer["type"] == "result" and waiting and not waiting.done():
                waiting.set_result(answer)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(HassError("Home Assistant hung up"))


class Api:
    """A client that connects when it is needed and again after a restart."""

    def __init__(self, url: str) -> None:
        """Remember where Home Assistant is."""
        self.url = url
        self._session: aiohttp.ClientSession | None = None
        self._sockets: dict[str, Socket] = {}

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session, made on first use because it needs a running loop."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300))
        return self._session

    async def command(self, token: str, command: str, data: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Send a WebSocket command as the owner of the token."""
        socket = self._sockets.get(token)
        if socket is None or socket.closed:
            socket = await Socket.open(self.session, self.url, token)
            self._sockets[token] = socket
        return await socket.command(command, data)

    async def rest(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        json: Json | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401
        """Send a request and return the JSON of the answer."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.session.request(
            method, self.url + path, json=json, data=form, headers=headers
        ) as response:
            if response.status >= HTTPStatus.BAD_REQUEST:
                raise RestError(path, response.status, await response.text())
            return await response.json()

    async def ask(self, token: str, data: Mapping[str, Any]) -> Reply:
        """Ask a conversation agent, and take the time."""
        start = time.perf_counter()
        raw = await self.command(token, "conversation/process", data)
        return Reply(raw, time.perf_counter() - start)

    async def hang_up(self) -> None:
        """Close all WebSocket connections; the next command opens a new one."""
        for socket in self._sockets.values():
            await socket.close()
        self._sockets.clear()

    async def close(self) -> None:
        """Close everything."""
        await self.hang_up()
        if self._session is not None:
            await self._session.close()
