"""The table of facts about Ollama that tests of both programs read."""

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

_TABLE = Path(__file__).with_name("ollama_facts.json")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A server of this version, what it says of a model, and what follows.

    `counts` is None where an update would be no advice; `runner` is None where it is unknown.
    """

    name: str
    version: str
    shown: dict[str, Any]
    memory: str
    path: str
    runner: str | None
    counts: bool | None
    renders: bool


ROWS = [Row(**row) for row in json.loads(_TABLE.read_text())]
IDS = [row.name for row in ROWS]


def examples(architecture: str) -> list[Row]:
    """Return the rows of an architecture whose name begins so, nothing else being known of it."""
    found = []
    for row in ROWS:
        info = row.shown.get("model_info")
        if isinstance(info, dict) and list(info) == ["general.architecture"]:
            found += [row] * info["general.architecture"].startswith(architecture)
    return found
