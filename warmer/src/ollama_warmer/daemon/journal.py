"""Writes log lines to standard error, as the journal wants them."""

from collections.abc import Mapping
import logging
import os
from pathlib import PurePath
import stat
import sys
import traceback
from typing import TextIO

# Levels of syslog(3), by which the journal colours and filters.
_PRIORITIES = ((logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))
_DEBUG = 7


class _Lines(logging.Formatter):
    """One record is one line or more, each with what whoever reads them lacks.

    systemd keeps times and wants priorities; on a terminal and in a file there is neither clock. A
    program at the other end of a pipe, such as a container's, keeps times of its own.
    """

    def __init__(self, *, prefixed: bool, timed: bool) -> None:
        super().__init__("%(message)s", "%Y-%m-%d %H:%M:%S")
        self._prefixed = prefixed
        self._timed = timed

    # Python 3.11 has no @override.
    def format(self, record: logging.LogRecord) -> str:  # type: ignore[explicit-override]
        """Return the lines, without a newline at the end."""
        lines = [line for line in record.getMessage().splitlines() if line.strip()] or [""]
        if record.exc_info is not None and record.exc_info[1] is not None:
            lines.append(where(record.exc_info[1]))
        if self._prefixed:
            priority = next((it for least, it in _PRIORITIES if record.levelno >= least), _DEBUG)
            lines = [f"<{priority}>{line}" for line in lines]
        elif self._timed:
            at = self.formatTime(record, self.datefmt)
            lines = [f"{at} {line}" for line in lines]
        return "\n".join(lines)


def set_up(stream: TextIO, environ: Mapping[str, str]) -> None:
    """Send the log of this program, and warnings of its libraries, to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Lines(prefixed=_is_journal(stream, environ), timed=_has_no_clock(stream)))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("ollama_warmer").setLevel(logging.INFO)


def where(err: BaseException) -> str:
    """Return the kind of an exception and the lines of code that it came through.

    Not its text: it may quote what a person said.
    """
    frames = traceback.extract_tb(err.__traceback__)
    places = (f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(err).__name__} at {' > '.join(places)}"


def _is_journal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Say whether systemd reads the stream (systemd.exec(5), $JOURNAL_STREAM)."""
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def _has_no_clock(stream: TextIO) -> bool:
    """Say whether the stream is a terminal or a file."""
    try:
        return stream.isatty() or stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def flush() -> None:
    """Write what has not been written yet."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
