"""Shows on a terminal what a round is waiting for."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from ollama_warmer.config.config import Target
from ollama_warmer.round.asking import Observer, Step
from ollama_warmer.screen import spinner


class Progress(Observer):
    """One line that is there while a question is under way, and gone with its answer.

    It says which target and which question it is, for how many seconds, and, where a log says
    it, how much of the prompt has been read.
    """

    def __init__(self, console: Console) -> None:
        """Take the terminal; nothing is shown before the first question."""
        self._console = console
        self._what = ""
        self._since = 0.0
        self._share: float | None = None
        # It is drawn again several times a second, and with that the seconds.
        self._status = Status(self, console=console, spinner=spinner(console.encoding))

    def __rich__(self) -> Text:
        """Return the line as it is now."""
        seconds = self._console.get_time() - self._since
        words = f"{self._what}, {seconds:.0f} s"
        if self._share is not None:
            words += f", {self._share:.0%} of the prompt read"
        return Text(words)

    def __enter__(self) -> Self:
        """Begin with nothing."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the line away."""
        self._status.stop()

    # Python 3.11 has no @override.
    def asking(self, target: Target, step: str) -> None:  # type: ignore[explicit-override]
        """Show the line."""
        self._what, self._share = f"{target.name}: {step}", None
        self._since = self._console.get_time()
        self._status.start()

    def reading(  # type: ignore[explicit-override]
        self,
        target: Target,  # noqa: ARG002 - there is only one at a time
        share: float,
    ) -> None:
        """Show how much has been read."""
        self._share = share

    def answered(  # type: ignore[explicit-override]
        self,
        target: Target,  # noqa: ARG002 - as above
        step: Step,  # noqa: ARG002 - the table shows it
    ) -> None:
        """Take the line away."""
        self._status.stop()
