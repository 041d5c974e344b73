"""Tables that lose their less important columns, and never the others, on a narrow terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.box import HEAVY_HEAD, SIMPLE, Box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

# A column whose words may stand below each other is not made narrower for the sake of others.
_LEAST = 12
_ENDLESS = 10_000

Row = Sequence[str | Text]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes:
        heading: What stands above it.
        goes: The column with the highest number goes first where there is no room; 0 stays.
        right: Whether its cells stand at the right, as numbers do.
        folds: Whether its words may stand below each other.
    """

    heading: str
    goes: int = 0
    right: bool = False
    folds: bool = False


def table_for(
    console: Console,
    columns: Sequence[Column],
    groups: Sequence[Sequence[Row]],
    *,
    box: Box = HEAVY_HEAD,
    title: str | None = None,
) -> Table:
    """Return a table that is no wider than a console, and says which columns it has left out.

    Args:
        console: Where it is to be printed.
        columns: All its columns.
        groups: Rows with a cell for each column; a line is drawn between two groups.
        box: Its lines; where they take too much room, there are none between columns.
        title: What stands above it.
    """
    rows = [row for group in groups for row in group]
    widths = [_widths(it, [row[index] for row in rows]) for index, it in enumerate(columns)]
    # On the console as it is nothing is ever measured as wider than that.
    endless = console.options.update(width=_ENDLESS)
    kept = list(range(len(columns)))
    while True:
        frame = _frame(box, title, [columns[it] for it in kept], [widths[it].least for it in kept])
        room = console.width - console.measure(frame, options=endless).maximum
        last = max(kept, key=lambda it: columns[it].goes)
        if room >= 0 or (box is SIMPLE and columns[last].goes == 0):
            break
        if box is SIMPLE:
            kept.remove(last)
        box = SIMPLE
    shown = _shared_out(room, [widths[it] for it in kept]) if room >= 0 else None
    table = _frame(box, title, [columns[it] for it in kept], shown)
    for group in groups:
        for row in group:
            table.add_row(*(row[index] for index in kept))
        table.add_section()
    if left_out := [it.heading for index, it in enumerate(columns) if index not in kept]:
        table.caption = f"Too narrow here for: {', '.join(filter(None, left_out))}"
        table.caption_justify = "left"
    return table


class _Widths(NamedTuple):
    """How wide a column has to be at least, and how wide it would be of itself."""

    least: int
    natural: int


def _widths(column: Column, cells: Sequence[str | Text]) -> _Widths:
    natural = _width([column.heading, *cells])
    if column.folds:
        return _Widths(min(natural, _LEAST), natural)
    return _Widths(_width([*column.heading.split(), *cells]), natural)


def _shared_out(room: int, widths: Sequence[_Widths]) -> list[int]:
    """Return the widths of columns, the first of which get the room that is left."""
    shown = []
    for least, natural in widths:
        more = min(room, natural - least)
        shown.append(least + more)
        room -= more
    return shown


def _frame(
    box: Box, title: str | None, columns: Sequence[Column], widths: Sequence[int] | None
) -> Table:
    """Return a table without rows; without widths every column folds as it has to."""
    plain = box is SIMPLE
    table = Table(box=box, title=title, title_justify="left", pad_edge=not plain)
    table.collapse_padding = plain
    for index, column in enumerate(columns):
        table.add_column(
            column.heading,
            justify="right" if column.right else "left",
            overflow="fold",
            width=None if widths is None else widths[index],
        )
    return table


def _width(cells: Sequence[str | Text]) -> int:
    """Return the width of the widest cell, on a screen."""
    return max((cell_len(it if isinstance(it, str) else it.plain) for it in cells), default=0)
