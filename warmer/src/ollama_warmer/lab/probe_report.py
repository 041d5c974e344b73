"""Prints a run of the probe: its seven tables, and the verdict."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ollama_warmer.lab.probe_words import UNKNOWN, count, duration, durations, span

Json = Mapping[str, Any]


def print_run(run: Json, console: Console) -> None:
    """Print the tables that have something in them, then the verdict.

    Args:
        run: The run's JSON object with its conclusions.
        console: Where to.
    """
    tables = run["tables"]
    if tables is not None:
        for table in (
            _new_conversations(tables["T1"]),
            _one_row(tables["T2"]),
            _first_divergence(tables["T3"]),
            _several(tables["T4"]),
            _retry(tables["T5"]),
            _sweep(tables["T6"]),
            _type(tables["T7"]),
        ):
            if table.row_count:
                console.print(table)
    for sentence in run["verdict"].split("\n"):
        console.print(Text(sentence))


def _table(title: str, headings: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _new_conversations(table: Json) -> Table:
    names = (("cold", "cold"), ("first new", "first"), ("later new", "later"))
    rows = [
        (
            name,
            str(table[key]["calls"]),
            span(table[key]["cached"]),
            span(table[key]["reRead"]),
            durations(table[key]["prefillMs"]),
        )
        for name, key in names
        if table[key]["calls"]
    ]
    headings = ("conversation", "calls", "cached", "re-read", "prefill")
    return _table("T1 New conversations", headings, rows)


def _one_row(table: Json) -> Table:
    rows = [
        ("exact repeat", *_counts(table["repeat"])),
        *(
            (f"turn {number}", UNKNOWN, UNKNOWN, count(re_read), UNKNOWN)
            for number, re_read in enumerate(table["turnsReRead"], start=2)
            if re_read is not None
        ),
        ("after another prompt", *_counts(table["afterUnrelated"])),
        ("retry", *_counts(table["retry"])),
    ]
    known = [["" if cell == UNKNOWN else cell for cell in row] for row in rows if any(row[1:])]
    return _table("T2 The build", ("call", "prompt", "cached", "re-read", "prefill"), known)


def _counts(row: Json | None) -> tuple[str, str, str, str]:
    """Return prompt, cached, re-read and prefill of a call; empty if it was not made."""
    if row is None:
        return ("", "", "", "")
    known = row["prompt"] is not None and row["cached"] is not None
    return (
        count(row["prompt"]),
        count(row["cached"]),
        count(row["prompt"] - row["cached"] if known else None),
        duration(row["prefillMs"]) if "prefillMs" in row else "",
    )


def _first_divergence(table: Json) -> Table:
    rows = [(row["label"], *_counts(row)) for arm in table.values() for row in arm]
    headings = ("call", "prompt", "cached", "re-read", "prefill")
    return _table("T3 First divergence", headings, rows)


def _several(table: Json) -> Table:
    rows = [
        (name, span(table[key]["reRead"]), ", ".join(map(count, table[key]["each"])))
        for name, key in (
            ("two conversations", "interleaved"),
            ("several branches", "secondBranch"),
        )
        if table[key]["each"]
    ]
    return _table("T4 Re-read by two users", ("pattern", "re-read", "each call"), rows)


def _retry(table: Json) -> Table:
    headings = ("exact repeat takes", "retry cached", "of", "prefill", "in all", "waited")
    row = (
        duration(table["repeatTotalMs"]),
        count(table["cached"]),
        count(table["prompt"]),
        duration(table["prefillMs"]),
        duration(table["totalMs"]),
        duration(table["waitMs"]),
    )
    return _table("T5 Retry", headings, [row] if table["abandoned"] is not None else [])


def _sweep(table: Sequence[Json]) -> Table:
    rows = [
        (
            str(row["glossaryEntries"]),
            count(row["prompt"]),
            count(row["cached"]),
            count(row["reRead"]),
            duration(row["newPrefillMs"]),
            duration(row["coldPrefillMs"]),
        )
        if row["fits"]
        else (str(row["glossaryEntries"]), *["too long"] * 5)
        for row in table
    ]
    headings = ("entries", "prompt", "cached", "re-read", "new conversation", "cold")
    return _table("T6 Length of the prompt", headings, rows)


def _type(table: Json) -> Table:
    row = (
        table["memory"] or UNKNOWN,
        table["runner"] or UNKNOWN,
        table["group"],
        "-" if table["batch"] is None else count(table["batch"]),
    )
    return _table("T7 Kind of build", ("memory", "runner", "group", "batch"), [row])
