"""Makes words that came from elsewhere safe to show."""

from collections.abc import Iterable

_LONGEST = 300


def printable(words: object) -> str:
    """Return the words on one line, without control characters, at most 300 characters long.

    What a server sends ends up on a terminal, where an escape sequence could rewrite the table.
    """
    line = "".join(
        character if character.isprintable() else " " for character in str(words)[: _LONGEST + 1]
    )
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def phrase(words: object) -> str:
    """Return words that came from elsewhere as they fit into a sentence: without an end of one."""
    return printable(words).strip().rstrip(".!?\u2026 ")


def listing(names: Iterable[str]) -> str:
    """Return names as they appear in a sentence: sorted, quoted, with commas; `none` for none."""
    return ", ".join(f'"{printable(name)}"' for name in sorted(names)) or "none"
