"""Figure: what the rounds of one target found and what they left, one round after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from ollama_warmer.pages.drawing import Figure, Sheet
from ollama_warmer.pages.labels import SMALL
from ollama_warmer.pages.markup import Markup
from ollama_warmer.pages.paint import Paint

SHOWN = 40
_PLOT, _TOP, _LEFT, _RIGHT = 132, 12, 44, 8
_BAND, _FOOT = 22, 20
_MARKS = {
    "warm": ("o", Paint.WARM),
    "partly warm": ("D", Paint.PARTLY),
    "cold": ("s", Paint.COLD),
}


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One round of a target.

    Attributes:
        verdict: The verdict.
        found: Tokens that the warm-up re-read; none if unknown.
        left: Tokens that the confirmation re-read; none if unknown.
    """

    verdict: str
    found: int | None
    left: int | None


def history(figure: Figure, points: Sequence[Mark], ends: tuple[str, str], powers: int) -> Markup:
    """Draw the newest rounds; each step up is ten times as many tokens.

    Args:
        figure: What it is called.
        points: The rounds, newest last; no more than `SHOWN` of them are drawn.
        ends: When the first and the last of them was.
        powers: The power of ten at the top, the same in figures to be compared.
    """
    shown = points[-SHOWN:]
    # A single round stands in the middle and not at the edge.
    edge = 0.5 if len(shown) > 1 else 1
    sheet = Sheet(
        _TOP + _PLOT + _BAND + _FOOT,
        (-edge, max(len(shown), 1) - 1 + edge),
        margins=(_LEFT, _TOP, _RIGHT, 0),
    )
    for power in range(powers + 1):
        at = _height(10**power, powers)
        sheet.line((-edge, len(shown) - 1 + edge), (at, at))
        label = f"{10**power:,}"
        sheet.write(-8 / sheet.width, at + 4, label, Paint.SOFT, size=SMALL, anchor="right")
    for number, point in enumerate(shown):
        _point(sheet, number, point, powers)
    down = _PLOT + _BAND + 12
    sheet.write(0, down, ends[0], Paint.SOFT, size=SMALL)
    if len(shown) > 1:
        sheet.write(1, down, ends[1], Paint.SOFT, size=SMALL, anchor="right")
    return sheet.finish(figure)


def _height(count: int, powers: int) -> float:
    """Return how far down a count stands; 1 and less are at the bottom."""
    return _PLOT * (1 - log10(max(count, 1)) / powers)


def _point(sheet: Sheet, number: int, point: Mark, powers: int) -> None:
    found, left = point.found, point.left
    if found is not None and left is not None:
        ends = (_height(found, powers), _height(left, powers))
        sheet.line((number, number), ends, Paint.SOFT)
    if found is not None:
        sheet.mark((number, _height(found, powers)), "o", Paint.SOFT, size=5, full=False)
    shape, paint = _MARKS.get(point.verdict, ("o", Paint.UNKNOWN))
    if left is not None:
        sheet.mark((number, _height(left, powers)), shape, paint, size=6, full=True)
    if left is None or point.verdict not in _MARKS:
        sign = "×" if point.verdict == "failed" else "?"  # noqa: RUF001 - the sign for a failure
        sheet.write(number, _PLOT + 17, sign, size=13, anchor="center", by_number=True)
