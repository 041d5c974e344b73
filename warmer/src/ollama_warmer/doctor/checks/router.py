"""Looks at the router in front of Ollama, if there is one: what it changes."""

from collections.abc import Iterator

from ollama_warmer.doctor.findings import ROUTER, Finding, span, tokens
from ollama_warmer.doctor.herd import Fleet
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.words import listing

# Herd forgets after this many seconds without a question which node a client was sent to.
PIN_SECONDS = 900.0


@check(Part.SERVER, 30)
def router(seen: Seen) -> Iterator[Finding]:
    """Yield what a router changes."""
    if (server := seen.server) is not None:
        yield from check_router(
            server.fleet,
            model=server.model,
            num_ctx=seen.wanted.num_ctx,
            interval=seen.setup.interval,
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
