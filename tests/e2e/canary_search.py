"""Where canaries are looked for: all that our integration stores, logs, shows and tells."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
import json
from pathlib import Path
from typing import Any

import aiohttp

from tests.rig.hass_api import Json
from tests.rig.home_assistant import HomeAssistant

DOMAIN = "ollama_warm"


def found(text: str, canaries: Mapping[str, str]) -> list[str]:
    """Return which canaries are in a text, in any case."""
    folded = text.casefold()
    return [what for what, word in canaries.items() if word.casefold() in folded]


def basic(user: str, password: str) -> str:
    """Return user and password as they are sent."""
    return b64encode(f"{user}:{password}".encode()).decode()


class Bus:
    """Everything that happens on the bus of a house."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.events: list[Json] = []

    @asynccontextmanager
    async def listen(self, house: HomeAssistant) -> AsyncIterator[None]:
        """Keep each event from now on."""
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{house.url}/api/websocket", max_msg_size=0) as socket,
        ):
            await _log_in(socket, house.admin_token)
            await socket.send_json({"id": 1, "type": "subscribe_events"})
            listening = asyncio.create_task(self._keep(socket))
            try:
                yield
            finally:
                listening.cancel()

    async def _keep(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            for one in _in_a_list(message.json()):
                if one["type"] == "event":
                    self.events.append(one["event"])

    def of(self, entities: Iterable[str]) -> list[Json]:
        """Return the events that our integration causes: its own, and those of its entities."""
        ours = set(entities)
        return [
            event
            for event in self.events
            if DOMAIN in event["event_type"]
            or (event["event_type"] != "call_service" and event["data"].get("entity_id") in ours)
        ]


def _in_a_list(answer: Json | list[Json]) -> list[Json]:
    """Return messages as a list, which is how Home Assistant sends many at once."""
    return answer if isinstance(answer, list) else [answer]


async def _log_in(socket: aiohttp.ClientWebSocketResponse, token: str) -> None:
    await socket.receive_json()
    await socket.send_json({"type": "auth", "access_token": token})
    await socket.receive_json()


async def system_health(house: HomeAssistant) -> str:
    """Return what Home Assistant's system information has of us."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{house.url}/api/websocket", max_msg_size=0) as socket,
    ):
        await _log_in(socket, house.admin_token)
        await socket.send_json({"id": 1, "type": "system_health/info"})
        told: list[Json] = []
        async for message in socket:
            for one in _in_a_list(message.json()):
                event = one.get("event", {})
                if event.get("type") == "finish":
                    return json.dumps([event for event in told if _is_ours(event)])
                told.append(event)
    return ""


def _is_ours(event: Json) -> bool:
    """Return whether an event of the system information is about us."""
    return event.get("domain") == DOMAIN or DOMAIN in (event.get("data") or {})


async def own_entities(house: HomeAssistant) -> list[str]:
    """Return our entities."""
    entries = await house.command("config/entity_registry/list")
    return [entry["entity_id"] for entry in entries if entry["platform"] == DOMAIN]


async def own_states(house: HomeAssistant) -> str:
    """Return the states of our entities, with their attributes, as somebody without rights."""
    states = await house.command("get_states", token=house.warmer_token)
    ours = set(await own_entities(house))
    return json.dumps([state for state in states if state["entity_id"] in ours])


async def diagnostics(house: HomeAssistant) -> str:
    """Return the diagnostics of all our entries."""
    told = [
        await house.rest("GET", f"/api/diagnostics/config_entry/{entry['entry_id']}")
        for entry in await house.command("config_entries/get", domain=DOMAIN)
    ]
    # What Home Assistant adds of itself and of other integrations is not ours.
    return json.dumps([one["data"] for one in told])


async def notices(house: HomeAssistant) -> str:
    """Return the entries, their agents, and our issues, as an administrator sees them."""
    entries = await house.command("config_entries/get", domain=DOMAIN)
    agents = [
        await house.command("config_entries/subentries/list", entry_id=entry["entry_id"])
        for entry in entries
    ]
    issues = (await house.command("repairs/list_issues"))["issues"]
    flows = await house.command("config_entries/flow/progress")
    ours = [
        *(issue for issue in issues if issue["domain"] == DOMAIN),
        *(flow for flow in flows if flow["handler"] == DOMAIN),
    ]
    return json.dumps([entries, agents, ours])


async def logbook(house: HomeAssistant) -> str:
    """Return the lines of the logbook about our entities."""
    lines = await house.command(
        "logbook/get_events",
        start_time="2020-01-01T00:00:00+00:00",
        entity_ids=await own_entities(house),
    )
    return json.dumps(lines)


def stored(folder: Path) -> dict[str, str]:
    """Return what is stored of us: our own files, and what other files have of us.

    Where Home Assistant keeps credentials, the data of an entry, is under a name of its own.
    """
    files = {path.name: path.read_text() for path in (folder / ".storage").iterdir()}
    whole = {name: text for name, text in files.items() if DOMAIN in name}
    entries = [
        entry for entry in _data(files, "core.config_entries", "entries") if _owns(entry, "domain")
    ]
    ids = {entry["entry_id"] for entry in entries}
    shown = [entry | {"data": {"url": entry["data"]["url"]}} for entry in entries]
    devices = [
        device
        for device in _data(files, "core.device_registry", "devices")
        if ids & set(device.get("config_entries") or [device.get("config_entry_id")])
    ]
    entities = [
        entity
        for entity in _data(files, "core.entity_registry", "entities")
        if _owns(entity, "platform")
    ]
    issues = _data(files, "repairs.issue_registry", "issues")
    own = {entity["entity_id"] for entity in entities}
    states = [
        state
        for state in json.loads(files.get("core.restore_state", '{"data": []}'))["data"]
        if state["state"]["entity_id"] in own
    ]
    return whole | {
        "entries": json.dumps(shown),
        "credentials": json.dumps([entry["data"] for entry in entries]),
        "devices": json.dumps(devices),
        "entities": json.dumps(entities),
        "issues": json.dumps([issue for issue in issues if _owns(issue, "domain")]),
        "states": json.dumps(states),
    }


def _data(files: Mapping[str, str], name: str, key: str) -> list[Json]:
    rows: list[Json] = json.loads(files[name])["data"][key] if name in files else []
    return rows


def _owns(row: Mapping[str, Any], key: str) -> bool:
    return bool(row.get(key) == DOMAIN)
