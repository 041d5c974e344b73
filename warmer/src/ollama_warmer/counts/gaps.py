"""Knows the words with which whoever keeps or shows a log says that lines are missing there.

journald: "Suppressed 123 messages from ollama.service", "Forwarding to syslog missed 5 messages".
rsyslog: "imjournal: 9 messages lost due to rate-limiting", "begin to drop messages due to
rate-limiting". The kernel: "printk: 12 output lines suppressed due to ratelimiting". Docker:
"incomplete log stream", "Error grabbing logs". `tail -F`: "file truncated". journalctl: "Journal
file ... is truncated, ignoring file". Shippers: "dropped 7 log lines".
"""

import re

_GONE = r"(?:suppress(?:ed|ing)|missed|lost|drop(?:s|ped|ping)?|discard(?:s|ed|ing))"
_PIECES = r"(?:messages?|lines?|logs?|log (?:entries|records|events)|entries|callbacks)"
_BETWEEN = r"(?:\s+[^\s|]+){0,4}?\s+"
_GAP = re.compile(
    rf"\b(?:{_GONE}{_BETWEEN}{_PIECES}|{_PIECES}{_BETWEEN}{_GONE})\b"
    r"|\bincomplete log stream\b|\bfile truncated\b|\bis truncated, ignoring file\b"
    r"|\bError (?:grabbing|streaming) logs\b",
    re.IGNORECASE,
)


def is_gap(line: str) -> bool:
    """Return whether the line says that lines are missing there."""
    return _GAP.search(line) is not None
