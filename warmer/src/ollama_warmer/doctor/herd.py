"""Recognises Ollama Herd in front of Ollama, and says what it changes.

What it does was observed and read in its release 0.11.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ollama_warmer.doctor.findings import ROUTER, Finding, span, tokens
from ollama_warmer.errors import OllamaError
from ollama_warmer.ollama.client import Ollama
from ollama_warmer.words import listing, printable

# Herd forgets after this many seconds without a question which node a client was sent to.
PIN_SECONDS = 900.0


@dataclass(frozen=True, kw_only=True)
class Node:
    """A machine behind the router.

    Attributes:
        name: What the router calls it.
        status: `online`, `degraded` (which is still asked) or `offline`.
        url: Where its own Ollama is; on the router's machine that may be `localhost`.
        loaded: The models in its memory, with their windows in tokens where they are told.
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
        nodes: Its machines; none if the router does not tell.
        trouble: Why it does not tell.
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


def check_router(
    fleet: Fleet | None, *, model: str | None, num_ctx: int | None, interval: float
) -> Iterator[Finding]:
    """Yield what a router changes.

    Args:
        fleet: What stands behind it; none if there is no router.
        model: The agent's model with its tag.
        num_ctx: The agent's window in tokens, if it is known.
        interval: Seconds between two warm-ups.
    """
    if fleet is None:
        yield ROUTER.ok("router", "no router is in front of Ollama that could be recognised")
        return
    yield _recognised(fleet)
    if interval >= PIN_SECONDS:
        yield ROUTER.advice(
            "router_interval",
            f"Herd forgets after {span(PIN_SECONDS)} which node a client was sent to, and "
            f"warm-ups come every {span(interval)}",
            f"Warm up more often than every {span(PIN_SECONDS)}",
        )
    if model is not None and fleet.nodes:
        yield _nodes(fleet, model)
        yield from _windows(fleet, model, num_ctx)


def _recognised(fleet: Fleet) -> Finding:
    known = (
        f"nodes {', '.join(node.name for node in fleet.nodes)}"
        if fleet.nodes
        else (f"its nodes are not known: {fleet.trouble or 'it has none'}")
    )
    return ROUTER.advice(
        "router",
        f"Ollama Herd {fleet.version} decides which machine answers ({known}), lets one token of "
        "an answer become 1,024 unless `think` is false, and raises a num_ctx below the loaded one",
        "Judge by cached tokens alone: after a failover its X-Fleet-Node names the wrong machine",
    )


def _nodes(fleet: Fleet, model: str) -> Finding:
    """Say which machines would answer, as a warm-up reaches only one."""
    serving = [node for node in fleet.nodes if node.status != "offline" and model in node.loaded]
    names = listing(node.name for node in serving)
    if len(serving) > 1:
        addresses = ", ".join(f"{node.name} at {node.url}" for node in serving)
        return ROUTER.advice(
            "router_nodes",
            f"{len(serving)} machines have the model loaded, and a warm-up through Herd reaches "
            f"one of them: {names}",
            f"Warm each at its own address with the loaded num_ctx ({addresses})",
        )
    if not serving:
        return ROUTER.unknown("router_nodes", "no machine behind Herd has the model loaded")
    return ROUTER.ok("router_nodes", f"one machine has the model loaded: {names}")


def _windows(fleet: Fleet, model: str, num_ctx: int | None) -> Iterator[Finding]:
    """Yield a finding if the machines' windows differ: each rewrites num_ctx to its own."""
    windows = {node.loaded[model] for node in fleet.nodes if model in node.loaded} - {None}
    if len(windows) > 1:
        shown = ", ".join(tokens(window) for window in sorted(filter(None, windows)))
        yield ROUTER.advice(
            "router_windows",
            f"the machines have the model loaded with different windows: {shown} tokens",
            f"Load it with {tokens(num_ctx) if num_ctx else 'the same number'} everywhere",
        )
