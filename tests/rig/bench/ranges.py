"""Figure: two agents against each other in each scenario; each step is ten times as many tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from ollama_warmer.pages.drawing import Figure, Sheet
from ollama_warmer.pages.markup import Markup
from ollama_warmer.pages.paint import Paint
from ollama_warmer.pages.values import span

_ROW, _BASE, _TRACK, _TOP, _FOOT, _SIDE = 38, 12, 24, 4, 24, 20


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One scenario.

    Attributes:
        label: Its name.
        core: Tokens re-read of each question to Home Assistant's own agent; empty if not measured.
        ours: The same for ours.
    """

    label: str
    core: Sequence[int]
    ours: Sequence[int]

    @property
    def words(self) -> str:
        """The counts, as they stand above the line: the worst of each."""
        worst = [f"{max(numbers):,}" for numbers in (self.core, self.ours) if numbers]
        return " → ".join(worst) or "not measured"


def ranges(figure: Figure, rows: Sequence[Pair], powers: int) -> Markup:
    """Draw the scenarios from the top; `powers` is the power of ten at the right edge."""
    height = len(rows) * _ROW
    sheet = Sheet(
        _TOP + height + _FOOT,
        (1, 10**powers),
        log=True,
        margins=(_SIDE, _TOP, _SIDE, _FOOT),
    )
    for number, row in enumerate(rows):
        _pair(sheet, row, number * _ROW, powers)
    names = [(10**power, f"{10**power:,}") for power in range(powers + 1)]
    sheet.scale(names, height)
    return sheet.finish(figure)


def _pair(sheet: Sheet, row: Pair, top: float, powers: int) -> None:
    sheet.headline(top + _BASE, row.label, row.words)
    track, edge = top + _TRACK, 10**powers
    sheet.line((1, edge), (track, track), Paint.LINE)
    if row.core and row.ours:
        worst = (max(1, *row.core), max(1, *row.ours))
        sheet.line(worst, (track, track), Paint.SOFT, dashed=True)
    # The square is larger than the circle, so that both are seen where they meet.
    for numbers, shape, paint, size in (
        (row.core, "s", Paint.READ, 10),
        (row.ours, "o", Paint.CACHED, 7),
    ):
        if numbers:
            low, high = max(1, min(numbers)), max(1, *numbers)
            sheet.line((low, high), (track, track), paint, width=3)
            sheet.mark((high, track), shape, paint, size=size, full=shape == "o")


def described(row: Pair) -> str:
    """Return a row in words."""
    core, ours = (span(numbers) if numbers else "not measured" for numbers in (row.core, row.ours))
    return f"{row.label}: core {core}, ours {ours}"
