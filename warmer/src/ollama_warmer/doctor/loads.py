"""Says which loads of a log are the agent's model's, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import re

from ollama_warmer.doctor.findings import tokens
from ollama_warmer.doctor.load_lines import Load
from ollama_warmer.doctor.log_tail import Tail
from ollama_warmer.doctor.server import Server
from ollama_warmer.ollama.facts import PromptPath, selected_path

# What lies further back may have been put right since.
RECENT = timedelta(days=1)
_BLOB = re.compile(r"^FROM\s+(?:\S*[/\\])?(sha256-[0-9a-f]+)\s*$", re.MULTILINE)
_FROM = re.compile(r"^FROM\s+(?:\S*[/\\])?(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Loads:
    """The loads of a log, kept apart.

    Attributes:
        ours: Those of the agent's model, the newest last; none if they cannot be known.
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

    They are known by its file, which Ollama names; by its architecture where it does not.
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
