"""Looks at the model server's log: can it be read, and what does it say of loads and slots."""

from collections.abc import Iterator

from ollama_warmer.doctor.findings import LOG, Finding, many, tokens
from ollama_warmer.doctor.loads import Loads, others_options
from ollama_warmer.doctor.log_tail import Tail
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Seen
from ollama_warmer.doctor.server import Server
from ollama_warmer.words import listing, printable

_MOST_CLIENTS = 5


@check(Part.LOG, 10)
def of_the_log(seen: Seen) -> Iterator[Finding]:
    """Yield whether there is a log, and what is found in it."""
    yield check_log(seen.tail)
    if seen.tail.trouble is None:
        yield from check_models(seen.loads)
        yield from check_options(seen.loads, seen.wanted.num_ctx)
        yield from check_slots(seen.loads)
        yield from check_parallel(seen.tail, seen.server)
        yield from check_clients(seen.tail)


def check_log(tail: Tail) -> Finding:
    """Say whether there is a log, and whether it is a model server's."""
    if tail.name is None:
        return LOG.unknown(
            "log",
            "no log is named: slots, batch and who else uses the server are not known",
            "Name the model server's log under [counts] in the configuration",
        )
    if tail.trouble is not None:
        return LOG.trouble("log", f"{tail.name} gives nothing: {tail.trouble}")
    if not tail.found.loads:
        return LOG.unknown(
            "log",
            f"{tail.name} can be read, and in the {tokens(tail.found.lines)} lines of its end no "
            "model is loaded",
            "See whether it is the log of this model server; a program should print old lines, too",
        )
    return LOG.ok(
        "log", f"{tail.name} can be read, with {many(len(tail.found.loads), 'load')} of models"
    )


def check_models(loads: Loads) -> Iterator[Finding]:
    """Yield whether one model alone writes to the log, as its lines do not say whose they are."""
    names = {it.model for it in loads.recent if it.model is not None}
    if len(names) > 1:
        yield LOG.advice(
            "log_models",
            f"{len(names)} models were loaded within a day and write to the same log "
            f"({listing(names)}): counts from it are unknown whenever both are asked at once",
            "Let other models run on a server of their own, or take counts from Ollama 0.33.3 or "
            "newer with the agent Ollama Warm",
        )
    elif names:
        yield LOG.ok("log_models", "one model alone was loaded within a day")


def check_options(loads: Loads, num_ctx: int | None) -> Iterator[Finding]:
    """Yield whether another client has the agent's model reloaded."""
    if (pair := others_options(loads, num_ctx)) is not None:
        first, second = pair
        what = f"{tokens(first.context or 0)} and {tokens(second.context or 0)} tokens"
        if first.context == second.context:
            what = f"{tokens(first.context or 0)} tokens, with and without moving a full window on"
        when = f", last at {second.time:%Y-%m-%d %H:%M}" if second.time else ""
        yield LOG.problem(
            "other_options",
            f"clients with different options take turns with the agent's model ({what}{when}): "
            "each change reloads it and loses every prompt",
            "Give all clients the same num_ctx; those of /v1 cannot name one, for them set "
            "OLLAMA_CONTEXT_LENGTH",
        )
    elif loads.ours:
        yield LOG.ok("other_options", "no second client was seen to load the model otherwise")


def check_slots(loads: Loads) -> Iterator[Finding]:
    """Yield how many prompts the model keeps side by side, and how much it reads at once."""
    if (last := loads.last) is None:
        return
    if last.slots is not None and last.slots > 1:
        yield LOG.advice(
            "slots",
            f"the model has {last.slots} slots: a question that comes while another one is "
            "answered finds a slot that may be cold",
            "Set OLLAMA_NUM_PARALLEL=1, unless waiting in line is worse than a cold prompt",
        )
    elif last.slots == 1:
        yield LOG.ok("slots", "the model has one slot: questions wait in line for a warm prompt")
    if last.batch is not None:
        yield LOG.ok("batch", f"the model reads {tokens(last.batch)} tokens at once")
    if last.cache_mib == 0:
        yield LOG.advice(
            "prompt_cache",
            "whole prompts are not kept in memory: someone else's question in between costs the "
            "agent its warm prompt",
            "Remove LLAMA_ARG_CACHE_RAM=0 from the model server's environment",
        )
    elif last.cache_mib is not None:
        yield LOG.ok(
            "prompt_cache", f"up to {tokens(last.cache_mib)} MiB of other prompts are kept"
        )


def check_parallel(tail: Tail, server: Server | None) -> Iterator[Finding]:
    """Yield whether OLLAMA_NUM_PARALLEL is set in vain."""
    info = (server.shown or {}).get("model_info") if server else None
    architecture = str(info.get("general.architecture")) if isinstance(info, dict) else None
    ignored = tail.found.not_parallel
    if architecture in ignored or "" in ignored:
        yield LOG.advice(
            "parallel",
            f"Ollama gives models of the architecture {printable(architecture)} one slot, whatever "
            "OLLAMA_NUM_PARALLEL says",
            "Expect a second question to wait for the first one, and leave the setting away",
        )


def check_clients(tail: Tail) -> Iterator[Finding]:
    """Yield which machines ask this server, as far as Ollama's own lines say."""
    machines: dict[str, int] = {}
    for (address, _), times in tail.found.clients.items():
        machines[address] = machines.get(address, 0) + times
    if machines:
        first = sorted(machines, key=lambda it: -machines[it])[:_MOST_CLIENTS]
        shown = ", ".join(f"{printable(it)} {machines[it]} times" for it in first)
        more = f" and {len(machines) - len(first)} more" if len(machines) > len(first) else ""
        yield LOG.ok("clients", f"who asked this server: {shown}{more}")
