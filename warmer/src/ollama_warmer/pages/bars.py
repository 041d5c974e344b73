"""Figure: what each call found in the cache and what it read again, one bar for a call."""

from collections.abc import Sequence
from dataclasses import dataclass

from ollama_warmer.pages.drawing import Figure, Sheet
from ollama_warmer.pages.labels import SMALL
from ollama_warmer.pages.markup import Markup
from ollama_warmer.pages.paint import Paint
from ollama_warmer.pages.values import re_read, tokens

_HEADING, _ROW, _BASE, _BAR_TOP, _BAR = 20, 38, 12, 18, 11
_FOOT = 24
_LEAST = 2
READ_HATCH, UNKNOWN_HATCH = "//", r"\\"


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One call.

    Attributes:
        label: What the call was.
        prompt: Tokens of the prompt; none if unknown.
        cached: Those of them that were cached; none if unknown.
        note: What stands behind the counts, for example the time; may be empty.
        aborted: Whether it was given up on purpose, so that no one counted.
    """

    label: str
    prompt: int | None
    cached: int | None
    note: str = ""
    aborted: bool = False

    @property
    def re_read(self) -> int | None:
        """Tokens that were read again; none if unknown."""
        return re_read(self.prompt, self.cached)

    @property
    def words(self) -> str:
        """The counts, as they stand beside the bar."""
        if self.aborted:
            return "aborted on purpose"
        counts = f"{tokens(self.re_read)} / {tokens(self.prompt)}"
        if self.prompt is None and self.re_read is None:
            counts = "unknown"
        return f"{counts} · {self.note}" if self.note else counts


def bars(figure: Figure, rows: Sequence[Bar], limit: int, heading: str) -> Markup:
    """Draw the bars; those of several figures can be compared if they have the same limit.

    Args:
        figure: What it is called.
        rows: The calls, from the top.
        limit: Tokens at the right edge.
        heading: What the words on the right are.
    """
    height = len(rows) * _ROW
    margins = (1, _HEADING, 1, _FOOT)
    sheet = Sheet(height + _HEADING + _FOOT, (0, max(limit, 1)), margins=margins)
    sheet.scale(steps(limit), height)
    sheet.write(1, -8, heading, Paint.SOFT, size=SMALL, anchor="right")
    for number, row in enumerate(rows):
        _bar(sheet, row, number * _ROW, max(limit, 1))
    return sheet.finish(figure)


def _bar(sheet: Sheet, row: Bar, top: float, limit: int) -> None:
    sheet.headline(top + _BASE, row.label, row.words)
    read, start = row.re_read, top + _BAR_TOP
    sheet.box((0, start, limit, _BAR), Paint.TRACK)
    if read is None:
        wide = limit if row.prompt is None else min(row.prompt, limit)
        hatch = None if row.aborted else UNKNOWN_HATCH
        sheet.box((0, start, wide, _BAR), Paint.PAPER, hatch=hatch, outline=Paint.UNKNOWN)
        return
    cached = row.cached or 0
    if cached:
        sheet.box((0, start, cached, _BAR), Paint.CACHED)
    # Four of three thousand tokens would be thinner than a line, and still are not nothing.
    least = _LEAST * limit / sheet.width
    sheet.box((cached, start, max(read, least), _BAR), Paint.READ, hatch=READ_HATCH)


def steps(limit: float) -> list[tuple[float, str]]:
    """Return two to five round numbers from 0 up to a limit, with their names."""
    if limit <= 0:
        return [(0, "0")]
    size = 1
    while True:
        for factor in (1, 2, 5):
            step = size * factor
            if limit / step < 5:  # noqa: PLR2004 - more names would touch each other
                return [(at, f"{at:,}") for at in range(0, int(limit) + 1, step)]
        size *= 10
