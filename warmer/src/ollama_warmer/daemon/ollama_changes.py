"""What two looks at Ollama say together: pure logic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.ollama import facts, listed

# A model may go a little before the time that it gave at the last look, and the clocks of two
# machines differ. Within this a model has gone because its keep_alive was over.
_CLOSE = timedelta(seconds=90)


@dataclass(frozen=True, kw_only=True)
class InMemory:
    """A model in memory.

    Attributes:
        digest: Which one it is.
        context: Its window in tokens; none if Ollama does not say (before 0.10).
        expires_at: Until when it stays if no one asks it; none if that cannot be read.
    """

    digest: str
    context: int | None
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Look:
    """What Ollama said at one moment.

    Attributes:
        version: Its version.
        model: The agent's model; none if it is not in memory, or if it is not known which it is.
        at: When it was asked, aware.
    """

    version: str
    model: InMemory | None
    at: datetime


def find(models: Sequence[Mapping[str, Any]], name: str | None) -> InMemory | None:
    """Return a model from the list of `/api/ps`; its tag is `latest` if none is named."""
    if name is None:
        return None
    for entry in models:
        if listed.name_of(entry).lower() == full_name(name):
            context = entry.get("context_length")
            return InMemory(
                digest=str(entry.get("digest")),
                context=context if isinstance(context, int) else None,
                expires_at=listed.expires_at(entry),
            )
    return None


def full_name(name: str) -> str:
    """Return a model's name with its tag, in lower case as Ollama compares names."""
    return facts.full_name(name).lower()


def after_silence(last: Look | None, now: Look) -> Occasion | None:
    """Return what it means that Ollama answers again.

    Args:
        last: The last look before the silence; none if there was none.
        now: The first look after it.
    """
    if last is None or last.version != now.version or last.model is None or now.model is None:
        return Occasion.OLLAMA_BACK
    # Whoever ends Ollama ends its models: a model that is still there was only out of reach.
    return _reloaded(last.model, now.model)


def between(last: Look, now: Look, *, ours: bool) -> Occasion | None:
    """Return what happened between two looks; none if nothing did that makes a prompt cold.

    Args:
        last: The look before.
        now: The newest look.
        ours: Whether a round of ours was under way in between, which may have loaded the model.
    """
    if last.version != now.version:
        return Occasion.OLLAMA_BACK
    if last.model is None:
        return Occasion.MODEL_RELOADED if now.model is not None and not ours else None
    if now.model is None:
        # What expired is loaded again by the schedule, or by whoever asks: Ollama's owner wanted
        # the memory back.
        return None if _has_expired(last.model, now.at) else Occasion.MODEL_GONE
    return None if ours else _reloaded(last.model, now.model)


def _reloaded(before: InMemory, now: InMemory) -> Occasion | None:
    same = (before.digest, before.context) == (now.digest, now.context)
    return None if same else Occasion.MODEL_RELOADED


def _has_expired(model: InMemory, at: datetime) -> bool:
    return model.expires_at is not None and model.expires_at <= at + _CLOSE
