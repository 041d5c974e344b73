"""Looks at the model server's log: can it be read, and what does it say of loads and slots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import re

from ollama_warmer.doctor.findings import LOG, Finding, many, tokens
from ollama_warmer.doctor.load_lines import Load
from ollama_warmer.doctor.log_tail import Tail
from ollama_warmer.doctor.server import Server
from ollama_warmer.ollama.facts import PromptPath, selected_path
from ollama_warmer.words import listing, printable

# What lies further back may have been put right since.
RECENT = timedelta(days=1)
_BLOB = re.compile(r"^FROM\s+(?:\S*[/\\])?(sha256-[0-9a-f]+)\s*$", re.MULTILINE)
_FROM = re.compile(r"^FROM\s+(?:\S*[/\\])?(\S+)\s*$", re.MULTILINE)
_MOST_CLIENTS = 5


@dataclass(frozen=True, kw_only=True)
class Loads:
    """The loads of a log, told apart.

    Attributes:
        ours: Those of the agent's model, the newest last; none if they cannot be told.
        recent: Those of the last day, of every model.
    """

    ours: tuple[Load, ...] = ()
    recent: tuple[Load, ...] = ()

    @property
    def last(self) -> Load | None:
        """The newest of the agent's model."""
        return self.ours[-1] if self.ours else None


def sort_loads(tail: Tail, server: Server | None, now: datetime) -> Loads:
    """Return which loads are of the agent's model.

    They are told by its file, which Ollama names; by its architecture where it does not.
    """
    loads = tail.found.loads
    recent = tuple(it for it in loads if it.time is None or it.time > now - RECENT)
    shown = server.shown if server else None
    if shown is None:
        return Loads(recent=recent)
    modelfile = str(shown.get("modelfile"))
    source = _BLOB.search(modelfile) or _FROM.search(modelfile)
    ours = [it for it in loads if source is not None and it.model == source[1]]
    if _BLOB.search(modelfile) is None and not ours:
        info = shown.get("model_info")
        architecture = info.get("general.architecture") if isinstance(info, dict) else None
        ours = [it for it in loads if architecture and it.architecture == architecture]
    return Loads(ours=tuple(ours), recent=recent)


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


def others_options(loads: Loads, num_ctx: int | None) -> tuple[Load, Load] | None:
    """Return two loads of the agent's model that two clients must have asked for.

    One change of options may be the owner's own. A change back, or a model that was loaded with
    the agent's window and is loaded with another one now, is two clients taking turns.
    """
    recent = [it for it in loads.ours if it in loads.recent and it.context is not None]
    changes = [
        it
        for before, it in zip([None, *recent], recent, strict=False)
        if before is None or _options(before) != _options(it)
    ]
    for index in reversed(range(len(changes))):
        load = changes[index]
        if any(_options(load) == _options(earlier) for earlier in changes[:index]):
            return changes[index - 1], load
    if len(changes) > 1 and changes[-1].context != num_ctx == changes[-2].context:
        return changes[-2], changes[-1]
    return None


def _options(load: Load) -> tuple[object, ...]:
    """Return what clients choose of a load; the batch also depends on the free memory."""
    return load.context, load.shift


def check_options(loads: Loads, num_ctx: int | None) -> Iterator[Finding]:
    """Yield whether another client has the agent's model loaded anew."""
    if (pair := others_options(loads, num_ctx)) is not None:
        first, second = pair
        what = f"{tokens(first.context or 0)} and {tokens(second.context or 0)} tokens"
        if first.context == second.context:
            what = f"{tokens(first.context or 0)} tokens, with and without moving a full window on"
        when = f", last at {second.time:%Y-%m-%d %H:%M}" if second.time else ""
        yield LOG.problem(
            "other_options",
            f"clients with different options take turns with the agent's model ({what}{when}): "
            "each change loads it anew and loses every prompt",
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
            "whole prompts are not kept in memory: somebody else's question in between costs the "
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
    """Yield which machines ask this server, as far as Ollama's own lines tell."""
    machines: dict[str, int] = {}
    for (address, _), times in tail.found.clients.items():
        machines[address] = machines.get(address, 0) + times
    if machines:
        first = sorted(machines, key=lambda it: -machines[it])[:_MOST_CLIENTS]
        shown = ", ".join(f"{printable(it)} {machines[it]} times" for it in first)
        more = f" and {len(machines) - len(first)} more" if len(machines) > len(first) else ""
        yield LOG.ok("clients", f"who asked this server: {shown}{more}")


def path_by_log(tail: Tail, model: str | None) -> PromptPath | None:
    """Return who makes the agent's prompt by Ollama's own words; none if it did not say.

    The log has the model's name with its registry in front.
    """
    for name, selected in tail.found.selected.items():
        if model is not None and (name == model or name.endswith(f"/{model}")):
            return selected_path(selected)
    return None


def overflows(tail: Tail, num_ctx: int | None) -> Sequence[str]:
    """Return what the log says of prompts that did not fit the agent's window."""
    found = [
        f"a prompt of {tokens(prompt)} tokens was refused"
        for prompt, window in tail.found.too_long[-1:]
        if num_ctx in {None, window}
    ]
    if tail.found.cut and (num_ctx is None or num_ctx in tail.found.cut):
        found.append("Ollama cut a prompt that did not fit")
    return found
