"""Prints a run of the probe: its seven tables, and the verdict."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ollama_warmer.lab.probe.words import UNKNOWN, count, duration, durations, span
from ollama_warmer.tables import Column, table_for

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
_RE_READ = {"reRead", "laterReRead"}
_MILLISECONDS = "Ms"


def print_run(run: Mapping[str, Any], console: Console) -> None:
    """Print the tables that have something in them, then the verdict.

    Args:
        run: The run's JSON object with its conclusions.
        console: Where to.
    """
    for name, table in (run["tables"] or {}).items():
        if table["rows"]:
            console.print(_table(name, table, console))
    for sentence in run["verdict"]:
        console.print(Text(sentence))


def _table(name: str, table: Mapping[str, Any], console: Console) -> Table:
    rows = table["rows"]
    columns = [_column(number, key, rows[0][key]) for number, key in enumerate(rows[0])]
    cells = [[Text(_cell(key, value)) for key, value in row.items()] for row in rows]
    return table_for(console, columns, [cells], title=f"{name} {table['title']}")


def _column(number: int, key: str, value: object) -> Column:
    """Return a column: what a row is about and what was re-read go last."""
    stays = number == 0 or key == "group"
    return Column(
        heading=_HEADINGS.get(key, key),
        goes=0 if stays else 1 if key in _RE_READ else 1 + number,
        right=number > 0,
        folds=isinstance(value, (str, list)),
    )


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
