"""The seven tables of a probe, and the figure of its length sweep."""

from collections.abc import Mapping
from typing import Any

from ollama_warmer.pages import document, values
from ollama_warmer.pages.bars import Bar, bars
from ollama_warmer.pages.drawing import Figure
from ollama_warmer.pages.markup import Markup, element

Json = Mapping[str, Any]
_NAMES = ("T1", "T2", "T3", "T4", "T5", "T6", "T7")
_HEADINGS = {
    "reRead": "re-read",
    "prefillMs": "prefill",
    "totalMs": "in all",
    "each": "each call",
    "abandoned": "given up",
    "repeatTotalMs": "exact repeat in all",
    "waitMs": "waited",
    "laterReRead": "later re-read",
    "coldPrefillMs": "cold prefill",
}
_MILLISECONDS = "Ms"
# What a run need not have: these are not unknown, there is none.
_MAY_BE_NONE = frozenset({"batch", "waitMs"})


def seven_tables(tables: Json) -> Markup | None:
    """Return the tables T1 to T7 of a run; none if it has none of them.

    Args:
        tables: `{"title", "rows": [objects]}` by name, as `probe --json` has them: a list of two is
            the least and the most, times are milliseconds, null is unknown.
    """
    shown = [
        table
        for name in _NAMES
        if (table := _table(name, values.mapping(tables.get(name)))) is not None
    ]
    if not shown:
        return None
    cards = (element("div", table.markup, class_="card") for table in shown)
    return document.section(
        "The seven tables",
        "The same run as the published measurements show theirs.",
        element("div", cards, class_="stack"),
    )


def _table(name: str, table: Json) -> document.Table | None:
    rows = values.objects(table.get("rows"))
    # In the order in which they first appear.
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if not keys:
        return None
    title = values.shown(table.get("title"), "")
    headings = {key: _HEADINGS.get(key, key) for key in keys}
    return document.Table(
        caption=f"{name}: {title}" if title else name,
        columns=document.columns(
            *headings.values(),
            numbers=[
                heading
                for key, heading in headings.items()
                if all(_is_number(row.get(key)) for row in rows)
            ],
        ),
        rows=[[_cell_of(key, row.get(key)) for key in keys] for row in rows],
    )


def _is_number(value: object) -> bool:
    listed = values.listed(value) or [value]
    return len(listed) <= len("ab") and all(
        one is None or (isinstance(one, int) and not isinstance(one, bool)) for one in listed
    )


def _cell_of(key: str, value: object) -> str:
    """Return a value in words; whether it is a time its key says."""
    if value is None:
        return "-" if key in _MAY_BE_NONE else values.UNKNOWN
    in_time, listed = key.endswith(_MILLISECONDS), values.listed(value)
    if listed and key != "each":
        counts = [values.count(one) for one in listed]
        return values.times(map(_seconds, counts)) if in_time else values.span(counts)
    if in_time and isinstance(value, int):
        # A retry that was quicker than the call before it has waited less than nothing.
        return values.milliseconds(value) if value >= 0 else f"{value} ms"
    return values.shown(value)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def length_sweep(tables: Json) -> Markup | None:
    """Return a figure with a bar for each length of the prompt; none without a sweep."""
    table = values.mapping(tables.get("T6"))
    rows = [row for row in values.objects(table.get("rows")) if row.get("fits") is not False]
    numbers = _table("T6", table)
    if not rows or numbers is None:
        return None
    drawn = [
        Bar(
            label=f"{values.shown(row.get('entries'))} entries",
            prompt=values.count(row.get("prompt")),
            cached=values.count(row.get("cached")),
            note="" if row.get("prefillMs") is None else _cell_of("prefillMs", row["prefillMs"]),
        )
        for row in rows
    ]
    described = "; ".join(f"{bar.label}: {bar.words}" for bar in drawn)
    figure = Figure(
        name="sweep",
        title="Longer and longer prompts",
        description=f"Re-read tokens of a new conversation, of prompt tokens. {described}.",
    )
    largest = max(bar.prompt or 0 for bar in drawn)
    about = (
        "A new conversation behind system prompts of several lengths, to a scale of its own: does "
        "the striped part grow?"
    )
    return document.figure(
        figure.title, about, bars(figure, drawn, largest, "re-read / prompt · prefill"), numbers
    )
