"""A stand-in for Home Assistant that also sends events, and how a daemon is configured for it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any, override

from websockets.asyncio.server import ServerConnection

from tests.warmer.support.house import AGENT, KITCHEN, House, Message

SATELLITE = "assist_satellite.kitchen"
APP = """
[[targets]]
name = "app"
"""
TARGETS = f"""{APP}
[[targets]]
name = "kitchen"
device = "{KITCHEN}"
"""


@dataclass
class LiveHouse(House):
    """A house whose connections may be subscribed to, and stay open until a test closes them."""

    zone: str = "Europe/Berlin"
    entities: dict[str, str] = field(default_factory=lambda: {SATELLITE: "idle", AGENT: "unknown"})
    refused: set[str] = field(default_factory=set)
    connections: list[ServerConnection] = field(default_factory=list)
    _subscriptions: list[tuple[ServerConnection, int, str]] = field(default_factory=list)

    @override
    async def serve(self, connection: ServerConnection) -> None:
        """Hold one connection, and forget its subscriptions afterwards."""
        self.connections.append(connection)
        try:
            await super().serve(connection)
        finally:
            self.connections.remove(connection)
            self._subscriptions = [it for it in self._subscriptions if it[0] is not connection]

    @override
    async def _answer(self, connection: ServerConnection, message: Message) -> None:
        kind: str = message["type"]
        if not kind.startswith("subscribe_"):
            await super()._answer(connection, message)
            return
        kind = str(message.get("event_type", kind))
        self.asked.append(message)
        answer: Message = {
            "id": message["id"],
            "type": "result",
            "success": kind not in self.refused,
        }
        if not answer["success"]:
            answer["error"] = {"code": "unauthorized", "message": "Unauthorized"}
        await connection.send(json.dumps(answer))
        if answer["success"]:
            self._subscriptions.append((connection, message["id"], kind))
            if kind == "subscribe_entities":
                states = {entity: {"s": state} for entity, state in self.entities.items()}
                await self._send(connection, message["id"], {"a": states})

    @override
    def _result(self, message: Message) -> object:
        if message["type"] == "get_config" and "get_config" not in self.overrides:
            result = super()._result(message)
            assert isinstance(result, dict)
            return {**result, "time_zone": self.zone}
        return super()._result(message)

    @property
    def watched(self) -> bool:
        """Whether a daemon has subscribed to everything."""
        return any(kind == "service_removed" for _, _, kind in self._subscriptions)

    async def fire(self, event_type: str, **data: object) -> None:
        """Send an event to whoever subscribed to its type."""
        event = {"event_type": event_type, "data": data}
        await self._send_all(event_type, event)

    async def change(self, entity_id: str, state: str) -> None:
        """Give an entity another state."""
        self.entities[entity_id] = state
        await self._send_all("subscribe_entities", {"c": {entity_id: {"+": {"s": state}}}})

    async def cut(self) -> None:
        """Break every connection without a word."""
        for connection in list(self.connections):
            connection.transport.abort()

    async def _send_all(self, wanted: str, event: Message) -> None:
        for connection, number, kind in list(self._subscriptions):
            if kind == wanted:
                await self._send(connection, number, event)

    async def _send(self, connection: ServerConnection, number: int, event: Message) -> None:
        await connection.send(json.dumps({"id": number, "type": "event", "event": event}))


def write_config(
    folder: Path, url: str, run: str = "", more: str = "", targets: str = TARGETS
) -> Path:
    """Write a configuration for a house; `run` are the keys of [run], `more` other tables."""
    path = folder / "home.toml"
    path.write_text(
        f'agent = "{AGENT}"\n[home_assistant]\nurl = "{url}"\n[run]\n{run}\n{more}\n{targets}'
    )
    return path


def rounds(state_file: Path) -> list[dict[str, Any]]:
    """Return the rounds that are kept in a state file."""
    if not state_file.exists():
        return []
    found: list[dict[str, Any]] = json.loads(state_file.read_text())["rounds"]
    return found


async def until(condition: Callable[[], object], seconds: float = 15) -> None:
    """Wait until something is true; fail if it does not become so."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the conditions are of many kinds
            await asyncio.sleep(0.01)
