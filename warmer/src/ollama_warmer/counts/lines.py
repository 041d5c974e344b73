"""Finds in a model server's log what one question cost.

Lines are recognised by their text and never by the function that wrote them, which changed from
release to release, and anywhere in a line, because a journal or a container puts words before it.
What each kind of server writes stands in `counts/formats`, one file for each.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
import re

from ollama_warmer.counts import loads
from ollama_warmer.counts.register import all_formats
from ollama_warmer.counts.requests import Requests
from ollama_warmer.counts.wrapping import Unwrapping

_LONGEST = 2000
# The words with which whoever keeps or shows a log says that lines are missing there.
# journald: "Suppressed 123 messages from ollama.service", "Forwarding to syslog missed 5 messages".
# rsyslog: "imjournal: 9 messages lost due to rate-limiting", "begin to drop messages due to
# rate-limiting". The kernel: "printk: 12 output lines suppressed due to ratelimiting". Docker:
# "incomplete log stream", "Error grabbing logs". `tail -F`: "file truncated". journalctl: "Journal
# file ... is truncated, ignoring file". Shippers: "dropped 7 log lines".
_GONE = r"(?:suppress(?:ed|ing)|missed|lost|drop(?:s|ped|ping)?|discard(?:s|ed|ing))"
_PIECES = r"(?:messages?|lines?|logs?|log (?:entries|records|events)|entries|callbacks)"
_BETWEEN = r"(?:\s+[^\s|]+){0,4}?\s+"
_GAP = re.compile(
    rf"\b(?:{_GONE}{_BETWEEN}{_PIECES}|{_PIECES}{_BETWEEN}{_GONE})\b"
    r"|\bincomplete log stream\b|\bfile truncated\b|\bis truncated, ignoring file\b"
    r"|\bError (?:grabbing|streaming) logs\b",
    re.IGNORECASE,
)


@dataclass
class Window(Requests):
    """The lines from just before a question was sent until the next one is.

    Attributes:
        on_progress: Is given the share of the prompt that has been read, 0 to 1.
    """

    on_progress: Callable[[float], None] | None = field(default=None, kw_only=True)
    _unwrapping: Unwrapping = field(default_factory=Unwrapping)

    def feed(self, line: str) -> None:
        """Take one line, of any words, in whatever shape a journal or a container gave it."""
        for own in self._unwrapping.lines(line):
            self._feed_own(own[:_LONGEST])

    def _feed_own(self, line: str) -> None:
        """Take one line of the server's own."""
        if self.on_progress and (share := progress(line)) is not None:
            self.on_progress(share)
        if any(it.take(line, self) for it in all_formats()):
            return
        if loads.start(line):
            self.note_start()
        elif loads.loaded(line):
            self.note_loaded()
        elif _is_gap(line):
            self.gaps += 1


def progress(line: str) -> float | None:
    """Return which share of a prompt has been read, 0 to 1, if the line says it."""
    shares = (it.progress(line) for it in all_formats())
    return next((min(share, 1.0) for share in shares if share is not None), None)


def _is_gap(line: str) -> bool:
    """Return whether the line says that lines are missing there."""
    return _GAP.search(line) is not None
