"""Opens a session with Home Assistant and puts each way to fail into a sentence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import json
import logging
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from ollama_warmer.errors import AuthenticationFailed, CannotConnect, NotUnderstood
from ollama_warmer.house.credentials import Token
from ollama_warmer.house.refusals import CHECK, explain, origin, sent_on
from ollama_warmer.house.token_text import WHERE
from ollama_warmer.words import phrase

_PATH = "/api/websocket"
_OPEN_TIMEOUT = 30.0
_LOGIN_TIMEOUT = 30.0
_CLOSE_TIMEOUT = 2.0
# A busy Home Assistant may be slow to answer a ping; a dead one has to be noticed all the same,
# long before an answer's own timeout.
_PING_INTERVAL = 30.0
_PING_TIMEOUT = 60.0
# The device registry of a large house comes in one message.
_MAX_SIZE = 64 * 2**20

# At debug level the library logs every frame, and one of them carries the token.
_SILENT = logging.getLogger("ollama_warmer.websockets")
_SILENT.disabled = True


@asynccontextmanager
async def open_session(url: str, token: Token) -> AsyncIterator[ClientConnection]:
    """Yield a WebSocket that has logged in; close it afterwards.

    Args:
        url: Web address of Home Assistant, with http or https and without a path.
        token: A long-lived access token.

    Raises:
        CannotConnect: Nothing answers there, or what answers is no Home Assistant.
        AuthenticationFailed: The token was refused.
    """
    # A proxy that is set for the internet does not know the machines at home.
    connecting = connect(
        f"ws{url.removeprefix('http')}{_PATH}",
        proxy=None,
        max_size=_MAX_SIZE,
        open_timeout=_OPEN_TIMEOUT,
        close_timeout=_CLOSE_TIMEOUT,
        ping_interval=_PING_INTERVAL,
        ping_timeout=_PING_TIMEOUT,
        logger=_SILENT,
    )
    try:
        connection = await connecting
    # A redirect to something that is no address is a ValueError.
    except (OSError, InvalidHandshake, InvalidURI, ValueError) as err:
        _stay(url, connecting.uri)
        raise CannotConnect(explain(url, err, _OPEN_TIMEOUT)) from err
    async with connection:
        _stay(url, connecting.uri)
        await _log_in(connection, url, token)
        yield connection


def parse(message: str | bytes) -> dict[str, Any]:
    """Return a message of Home Assistant.

    Raises:
        NotUnderstood: It is not a JSON object.
    """
    try:
        parsed = json.loads(message)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise NotUnderstood(
            "Home Assistant sent something that is not a message of its API: see what else answers "
            "at home_assistant.url"
        )
    return parsed


def _stay(url: str, reached: str) -> None:
    """Raise CannotConnect where a redirect has led elsewhere: another port is another program."""
    if origin(reached) != origin(url):
        raise CannotConnect(sent_on(url, reached))


async def _log_in(connection: ClientConnection, url: str, token: Token) -> None:
    asked = False
    try:
        async with asyncio.timeout(_LOGIN_TIMEOUT):
            greeting = parse(await connection.recv())
            # The token is shown to no one who does not ask for it as Home Assistant does.
            answer = greeting
            if asked := greeting.get("type") == "auth_required":
                await connection.send(json.dumps({"type": "auth", "access_token": token.secret}))
                answer = parse(await connection.recv())
    except (ConnectionClosed, NotUnderstood, TimeoutError) as err:
        if asked and not isinstance(err, NotUnderstood):
            raise CannotConnect(
                f"Home Assistant at {url} did not finish the login: see whether it is stopping or "
                "restarting, and try again"
            ) from err
        answer = {}
    if answer.get("type") == "auth_ok":
        return
    if answer.get("type") != "auth_invalid":
        raise CannotConnect(f"What answers at {url} does not log in like Home Assistant: {CHECK}")
    said = answer.get("message")
    # Before it is cut: half a token would not be found any more.
    reason = phrase(token.hide_in(said)) if isinstance(said, str) else ""
    raise AuthenticationFailed(
        f"Home Assistant refused the token: {reason or 'no reason given'}. It may be wrong, "
        f"expired or deleted: make a new one {WHERE}"
    )
