"""How much room words take in a figure, before anyone knows the font that they will have."""

import unicodedata

from ollama_warmer.pages.markup import words

WIDTH = 336
"""Of every figure, in pixels: a phone's screen without the page's margins."""
SIZE = 13
"""Of letters, in pixels."""
SMALL = 11.5
# The widest of the common fonts for screens has letters this wide on average, in parts of its size.
_LETTER = 0.6


def letters(label: str) -> int:
    """Return how many letters' room a label takes; letters of the Far East take two."""
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in label)


def room_beside(label: str) -> float:
    """Return how many pixels are left in a figure beside a label, with a gap between both."""
    return WIDTH - (letters(label) + 2) * SIZE * _LETTER


def fitting(label: str, width: float, size: float = SIZE) -> str:
    """Return a label that fits into so many pixels, cut with an ellipsis if it has to be."""
    label = words(label)
    room = int(width / (size * _LETTER))
    if letters(label) <= room:
        return label
    kept = ""
    for mark in label:
        if letters(kept + mark) >= room:
            break
        kept += mark
    return f"{kept.rstrip()}…"
