"""Opens a session with Home Assistant and puts each way to fail into a sentence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
import json
import logging
import os
import ssl
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from ollama_warmer.credentials import Token
from ollama_warmer.errors import AuthenticationFailed, CannotConnect, NotUnderstood
from ollama_warmer.words import printable

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
    except (OSError, InvalidHandshake, InvalidURI) as err:
        raise CannotConnect(_explain(url, err)) from err
    async with connection:
        host = urlsplit(connecting.uri).hostname
        if host != urlsplit(url).hostname:
            raise CannotConnect(
                f"{url} sends its visitors on to {host}, and the token is not shown to another "
                "machine than the one in home_assistant.url: put that machine's address there"
            )
        await _log_in(connection, url, token)
        yield connection


def parse(message: str | bytes) -> dict[str, Any]:
    """Return a message of Home Assistant.

    Raises:
        NotUnderstood: It is not a JSON object.
    """
    try:
        parsed = json.loads(message)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise NotUnderstood(
            "Home Assistant sent something that is not a message of its API: see what else answers "
            "at home_assistant.url"
        )
    return parsed


async def _log_in(connection: ClientConnection, url: str, token: Token) -> None:
    try:
        async with asyncio.timeout(_LOGIN_TIMEOUT):
            greeting = parse(await connection.recv())
            # The token is shown to nobody who does not ask for it as Home Assistant does.
            answer = greeting
            if greeting.get("type") == "auth_required":
                await connection.send(json.dumps({"type": "auth", "access_token": token.secret}))
                answer = parse(await connection.recv())
    except (ConnectionClosed, NotUnderstood, TimeoutError):
        answer = {}
    if answer.get("type") == "auth_ok":
        return
    if answer.get("type") != "auth_invalid":
        raise CannotConnect(
            f"What answers at {url} does not log in like Home Assistant: check home_assistant.url "
            "in the configuration file"
        )
    reason = token.hide_in(printable(answer.get("message", "no reason given")))
    raise AuthenticationFailed(
        f"Home Assistant refused the token: {reason}. It may be wrong, expired or deleted: make a "
        "new one in Home Assistant under your profile, Security, Long-lived access tokens"
    )


def _explain(url: str, err: Exception) -> str:
    check = "check home_assistant.url in the configuration file"
    if isinstance(err, ssl.SSLCertVerificationError):
        return (
            f"The certificate of {url} is not trusted: {err.verify_message}. Use the name that the "
            "certificate was made for, or let this machine trust it (SSL_CERT_FILE)"
        )
    # Some servers answer a handshake that they do not understand by hanging up.
    if isinstance(err, (ssl.SSLError, ConnectionResetError)) and url.startswith("https:"):
        return f"{url} does not speak TLS: is it an address with http instead of https?"
    if isinstance(err, InvalidStatus):
        return _explain_status(url, err.response.status_code)
    if isinstance(err, TimeoutError):
        return (
            f"{url} did not answer within {_OPEN_TIMEOUT:g} s: see whether Home Assistant runs, "
            f"and {check}"
        )
    if isinstance(err, OSError):
        return (
            f"Home Assistant cannot be reached at {url}: {_reason(err)}. See whether it runs, and "
            f"{check}"
        )
    return f"What answers at {url} is not Home Assistant, or wants https instead of http: {check}"


def _reason(err: OSError) -> str:
    """Return the system's words for an error, which the loop wraps in its own."""
    if err.errno is None or err.errno <= 0:
        return err.strerror or str(err) or "the connection broke off"
    return os.strerror(err.errno)


def _explain_status(url: str, status: int) -> str:
    if status == HTTPStatus.FORBIDDEN:
        return (
            f"{url} refused the connection (HTTP 403): Home Assistant may have banned this "
            "machine after wrong tokens, see ip_bans.yaml in its configuration folder"
        )
    return (
        f"{url} answered HTTP {status} instead of opening a WebSocket: check that "
        "home_assistant.url in the configuration file is Home Assistant's own address, and that a "
        "proxy in front of it passes WebSockets on"
    )
