"""Takes from Home Assistant what the doctor looks at."""

from dataclasses import dataclass
from typing import Any

from ollama_warmer.errors import CommandFailed
from ollama_warmer.house.client import HomeAssistant, connect
from ollama_warmer.house.credentials import Token
from ollama_warmer.house.discover import Discovered, look_around

# Long enough for a connection that is slow, too short to wait for a start.
_START_TIMEOUT = 20.0
_OUR_PLATFORM = "ollama_warm"


@dataclass(frozen=True, kw_only=True)
class House:
    """What the user of a token can see of a house.

    Attributes:
        version: Home Assistant's version, such as `2026.11.0`; none if it is not reported.
        administrator: Whether the user is one; none if it is not reported.
        devices: Ids of all devices; none if they are not reported.
        ours: The agents of our own integration, which send all rooms the same prompt.
        found: Agents, assistants and satellites, and what could not be seen.
    """

    version: str | None
    administrator: bool | None
    devices: frozenset[str] | None
    ours: frozenset[str] = frozenset()
    found: Discovered


async def visit(url: str, token: Token) -> House:
    """Return what can be seen of a house.

    Args:
        url: Web address of Home Assistant.
        token: A long-lived access token; no administrator rights are needed.

    Raises:
        CannotConnect: Home Assistant cannot be reached, or is still starting.
        AuthenticationFailed: Home Assistant refused the token.
        NotUnderstood: Home Assistant answers in an unknown shape.
    """
    async with connect(url, token) as home:
        await home.wait_until_running(_START_TIMEOUT)
        version = (await _reported(home, "get_config")).get("version")
        administrator = (await _reported(home, "auth/current_user")).get("is_admin")
        devices = await _devices(home)
        ours = await _ours(home)
    return House(
        version=version if isinstance(version, str) else None,
        administrator=administrator if isinstance(administrator, bool) else None,
        devices=devices,
        ours=ours,
        found=await look_around(url, token, _START_TIMEOUT),
    )


async def _reported(home: HomeAssistant, kind: str) -> dict[str, Any]:
    """Return the object that a command answers with; an empty one where it is refused.

    What is missing in it becomes a finding of its own, which says that it is unknown.
    """
    try:
        answer = await home.query(kind)
    except CommandFailed:
        return {}
    return answer if isinstance(answer, dict) else {}


async def _devices(home: HomeAssistant) -> frozenset[str] | None:
    """Return the ids of all devices; nothing where they are refused, as `_reported`."""
    try:
        return await home.devices()
    except CommandFailed:
        return None


async def _ours(home: HomeAssistant) -> frozenset[str]:
    """Return the agents of our integration; nothing where that is refused, as `_reported`."""
    try:
        rows = await home.query("config/entity_registry/list")
    except CommandFailed:
        return frozenset()
    return frozenset(
        str(row.get("entity_id"))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and row.get("platform") == _OUR_PLATFORM
    )
