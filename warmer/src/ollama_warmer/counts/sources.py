"""What every way to a log has in common: how it is followed, and how bytes become lines."""

from collections.abc import Callable
from typing import Protocol

Sink = Callable[[str], None]

_LONGEST_LINE = 1 << 14


class Source(Protocol):
    """Where lines come from, one after the other, to whoever listens."""

    trouble: str | None
    """Why nothing can be read, with what to do; none while it can."""

    at_once: bool
    """Whether `look` shows all that a server has written until then."""

    @property
    def last_line_at(self) -> float:
        """When the newest line came, on the event loop's clock."""

    async def begin(self, sink: Sink) -> None:
        """Hand every line that is written from now on to this sink, to no other.

        Lines from before go to the sink before, if there was one.
        """

    def look(self) -> None:
        """Hand on now what has been written, where that can be asked for."""

    async def end(self) -> None:
        """Stop following."""


class Lines:
    """Cuts bytes into lines; the rest of a line that is too long is left out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete now."""
        # A file that was emptied under a writer that does not append begins with a hole of zeros.
        *lines, rest = (self._rest + data.replace(b"\0", b"")).split(b"\n")
        self._rest = rest[:_LONGEST_LINE]
        return [line[:_LONGEST_LINE].decode(errors="replace") for line in lines]
