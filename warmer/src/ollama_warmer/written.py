"""Reads text that a person wrote with whatever editor there was, and knows what is no file."""

import codecs
from pathlib import Path


def decoded(content: bytes, errors: str = "strict") -> str:
    """Return the text of a file in UTF-8, or in UTF-16 if it begins with its mark of byte order.

    Editors of Windows write such a mark before UTF-8, too, where it is not part of the text.

    Raises:
        UnicodeDecodeError: It is neither, and `errors` is not another of Python's ways.
    """
    is_utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if is_utf_16 else "utf-8", errors)
    # Two files that were put together have a second one.
    return text.lstrip("\ufeff")


def is_special(path: Path) -> bool:
    """Return whether a device, a pipe or a socket is there, in whose place no file may be put."""
    return path.exists() and not path.is_file() and not path.is_dir()
