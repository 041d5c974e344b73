"""A sheet to draw a figure on: matplotlib's scales and shapes, the page's words and colours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import io
import itertools
from typing import TYPE_CHECKING, Literal

from ollama_warmer.errors import WarmerError
from ollama_warmer.pages.labels import SIZE, SMALL, WIDTH, fitting, room_beside
from ollama_warmer.pages.markup import Markup
from ollama_warmer.pages.output import MISSING
from ollama_warmer.pages.paint import Paint
from ollama_warmer.pages.svg import inline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 72
_HALF_A_NUMBER = 8
_STYLE: dict[str, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ollama-warmer",
    "hatch.linewidth": 1.3,
    "path.simplify": False,
}
# The library writes the day of drawing into a figure, unless asked not to.
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
Anchor = Literal["left", "center", "right"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What a figure is called.

    Attributes:
        name: A name for ids, from the program and never from data; once in a page.
        title: What it shows, in a few words.
        description: The same in a sentence, with the figures that matter.
    """

    name: str
    title: str
    description: str


class Sheet:
    """Rows from top to bottom, a pixel each; numbers from left to right.

    A figure is as wide as a phone's screen, and several stand side by side on a larger one: so its
    letters have the same size everywhere.
    """

    def __init__(
        self,
        height: int,
        across: tuple[float, float],
        *,
        log: bool = False,
        margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Take a new sheet.

        Args:
            height: Of the whole sheet, in pixels.
            across: The numbers at the left and right edge of the drawing.
            log: Whether each step across is a multiple of the one before it.
            margins: Pixels on the left, top, right and bottom that are not for shapes.
        """
        left, top, right, bottom = margins
        self._labels: dict[str, str] = {}
        self._stand_ins = (f"label {number}" for number in itertools.count())
        self.inner = height - top - bottom
        self.width = WIDTH - left - right
        self._left, self._right = left, right
        self._height, self._bottom = height, bottom
        self._across, self._log = across, log
        # Drawn at the end and all at once, under the settings that hold for this figure alone.
        self._strokes: list[Callable[[Axes], object]] = []

    def box(
        self,
        area: tuple[float, float, float, float],
        paint: Paint,
        *,
        hatch: str | None = None,
        outline: Paint | None = None,
    ) -> None:
        """Draw a rectangle, with a broken line around it if there is an outline.

        Args:
            area: Left edge and top, width and height; across in numbers, down in pixels.
            paint: What it is filled with.
            hatch: One of the library's patterns on it, for example `//`.
            outline: The colour of the line around it, and of the pattern.
        """
        left, top, width, height = area
        self._strokes.append(
            lambda axes: axes.bar(
                left,
                height,
                width,
                top,
                align="edge",
                color=paint.value,
                edgecolor=(outline or Paint.PAPER).value,
                linewidth=1 if outline else 0,
                linestyle=(0, (3, 2)),
                hatch=hatch,
                clip_on=False,
            )
        )

    def line(
        self,
        across: Sequence[float],
        down: Sequence[float],
        paint: Paint = Paint.LINE,
        *,
        width: float = 1,
        dashed: bool = False,
    ) -> None:
        """Draw a line through points."""
        self._strokes.append(
            lambda axes: axes.plot(
                across,
                down,
                color=paint.value,
                linewidth=width,
                linestyle=(0, (3, 3)) if dashed else "solid",
                clip_on=False,
                solid_capstyle="butt",
            )
        )

    def mark(
        self, at: tuple[float, float], shape: str, paint: Paint, *, size: float, full: bool
    ) -> None:
        """Draw one of the library's marks, for example `o`; full, or only its outline."""
        across, down = at
        self._strokes.append(
            lambda axes: axes.plot(
                [across],
                [down],
                marker=shape,
                markersize=size,
                markerfacecolor=paint.value if full else Paint.PAPER.value,
                markeredgecolor=paint.value,
                markeredgewidth=1.4,
                linestyle="none",
                clip_on=False,
            )
        )

    def write(  # noqa: PLR0913 - where, what and how
        self,
        across: float,
        down: float,
        label: str,
        paint: Paint = Paint.INK,
        *,
        size: float = SIZE,
        anchor: Anchor = "left",
        by_number: bool = False,
    ) -> None:
        """Write words on a base line; `across` goes from 0 to 1 unless it is one of the numbers.

        The library gets a stand-in in their place: it would take signs in them for formulas, and
        miss letters in its own font that the browser's has.
        """
        stand_in = next(self._stand_ins)
        self._labels[stand_in] = label
        self._strokes.append(
            lambda axes: axes.text(
                across,
                down,
                stand_in,
                color=paint.value,
                fontsize=size,
                horizontalalignment=anchor,
                verticalalignment="baseline",
                transform=axes.transData if by_number else axes.get_yaxis_transform(),
            )
        )

    def headline(self, down: float, label: str, words: str, paint: Paint = Paint.INK) -> None:
        """Write a label at the sheet's left edge and words at its right; the label gives way."""
        shown = fitting(label, room_beside(words))
        self.write(-self._left / self.width, down, shown)
        self.write(1 + self._right / self.width, down, words, paint, anchor="right")

    def scale(self, values: Sequence[tuple[float, str]], down: float) -> None:
        """Write numbers along the bottom, with a small line above each."""
        for place, (value, label) in enumerate(values):
            self.line((value, value), (down, down + 4))
            # The first one would stick out of the sheet.
            first = place == 0 and self._left < _HALF_A_NUMBER
            anchor: Anchor = "left" if first else "center"
            self.write(
                value, down + 16, label, Paint.SOFT, size=SMALL, anchor=anchor, by_number=True
            )

    def finish(self, figure: Figure) -> Markup:
        """Return the figure for a page.

        Raises:
            WarmerError: matplotlib is not installed.
        """
        try:
            from matplotlib import style  # noqa: PLC0415 - slow, large and not needed otherwise
            from matplotlib.figure import Figure as Drawn  # noqa: PLC0415 - as above
        except ImportError as err:
            raise WarmerError(MISSING) from err
        drawn = io.StringIO()
        # The settings of whoever runs it must not change the figure.
        with style.context(["default", _STYLE]):
            paper = Drawn(figsize=(WIDTH / _POINTS, self._height / _POINTS), dpi=_POINTS)
            axes = paper.add_axes(self._place)
            axes.set_axis_off()
            for stroke in self._strokes:
                stroke(axes)
            axes.set_xscale("log" if self._log else "linear")
            axes.set_xlim(*self._across)
            axes.set_ylim(self.inner, 0)
            paper.savefig(drawn, format="svg", metadata=_NO_METADATA, transparent=True)
        return inline(drawn.getvalue(), figure.name, figure.title, figure.description, self._labels)

    @property
    def _place(self) -> tuple[float, float, float, float]:
        """The part of the sheet for shapes: left, bottom, width and height in parts of it."""
        return (
            self._left / WIDTH,
            self._bottom / self._height,
            self.width / WIDTH,
            self.inner / self._height,
        )
