"""Recognises Ollama Herd in front of Ollama, and says what it changes.

What it does was observed and read in its release 0.11.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ollama_warmer.errors import OllamaError
from ollama_warmer.ollama.client import Ollama
from ollama_warmer.words import printable


@dataclass(frozen=True, kw_only=True)
class Node:
    """A machine behind the router.

    Attributes:
        name: What the router calls it.
        status: `online`, `degraded` (which is still asked) or `offline`.
        url: Where its own Ollama is; on the router's machine that may be `localhost`.
        loaded: The models in its memory, with their windows in tokens where they are reported.
    """

    name: str
    status: str
    url: str
    loaded: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """What stands behind a router.

    Attributes:
        version: The router's version.
        nodes: Its machines; none if the router does not report.
        trouble: Why it does not report.
    """

    version: str
    nodes: tuple[Node, ...] = ()
    trouble: str | None = None


async def look_behind(
    ollama: Ollama, version: Mapping[str, Any], loaded: Sequence[Mapping[str, Any]]
) -> Fleet | None:
    """Return the fleet behind a router; none if it is no router.

    Args:
        ollama: The address that is asked.
        version: What `/api/version` says there; Herd adds `herd_version`.
        loaded: What `/api/ps` lists there; Herd adds `fleet_node`.
    """
    herd = version.get("herd_version")
    if herd is None and not any("fleet_node" in entry for entry in loaded):
        return None
    herd = "of unknown version" if herd is None else herd
    try:
        status = await ollama.get("/fleet/status")
    except OllamaError as err:
        return Fleet(version=printable(herd), trouble=str(err))
    rows = status.get("nodes")
    nodes = [_node(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return Fleet(version=printable(herd), nodes=tuple(nodes))


def _node(row: Mapping[str, Any]) -> Node:
    """Read a machine of `/fleet/status`."""
    ollama = row.get("ollama")
    models = ollama.get("models_loaded") if isinstance(ollama, dict) else None
    loaded: dict[str, int | None] = {}
    for model in models if isinstance(models, list) else ():
        if isinstance(model, dict):
            context = model.get("context_length")
            loaded[str(model.get("name"))] = context if isinstance(context, int) else None
    return Node(
        name=printable(row.get("node_id")),
        status=printable(row.get("status")),
        url=printable(row.get("ollama_url")),
        loaded=loaded,
    )
