"""Shows how far a run of the probe is, and how long the rest of it will take."""

from collections.abc import Iterable, Sequence
from statistics import fmean
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, RenderableColumn, TextColumn
from rich.text import Text

from ollama_warmer.lab.probe.plan import Call, Kind
from ollama_warmer.lab.probe.record import Taken

_MINUTE = 60
# A kind of which none was seen yet is taken for one that costs about the same.
_LIKE = {
    Kind.OTHER: Kind.COLD,
    Kind.RETRY: Kind.COLD,
    Kind.BACK: Kind.LATER_NEW,
    Kind.ALTERNATING: Kind.LATER_NEW,
    Kind.BRANCH: Kind.LATER_NEW,
}


class Forecast:
    """How long calls will take, by those that were made."""

    def __init__(self) -> None:
        self._seconds: dict[Kind, list[float]] = {}

    def learn(self, call: Call, seconds: float) -> None:
        """Take how long a call took."""
        self._seconds.setdefault(call.kind, []).append(seconds)

    def of(self, calls: Iterable[Call]) -> float | None:
        """Return the seconds that calls will take; None before the first one was made.

        A kind without any example costs what the dearest one does, so that the time left rather
        shrinks than grows.
        """
        means = {kind: fmean(seconds) for kind, seconds in self._seconds.items()}
        if not means:
            return None
        dearest = max(means.values())
        return sum(
            means.get(call.kind, means.get(_LIKE.get(call.kind, call.kind), dearest))
            for call in calls
        )


def spoken(seconds: float) -> str:
    """Return a time that is left, in words."""
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest:02} s left" if minutes else f"{rest} s left"


class _Left:
    """The time left, which runs down while a call is on its way."""

    def __init__(self) -> None:
        self.until: float | None = None

    def __rich__(self) -> Text:
        if self.until is None:
            return Text("")
        return Text(spoken(max(0.0, self.until - time.monotonic())))


class Bar:
    """A bar with the time left, and a line for each call above it."""

    def __init__(self, console: Console) -> None:
        """Show it on a console; on one that is no terminal there are only the lines."""
        self._console = console
        self._time = _Left()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            RenderableColumn(self._time),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("loading the model", total=None)
        self._forecast = Forecast()
        self._left: list[Call] = []

    def __enter__(self) -> Self:
        """Begin to show."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave nothing but the lines."""
        self._progress.stop()

    def starting(self, calls: Sequence[Call]) -> None:
        """Take all calls that are still to come."""
        self._left = list(calls)
        self._progress.update(self._task, total=len(calls), completed=0)
        self._time.until = None

    def asking(self, call: Call) -> None:
        """Show the call that is on its way."""
        self._progress.update(self._task, description=f"{call.phase}: {call.role}")

    def answered(self, taken: Taken, seconds: float) -> None:
        """Show what a call brought."""
        self._console.print(Text(f"  {taken.trouble_or_line}"), soft_wrap=True)
        self._forecast.learn(taken.call, seconds)
        self._left = self._left[1:]
        left = self._forecast.of(self._left)
        self._time.until = None if left is None else time.monotonic() + left
        self._progress.update(self._task, advance=1)

    def note(self, words: str) -> None:
        """Show a sentence."""
        self._console.print(Text(words), soft_wrap=True)
