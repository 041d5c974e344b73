"""Writes a page as a whole or not at all, and knows beforehand what would prevent it."""

import contextlib
import importlib.util
import os
from pathlib import Path
import secrets
import sys

from ollama_warmer.errors import WarmerError
from ollama_warmer.written import is_special

# As warmer/pyproject.toml has it; the program itself is on no package index.
REQUIREMENT = "matplotlib>=3.9"
MISSING = (
    "a report needs matplotlib for its figures: let the Python of this program install it, "
    f'{sys.executable} -m pip install "{REQUIREMENT}"'
)


def check(path: Path) -> None:
    """Find out before a long measurement whether its page could be written.

    Raises:
        WarmerError: matplotlib is not installed, or the folder is missing or not writable.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise WarmerError(MISSING)
    if path.is_dir():
        raise WarmerError(f"the report {path} is a folder: name a file in it")
    _check_place(path)
    folder = path.resolve().parent
    if not folder.is_dir():
        raise WarmerError(f"the report {path} cannot be written: make the folder {folder} first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise WarmerError(f"the report {path} cannot be written: you may not write into {folder}")


def _check_place(path: Path) -> None:
    """Raise a WarmerError for what a page must not take the place of."""
    if is_special(path):
        raise WarmerError(f"the report {path} is a device or a pipe: name a file")


def write(path: Path, page: str) -> None:
    """Put a page in place of what was there; a reader sees the old or the new one, never a half.

    Raises:
        WarmerError: The file cannot be written; what was there is still there.
    """
    _check_place(path)
    # A link stays a link to the file that is replaced.
    target = path.resolve()
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        # Not tempfile's: that is for the owner's eyes only, and a page is made to be shown.
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.write(page)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as err:
        with contextlib.suppress(OSError):  # the first error is the one to report
            beside.unlink(missing_ok=True)
        reason = err.strerror or type(err).__name__
        raise WarmerError(
            f"the report {path} cannot be written ({reason}): choose another place"
        ) from err
