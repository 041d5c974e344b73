"""A stand-in for Home Assistant that shows, on command, what a real one only shows by accident."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
import json
import ssl
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

TOKEN = "header.payload-of-a-test.signature"
AGENT = "conversation.ollama_warm"
KITCHEN = "device-of-the-kitchen"

Message = dict[str, Any]


def counts(
    prompt: int | None, cached: int | None, re_read: int | None = None, **more: object
) -> Message:
    """Return the contract's block of one turn."""
    if re_read is None and prompt is not None and cached is not None:
        re_read = prompt - cached
    turn = {"prompt_tokens": prompt, "cached_tokens": cached, "re_read_tokens": re_read}
    return {"version": 1, "turns": [turn | more]}


WARM = counts(5104, 5080, verdict="warm", reason=None, node=None)
COLD = counts(5104, 12, verdict="prompt changed", reason="the first line holds a clock")


def reply(block: object = WARM) -> Message:
    """Return the result of conversation/process, with the contract's block in its answer."""
    extra = None if block is None else {"ollama_warm": block}
    speech = {"plain": {"speech": "It is 42.", "extra_data": extra}}
    return {
        "response": {
            "speech": speech,
            "card": {},
            "language": "en",
            "response_type": "action_done",
            "data": {"success": [], "failed": []},
        },
        "conversation_id": "ollama_warm.test",
    }


def error_reply(code: str, speech: str) -> Message:
    """Return the result of conversation/process for an answer that is an error."""
    result = reply(None)
    result["response"] |= {
        "response_type": "error",
        "data": {"code": code},
        "speech": {"plain": {"speech": speech, "extra_data": None}},
    }
    return result


class CommandError(Exception):
    """Makes the house answer a command with this code and message."""

    def __init__(self, code: str, message: str) -> None:
        """Keep what the answer says."""
        super().__init__(code, message)
        self.code, self.message = code, message


class Cut(Exception):  # noqa: N818 - an instruction to the house, not an error
    """Makes the house break the connection without a word."""


class Goodbye(Exception):  # noqa: N818 - as above
    """Makes the house close the connection as a restart does, or with another code."""

    def __init__(self, code: int = 1000) -> None:
        """Keep the code."""
        super().__init__(code)
        self.code = code


class Say(Exception):  # noqa: N818 - as above
    """Makes the house send these words instead of an answer."""

    def __init__(self, words: str | bytes) -> None:
        """Keep the words."""
        super().__init__(words)
        self.words = words


@dataclass
class House:
    """A small Home Assistant.

    Every command's handler is a plain function of the message; what it raises decides how the
    house misbehaves. What it returns is the result; a pair is seconds to wait, then the result.
    """

    token: str = TOKEN
    states: list[str] = field(default_factory=lambda: ["RUNNING"])
    agents: list[str] = field(default_factory=lambda: [AGENT, "conversation.home_assistant"])
    devices: list[str] = field(default_factory=lambda: [KITCHEN, "device-of-the-attic"])
    answers: list[object] = field(default_factory=list)
    overrides: dict[str, Callable[[Message], object]] = field(default_factory=dict)
    asked: list[Message] = field(default_factory=list)
    logins: list[Message] = field(default_factory=list)
    greeting: str = json.dumps({"type": "auth_required", "ha_version": "2026.11.0"})
    refusal: Message = field(
        default_factory=lambda: {
            "type": "auth_invalid",
            "message": "Invalid access token or password",
        }
    )
    http_status: HTTPStatus | None = None
    http_body: str = "<html>no</html>"
    location: str | None = None
    url: str = ""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def questions(self) -> list[Message]:
        """The questions that were asked, in order."""
        return [message for message in self.asked if message["type"] == "conversation/process"]

    def gate(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer over plain HTTP when the test says so, before any WebSocket."""
        if self.location is not None and not request.path.startswith("/elsewhere"):
            response = connection.respond(HTTPStatus.FOUND, "")
            response.headers["Location"] = self.location
            return response
        if self.http_status is not None:
            return connection.respond(self.http_status, self.http_body)
        return None

    async def serve(self, connection: ServerConnection) -> None:
        """Hold one connection of a client."""
        await connection.send(self.greeting)
        try:
            login = json.loads(await connection.recv())
            self.logins.append(login)
            if login.get("access_token") != self.token:
                await connection.send(json.dumps(self.refusal))
                return
            await connection.send(json.dumps({"type": "auth_ok", "ha_version": "2026.11.0"}))
            last_id = 0
            async for raw in connection:
                message = json.loads(raw)
                assert message["id"] > last_id, "Identifier values have to increase."
                last_id = message["id"]
                self.asked.append(message)
                task = asyncio.create_task(self._answer(connection, message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except ConnectionClosed:
            pass

    async def _answer(self, connection: ServerConnection, message: Message) -> None:
        answer: Message = {"id": message["id"], "type": "result", "success": True}
        try:
            result = self._result(message)
            if isinstance(result, tuple):
                delay, result = result
                await asyncio.sleep(delay)
            answer["result"] = result
        except CommandError as err:
            answer["success"] = False
            answer["error"] = {"code": err.code, "message": err.message}
        except Cut:
            connection.transport.abort()
            return
        except Goodbye as err:
            await connection.close(err.code)
            return
        except Say as err:
            await connection.send(err.words)
            return
        await connection.send(json.dumps(answer))

    def _result(self, message: Message) -> object:
        if override := self.overrides.get(message["type"]):
            return override(message)
        match message["type"]:
            case "get_config":
                state = self.states[0] if len(self.states) == 1 else self.states.pop(0)
                if state == "unknown_command":
                    raise CommandError(state, "Unknown command.")
                return {"state": state}
            case "conversation/agent/list":
                return {"agents": [{"id": agent, "name": agent} for agent in self.agents]}
            case "config/device_registry/list":
                return [{"id": device, "name": device} for device in self.devices]
            case "conversation/process":
                answer = self.answers.pop(0) if self.answers else reply()
                if isinstance(answer, Exception):
                    raise answer
                return answer
            case _:
                raise CommandError("unknown_command", "Unknown command.")


@asynccontextmanager
async def open_house(house: House, context: ssl.SSLContext | None = None) -> AsyncIterator[House]:
    """Serve a house on a free port of this machine, and tell it its address."""
    async with serve(
        house.serve, "127.0.0.1", 0, process_request=house.gate, ssl=context
    ) as server:
        port = server.sockets[0].getsockname()[1]
        house.url = f"http{'s' if context else ''}://127.0.0.1:{port}"
        yield house
