"""Takes a server's own lines out of what a journal, a container or a terminal made of them.

Words in front of a line need no care, since lines are recognised anywhere: those of journalctl's
`short...`, `with-unit`, `export` and `verbose`, of syslog, of `docker logs --timestamps`, compose,
podman and Kubernetes. What is left is JSON, whose texts have escapes or are lists of bytes, and
colours. Shapes: systemd 252's journalctl (`json`, `json-sse`, `json-seq`, `json-pretty`), Docker's
json-file, and the shippers that call the text `message`, `log` or `line`.
"""

from collections.abc import Iterable
import json
import re

_COLOUR = re.compile(
    r"(?:\x1b|\^\[|#033|\\x1b|\\033)\[[\d;?]*[A-Za-z]"  # as it is, and as cat and syslog write it
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a link
)
_OBJECT = re.compile(r'\s*(?:data: ?|\x1e)?(?:\{|"MESSAGE")')
_TEXT = re.compile(r'"(?:MESSAGE|short_message|message|log|line|msg)"\s*:\s*')
_BYTE = re.compile(r"1?\d?\d|2[0-4]\d|25[0-5]", re.ASCII)
_BYTES = range(1 << 8)
_MOST_BYTES = 1 << 14
_DECODER = json.JSONDecoder()


class Unwrapping:
    """Takes lines one after the other: one of `json-pretty` may stand over many."""

    def __init__(self) -> None:
        self._bytes: bytearray | None = None

    def lines(self, line: str) -> Iterable[str]:
        """Return the server's lines in one line of a log, mostly the line itself."""
        if self._bytes is not None:
            return self._next_byte(line.strip().rstrip(","))
        if "\x1b" in line or "[" in line:
            line = _COLOUR.sub("", line)
        if not _OBJECT.match(line):
            return (line,)
        for field in _TEXT.finditer(line):
            if line[field.end() :].strip() == "[":
                self._bytes = bytearray()
                return ()
            try:
                value, _ = _DECODER.raw_decode(line, field.end())
            except (ValueError, RecursionError):
                continue
            if (text := _text(value)) is not None:
                return _COLOUR.sub("", text).splitlines()
        return (line,)

    def _next_byte(self, word: str) -> Iterable[str]:
        """Take a byte of a list of which each has a line of its own."""
        found = self._bytes
        if found is not None and _BYTE.fullmatch(word) and len(found) < _MOST_BYTES:
            found.append(int(word))
            return ()
        self._bytes = None
        return _COLOUR.sub("", bytes(found or b"").decode(errors="replace")).splitlines()


def _text(value: object) -> str | None:
    """Return the text of a field; none if it has none.

    journald gives a list of bytes for a text that is no UTF-8 or has a control character in it, a
    list of texts for a field that was sent more than once, and null for one that is too long.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        return None
    if all(type(it) is int and it in _BYTES for it in value):
        return bytes(value).decode(errors="replace")
    texts = [_text(it) for it in value]
    return "\n".join(it for it in texts if it is not None) or None
