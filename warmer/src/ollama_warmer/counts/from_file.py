"""Follows a log that is a file, which may be renamed, created again or emptied at any moment."""

import asyncio
from contextlib import suppress
import os
from pathlib import Path
import stat
from typing import BinaryIO

from ollama_warmer.counts.sources import Lines, Sink

_POLL = 0.1
_CHUNK = 1 << 18
# So many bytes in front of the place of reading are looked at again: other ones mean that the file
# was emptied, however long it has become since.
_FINGERPRINT = 64


class FileSource:
    """A file that grows, and may be renamed, created again or emptied."""

    at_once = True

    def __init__(self, path: Path) -> None:
        """Say which file; it is opened when a question begins."""
        self.trouble: str | None = None
        self._path = path
        self._file: BinaryIO | None = None
        self._before = b""
        self._lines = Lines()
        self._sink: Sink | None = None
        self._task: asyncio.Task[None] | None = None
        self._last_line_at = 0.0

    @property
    def last_line_at(self) -> float:
        """When the newest line came."""
        return self._last_line_at

    async def begin(self, sink: Sink) -> None:
        """Follow the file from here; what it has gained since the last time goes to the old sink.

        The first time, what is in the file is left out.
        """
        if self._file is None:
            self._open(os.SEEK_END)
        self.look()
        self._sink = sink
        if self._task is None:
            self._task = asyncio.create_task(self._follow())

    async def end(self) -> None:
        """Close the file."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._file is not None:
            self._file.close()
        self._task = self._file = None

    async def _follow(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(_POLL)

    def look(self) -> None:
        """Read what is new, also from a file that has taken the place of the old one."""
        try:
            self._read()
            replaced = self._is_replaced()
        except OSError as err:
            self._cannot(err.strerror)
            return
        if self._file is not None:
            # Whatever could not be read before has been read now, from where it was.
            self.trouble = None
        if replaced:
            # The writer may have written to the old one until a moment ago.
            self._read()
            if self._file is not None:
                self._file.close()
            self._file, self._lines = None, Lines()
            self._open(os.SEEK_SET)
            self._read()

    def _is_replaced(self) -> bool:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            # Renamed, and the new one is not there yet.
            return False
        if self._file is None:
            return True
        opened = os.fstat(self._file.fileno())
        return (found.st_dev, found.st_ino) != (opened.st_dev, opened.st_ino)

    def _open(self, whence: int) -> None:
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):
                self._cannot("it is not a file")
                return
            self._file = self._path.open("rb", buffering=0)
            place = self._file.seek(0, whence)
            start = max(place - _FINGERPRINT, 0)
            self._before = os.pread(self._file.fileno(), place - start, start)
        except OSError as err:
            self._cannot(err.strerror)
            return
        self.trouble = None

    def _cannot(self, why: str | None) -> None:
        self.trouble = (
            f"it cannot be read: {why}. Correct `path` under [counts], or let the warmer's user "
            "read it"
        )

    def _read(self) -> None:
        if self._file is None:
            return
        if self._is_emptied(self._file):
            self._file.seek(0)
            self._before, self._lines = b"", Lines()
        while data := self._file.read(_CHUNK):
            self._before = (self._before + data)[-_FINGERPRINT:]
            for line in self._lines.feed(data):
                self._last_line_at = asyncio.get_running_loop().time()
                if self._sink is not None:
                    self._sink(line)

    def _is_emptied(self, file: BinaryIO) -> bool:
        place, length = file.tell(), len(self._before)
        return os.pread(file.fileno(), length, place - length) != self._before
