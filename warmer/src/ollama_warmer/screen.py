"""Writes to the terminal or pipe that is there, whatever characters its encoding lacks."""

import codecs
from contextlib import suppress
from functools import partial
import io
import json
import os
from pathlib import Path
import sys
import unicodedata

import click

_NEAREST = "ollama_warmer.nearest"
# What Unicode's own tables take apart into more than one character, or into none of ASCII.
_LIKE = str.maketrans("…–—‘’‚“”„«»×", "~--'''\"\"\"<>x")  # noqa: RUF001 - these are the ones


def fit_streams() -> None:
    """Let standard output and error write the nearest characters that they have.

    Without it Python ends the program over an umlaut in a name, after the questions were asked.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Whoever started the program has closed it, and wants to see nothing.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for as long as it runs
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # One for each encoding: an error of Python's small encodings calls all of them charmap.
            name = f"{_NEAREST}.{stream.encoding}"
            codecs.register_error(name, partial(_nearest, encoding=stream.encoding))
            stream.reconfigure(errors=name)


def give_up_output(err: OSError) -> None:
    """Say why standard output cannot be written, and leave out what is still to come.

    Python would write it once more at its end, and fail with a traceback.
    """
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    with suppress(OSError):
        say(f"Error: what was to be shown cannot be written: {err.strerror}. Send it elsewhere")


def say(words: str) -> None:
    """Write a line to standard error."""
    # Named, because click would write UTF-8 to a terminal that knows ASCII alone.
    click.echo(words, file=sys.stderr)


def show(words: str) -> None:
    """Write a line to standard output."""
    click.echo(words, file=sys.stdout)


def show_json(text: str) -> None:
    """Write JSON to standard output; it is the same object in any encoding."""
    show(text if _is_utf_8() else "".join(_in_ascii(character) for character in text))


def show_toml(text: str) -> None:
    """Write a TOML file, which has to be UTF-8, to standard output."""
    if not _is_utf_8():
        text = "".join(it if it.isascii() else f"\\U{ord(it):08x}" for it in text)
    click.echo(text, file=sys.stdout, nl=False)


def can_show(characters: str, encoding: str) -> bool:
    """Say whether an encoding has these characters."""
    try:
        characters.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def spinner(encoding: str) -> str:
    """Return the name of a sign of progress, of rich's, that an encoding has the characters for."""
    return "dots" if can_show("⠋", encoding) else "line"


def _is_utf_8() -> bool:
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def _in_ascii(character: str) -> str:
    return character if character.isascii() else json.dumps(character)[1:-1]


def _nearest(error: UnicodeError, encoding: str) -> tuple[str, int]:
    """Return what stands for characters that an encoding lacks, as wide on a screen as they are."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_like(character, encoding) for character in lacking), error.end


def _like(character: str, encoding: str) -> str:
    width = _width(character)
    for like in (character.translate(_LIKE), unicodedata.normalize("NFKD", character)):
        kept = like.encode(encoding, "ignore").decode(encoding)
        if kept and sum(map(_width, kept)) == width:
            return kept
    return "?" * width


def _width(character: str) -> int:
    """Return how many places a character takes on a screen."""
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
