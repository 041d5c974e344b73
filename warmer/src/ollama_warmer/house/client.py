"""Talks to Home Assistant over its WebSocket API."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
import json
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from ollama_warmer.errors import CannotConnect, CommandFailed, NoAnswer, NotReady, NotUnderstood
from ollama_warmer.house.connecting import open_session, parse
from ollama_warmer.house.credentials import Token
from ollama_warmer.house.refusals import explain_end
from ollama_warmer.words import phrase, printable

# Home Assistant's own agent (`HOME_ASSISTANT_AGENT` in its conversation integration, 2026.11), and
# what pipelines of long ago call it.
BUILT_IN = "conversation.home_assistant"
OLD_BUILT_IN = "homeassistant"
NO_MODEL = f"{BUILT_IN} asks no model: it has no prompt to keep warm"
RUNNING = "RUNNING"
UNKNOWN_COMMAND = "unknown_command"
UNAUTHORIZED = "unauthorized"
_COMMAND_TIMEOUT = 60.0
_POLL_INTERVAL = 1.0
_UPDATE = "update the older of Home Assistant and this warmer"
_RECOVERY = (
    "Home Assistant runs in recovery mode, in which it has no agents, because it could not start "
    "with its configuration: look at its log, mend the configuration, and restart it"
)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One thing to say to an agent.

    Attributes:
        text: The words.
        agent: Entity id of the agent.
        device: Device registry id of the satellite it is said to; none for the app.
        language: Language tag.
        conversation_id: The conversation it belongs to.
    """

    text: str
    agent: str
    device: str | None
    language: str
    conversation_id: str


@dataclass(frozen=True)
class Reply:
    """What an agent answered.

    Attributes:
        response: Home Assistant's intent response as it came, checked no further.
    """

    response: Mapping[str, Any]

    @property
    def error_code(self) -> str | None:
        """The code of an answer that is an error; none for a proper answer."""
        if self.response.get("response_type") != "error":
            return None
        data = self.response.get("data")
        return printable(data.get("code", "unknown") if isinstance(data, dict) else "unknown")


@asynccontextmanager
async def connect(url: str, token: Token) -> AsyncIterator["HomeAssistant"]:
    """Yield Home Assistant, logged in; close the connection afterwards.

    Args:
        url: Web address of Home Assistant, with http or https and without a path.
        token: A long-lived access token; no administrator rights are needed.

    Raises:
        CannotConnect: Nothing answers there, or what answers is no Home Assistant.
        AuthenticationFailed: The token was refused.
    """
    async with open_session(url, token) as connection:
        home = HomeAssistant(connection)
        receiver = asyncio.create_task(home.receive())
        try:
            yield home
        finally:
            receiver.cancel()
            await asyncio.gather(receiver, return_exceptions=True)


class HomeAssistant:
    """A connection that has logged in; several commands may be under way at once.

    Attributes:
        safe_mode: Whether Home Assistant runs without custom integrations, as it last said.
    """

    def __init__(self, connection: ClientConnection) -> None:
        """Take over an open connection; `receive` has to run beside the commands."""
        self._connection = connection
        self._last_id = 0
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._ended: str | None = None
        self._heard = asyncio.get_running_loop().time()
        self.safe_mode = False

    @property
    def connected(self) -> bool:
        """Whether commands can still be sent."""
        return self._ended is None

    async def receive(self) -> None:
        """Hand each answer to the command that waits for it, until the connection ends."""
        ended = "Home Assistant closed the connection: see whether it restarted"
        try:
            async for message in self._connection:
                self._heard = asyncio.get_running_loop().time()
                self._take(parse(message))
        except ConnectionClosed as err:
            ended = self._broken(err)
        except NotUnderstood as err:
            ended = str(err)
        finally:
            self._ended = ended
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(CannotConnect(ended))

    def _broken(self, err: ConnectionClosed) -> str:
        """Return why a connection ended without Home Assistant having closed it."""
        return explain_end(err, asyncio.get_running_loop().time() - self._heard)

    def _take(self, message: Mapping[str, Any]) -> None:
        future = self._pending.get(message.get("id", 0))
        # An answer that came too late for its command, or something that no one asked for.
        if future is None or future.done() or message.get("type") != "result":
            return
        if message.get("success") is True:
            future.set_result(message.get("result"))
            return
        error = message.get("error")
        error = error if isinstance(error, dict) else {}
        future.set_exception(
            CommandFailed(
                printable(error.get("code", "unknown_error")),
                phrase(error.get("message") or "") or "no reason given",
            )
        )

    async def command(
        self, kind: str, fields: Mapping[str, object] | None = None, *, within: float
    ) -> Any:  # noqa: ANN401 - the shape of an answer depends on the command
        """Return the result of a command as it came.

        Args:
            kind: Type of the command, such as `get_config`.
            fields: What belongs to the command.
            within: Seconds to wait for the answer.

        Raises:
            CommandFailed: Home Assistant answered with an error.
            NoAnswer: Nothing came in time.
            CannotConnect: The connection is gone.
        """
        if self._ended is not None:
            raise CannotConnect(self._ended)
        self._last_id += 1
        command_id = self._last_id
        future = asyncio.get_running_loop().create_future()
        self._pending[command_id] = future
        try:
            async with asyncio.timeout(within):
                await self._connection.send(
                    json.dumps({"id": command_id, "type": kind, **(fields or {})})
                )
                return await future
        except TimeoutError as err:
            raise NoAnswer(f"Home Assistant did not answer {kind} within {within:g} s") from err
        except ConnectionClosed as err:
            self._ended = self._broken(err)
            raise CannotConnect(self._ended) from err
        finally:
            del self._pending[command_id]

    async def wait_until_running(self, within: float) -> None:
        """Wait until Home Assistant has started; before that it does not know most commands.

        Args:
            within: Seconds to wait.

        Raises:
            NotReady: It had not started in time, does not say whether it has, or runs in recovery
                mode.
            CannotConnect: The connection is gone.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + within
        while (state := await self._state()) != RUNNING:
            if clock() >= deadline:
                raise NotReady(
                    f"Home Assistant has not finished starting within {within:g} s (it says "
                    f"{state}): look at its log, or raise home_assistant.start_timeout"
                )
            await asyncio.sleep(min(_POLL_INTERVAL, max(deadline - clock(), 0)))

    async def _state(self) -> str:
        try:
            config = await self.query("get_config")
        except CommandFailed as err:
            if err.code == UNKNOWN_COMMAND:
                return err.code
            raise NotReady(f"Home Assistant does not report its state: {err}") from err
        reported = config if isinstance(config, dict) else {}
        # It is asked as long as it has not started, and in that mode it never does.
        if reported.get("recovery_mode") is True:
            raise NotReady(_RECOVERY)
        self.safe_mode = reported.get("safe_mode") is True
        return printable(reported.get("state"))

    async def agents(self) -> frozenset[str]:
        """Return the ids of all conversation agents.

        Raises:
            CommandFailed: Home Assistant does not report them to this user.
            NotUnderstood: The answer has another shape.
            CannotConnect: The connection is gone.
        """
        result = await self.query("conversation/agent/list")
        return _ids(result.get("agents") if isinstance(result, dict) else None, "agents")

    async def devices(self) -> frozenset[str]:
        """Return the ids of all devices; raises as `agents` does."""
        return _ids(await self.query("config/device_registry/list"), "devices")

    async def process(self, question: Question, within: float) -> Reply:
        """Return an agent's answer to a question.

        Args:
            question: What to say, to whom.
            within: Seconds to wait for the answer. Home Assistant and the model server go on
                with a question that was given up here.

        Raises:
            CommandFailed: Home Assistant refused the question.
            NoAnswer: Nothing came in time.
            NotUnderstood: The answer has another shape.
            CannotConnect: The connection is gone.
        """
        fields = {
            "text": question.text,
            "agent_id": question.agent,
            "language": question.language,
            "conversation_id": question.conversation_id,
        }
        if question.device is not None:
            fields["device_id"] = question.device
        try:
            result = await self.command("conversation/process", fields, within=within)
        except NoAnswer as err:
            raise NoAnswer(
                f"{err}: the server goes on with it, raise home_assistant.answer_timeout"
            ) from err
        response = result.get("response") if isinstance(result, dict) else None
        if not isinstance(response, dict):
            raise NotUnderstood(f"Home Assistant's answer has an unknown shape: {_UPDATE}")
        return Reply(response)

    async def query(self, kind: str) -> Any:  # noqa: ANN401 - as `command`
        """Return the result of a command without fields that needs no model, as it came.

        Args:
            kind: Type of the command.

        Raises:
            CommandFailed: Home Assistant answered with an error.
            CannotConnect: The connection is gone, or nothing came in time.
        """
        try:
            return await self.command(kind, within=_COMMAND_TIMEOUT)
        except NoAnswer as err:
            raise CannotConnect(f"{err}: see whether it hangs") from err


def _ids(entries: object, what: str) -> frozenset[str]:
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("id"), str) for entry in entries
    ):
        raise NotUnderstood(f"Home Assistant's list of {what} has an unknown shape: {_UPDATE}")
    return frozenset(entry["id"] for entry in entries)
