"""Reads what stands in Ollama's lists of models, `/api/tags` and `/api/ps`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ollama_warmer.ollama.facts import full_name


def name_of(entry: Mapping[str, Any]) -> str:
    """Return the name of a listed model, with its tag."""
    return full_name(str(entry.get("model") or entry.get("name")))


def expires_at(entry: Mapping[str, Any]) -> datetime | None:
    """Return when a loaded model goes if no one asks it, aware; None if that cannot be read.

    Go writes up to nine digits behind the second, of which Python keeps six.
    """
    try:
        moment = datetime.fromisoformat(str(entry.get("expires_at")))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
