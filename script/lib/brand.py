"""Draws the icon: a kettle that is kept warm, in a speech bubble.

The three embers under the kettle are also the three dots of somebody who is about to answer.
The picture shows well on light and on dark pages, so there is one for both.
"""

from pathlib import Path
import sys
from typing import Final

from PIL import Image, ImageDraw

type Colour = tuple[int, int, int]
type Point = tuple[float, float]

ICONS: Final = {"icon.png": 256, "icon@2x.png": 512}
# Everything is drawn so many times larger, then scaled down: that makes smooth edges.
_LARGER: Final = 4
# A side has so many of the units that lengths are in below.
_UNITS: Final = 512
_TOP: Final[Colour] = (255, 150, 40)
_BOTTOM: Final[Colour] = (208, 48, 44)
_KETTLE: Final[Colour] = (255, 248, 236)
_EMBERS: Final[Colour] = (255, 220, 112)
_POINTS_OF_A_CURVE: Final = 64


def icon(size: int) -> Image.Image:
    """Return the icon with so many pixels to the side."""
    canvas = _Canvas(size * _LARGER)
    colours = canvas.gradient(_TOP, _BOTTOM)
    colours.paste(_KETTLE, mask=canvas.kettle())
    colours.paste(_EMBERS, mask=canvas.embers())
    # Colours and shape are scaled down apart: at the edge a colour must not mix with nothing.
    shape = canvas.bubble().reduce(_LARGER)
    picture = Image.new("RGBA", (size, size))
    picture.paste(colours.reduce(_LARGER), mask=shape.point(lambda alpha: 255 * (alpha > 0)))
    picture.putalpha(shape)
    return picture


class _Canvas:
    """Draws shapes, white on black."""

    def __init__(self, side: int) -> None:
        """Take the length of a side in pixels."""
        self._size = (side, side)
        self._scale = side / _UNITS

    def gradient(self, top: Colour, bottom: Colour) -> Image.Image:
        """Return a square whose colour changes from top to bottom."""
        ramp = Image.linear_gradient("L").resize(self._size, Image.Resampling.BILINEAR)
        return Image.composite(
            Image.new("RGB", self._size, bottom), Image.new("RGB", self._size, top), ramp
        )

    def bubble(self) -> Image.Image:
        """Return the speech bubble, which touches all four edges."""
        shape, draw = self._new()
        draw.rounded_rectangle(self._box((0, 0), (512, 432)), 132 * self._scale, fill=255)
        tail = _path(
            (92, 400), [(92, 462), (84, 490), (58, 512)], [(142, 506), (208, 476), (238, 425)]
        )
        draw.polygon(self._scaled(tail), fill=255)
        return shape

    def kettle(self) -> Image.Image:
        """Return the kettle: handle, knob, spout and body."""
        shape, draw = self._new()
        handle = self._box((170, 44), (342, 310))
        draw.arc(handle, 180, 360, fill=255, width=round(26 * self._scale))
        draw.ellipse(self._box((234, 124), (278, 168)), fill=255)
        spout = _path(
            (150, 290),
            [(104, 276), (134, 204), (82, 194)],
            [(104, 158)],
            [(156, 166), (164, 196), (190, 200)],
        )
        body = _path(
            (216, 152),
            [(296, 152)],
            [(362, 152), (398, 220), (398, 284)],
            [(398, 300), (388, 308), (374, 308)],
            [(138, 308)],
            [(124, 308), (114, 300), (114, 284)],
            [(114, 220), (150, 152), (216, 152)],
        )
        for outline in (spout, body):
            draw.polygon(self._scaled(outline), fill=255)
        return shape

    def embers(self) -> Image.Image:
        """Return the three embers."""
        shape, draw = self._new()
        for x in (168, 256, 344):
            draw.ellipse(self._box((x - 26, 336), (x + 26, 388)), fill=255)
        return shape

    def _new(self) -> tuple[Image.Image, ImageDraw.ImageDraw]:
        shape = Image.new("L", self._size)
        return shape, ImageDraw.Draw(shape)

    def _box(self, start: Point, end: Point) -> tuple[float, float, float, float]:
        """Return the corners of a box; Pillow counts the last pixel in."""
        (left, top), (right, bottom) = self._scaled([start, end])
        return (left, top, right - 1, bottom - 1)

    def _scaled(self, points: list[Point]) -> list[Point]:
        return [(x * self._scale, y * self._scale) for x, y in points]


def _path(start: Point, *parts: list[Point]) -> list[Point]:
    """Return an outline of straight lines, one point each, and cubic curves, three points each."""
    outline = [start]
    for part in parts:
        if len(part) == 1:
            outline += part
            continue
        (x0, y0), ((x1, y1), (x2, y2), (x3, y3)) = outline[-1], part
        for step in range(1, _POINTS_OF_A_CURVE + 1):
            t = step / _POINTS_OF_A_CURVE
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            outline.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return outline


def main() -> None:
    """Write the icons into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in ICONS.items():
        icon(size).save(folder / name, optimize=True)


if __name__ == "__main__":
    main()
