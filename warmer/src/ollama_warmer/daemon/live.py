"""A connection to Home Assistant over which events come, too."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection

from ollama_warmer.house.client import HomeAssistant
from ollama_warmer.house.connecting import open_session
from ollama_warmer.house.credentials import Token

Receiver = Callable[[object], None]
"""Takes the `event` of a message, of any shape."""

_WITHIN = 60.0


class Live(HomeAssistant):
    """A connection that has logged in, and hands events to whoever subscribed."""

    def __init__(self, connection: ClientConnection) -> None:
        """Take over an open connection, and begin to receive."""
        super().__init__(connection)
        self._receivers: dict[int, Receiver] = {}
        self.receiving = asyncio.create_task(self.receive())

    async def subscribe(self, kind: str, fields: Mapping[str, object], receiver: Receiver) -> None:
        """Have events handed over until the connection ends.

        Raises:
            CommandFailed: Home Assistant refused it.
            NoAnswer: It did not answer in time.
            CannotConnect: The connection is gone.
        """
        # The command takes this number before anything else can happen.
        number = self._last_id + 1
        self._receivers[number] = receiver
        try:
            await self.command(kind, fields, within=_WITHIN)
        except BaseException:
            del self._receivers[number]
            raise

    # Python 3.11 has no @override.
    def _take(self, message: Mapping[str, Any]) -> None:  # type: ignore[explicit-override]
        if message.get("type") != "event":
            super()._take(message)
        elif receiver := self._receivers.get(message.get("id", 0)):
            receiver(message.get("event"))


@asynccontextmanager
async def connect_live(url: str, token: Token) -> AsyncIterator[Live]:
    """Yield Home Assistant, logged in; `ollama_warmer.house.client.connect` with events.

    Raises:
        CannotConnect: Nothing answers there, or what answers is no Home Assistant.
        AuthenticationFailed: The token was refused.
    """
    async with open_session(url, token) as connection:
        home = Live(connection)
        try:
            yield home
        finally:
            home.receiving.cancel()
            await asyncio.gather(home.receiving, return_exceptions=True)
