"""Figure: a strip of cells for each phase, filled as far as a call had to read its prompt again."""

from collections.abc import Sequence
from dataclasses import dataclass

from ollama_warmer.pages.bars import READ_HATCH, UNKNOWN_HATCH, Bar
from ollama_warmer.pages.drawing import Figure, Sheet
from ollama_warmer.pages.labels import WIDTH
from ollama_warmer.pages.markup import Markup
from ollama_warmer.pages.paint import Paint
from ollama_warmer.pages.values import span

_CELL, _GAP, _ROW, _BASE, _CELL_TOP = 25, 7, 58, 12, 20


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One phase: its name and its calls."""

    label: str
    calls: Sequence[Bar]


def strips(figure: Figure, rows: Sequence[Strip]) -> Markup:
    """Draw the strips, from the top."""
    height = max(1, len(rows)) * _ROW
    sheet = Sheet(height, (0, WIDTH))
    for number, row in enumerate(rows):
        top = number * _ROW
        counted = [call.re_read for call in row.calls if not call.aborted]
        sheet.headline(top + _BASE, row.label, span(counted), Paint.SOFT)
        for place, call in enumerate(row.calls):
            _cell(sheet, call, 1 + place * (_CELL + _GAP), top + _CELL_TOP)
    return sheet.finish(figure)


def _cell(sheet: Sheet, call: Bar, left: float, top: float) -> None:
    whole = (left, top, _CELL, _CELL)
    read, prompt = call.re_read, call.prompt
    if read is None or not prompt:
        hatch = None if call.aborted else UNKNOWN_HATCH
        sheet.box(whole, Paint.PAPER, hatch=hatch, outline=Paint.UNKNOWN)
        sign = "×" if call.aborted else "?"  # noqa: RUF001 - the sign for what was given up
        sheet.write(left + _CELL / 2, top + 17, sign, size=14, anchor="center", by_number=True)
        return
    full = max(2, _CELL * read / prompt)
    sheet.box(whole, Paint.CACHED)
    sheet.box((left, top + _CELL - full, _CELL, full), Paint.READ, hatch=READ_HATCH)
