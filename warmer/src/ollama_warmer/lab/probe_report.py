"""Prints a run of the probe: its seven tables, and the verdict."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ollama_warmer.lab.probe_words import UNKNOWN, count, duration, durations, span

_HEADINGS = {
    "reRead": "re-read",
    "laterReRead": "later re-read",
    "prefillMs": "prefill",
    "coldPrefillMs": "cold prefill",
    "totalMs": "in all",
    "repeatTotalMs": "exact repeat",
    "waitMs": "waited",
    "each": "each call",
}
_MILLISECONDS = "Ms"


def print_run(run: Mapping[str, Any], console: Console) -> None:
    """Print the tables that have something in them, then the verdict.

    Args:
        run: The run's JSON object with its conclusions.
        console: Where to.
    """
    for name, table in (run["tables"] or {}).items():
        if table["rows"]:
            console.print(_table(name, table))
    for sentence in run["verdict"]:
        console.print(Text(sentence))


def _table(name: str, table: Mapping[str, Any]) -> Table:
    keys = list(table["rows"][0])
    shown = Table(title=f"{name} {table['title']}", title_justify="left")
    for number, key in enumerate(keys):
        shown.add_column(_HEADINGS.get(key, key), justify="right" if number else "left")
    for row in table["rows"]:
        shown.add_row(*(Text(_cell(key, row[key])) for key in keys))
    return shown


def _cell(key: str, value: object) -> str:
    """Return a value in words; which ones, its key says."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if key == "each":
            return ", ".join(map(count, value))
        return durations(value) if key.endswith(_MILLISECONDS) else span(value)
    if isinstance(value, int):
        return duration(value) if key.endswith(_MILLISECONDS) else count(value)
    # A build that keeps no batch has none, and a wait that did not happen was not measured.
    return "-" if key in {"batch", "waitMs"} else UNKNOWN
