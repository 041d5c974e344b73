"""Sections of the change log: what is not released yet, and what a release brought."""

import re
import sys
from typing import Final

from script.lib.project import ROOT

NAME: Final = "CHANGELOG.md"
UNRELEASED: Final = "Unreleased"


def section(text: str, name: str) -> str:
    """Return what stands under the heading of a version, or of Unreleased; empty without one."""
    pattern = rf"{_heading(name)}\n((?:(?!## ).*(?:\n|\Z))*)"
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip("\n") if found else ""


def released(text: str, version: str, day: str) -> str:
    """Return the change log with what is unreleased as a version's, with the day (2026-12-31).

    Raises ValueError if the version is there already.
    """
    if re.search(_heading(version), text, re.MULTILINE):
        raise ValueError(f"{NAME} has a section {version} already")
    heading = f"## {version} ({day})"
    if re.search(_heading(UNRELEASED), text, re.MULTILINE):
        return re.sub(_heading(UNRELEASED), heading, text, count=1, flags=re.MULTILINE)
    return re.sub(r"^## ", f"{heading}\n\n## ", text, count=1, flags=re.MULTILINE)


def _heading(name: str) -> str:
    """Return the pattern of a section's first line; 1.2 is not that of 1.2.3."""
    return rf"^## \[?{re.escape(name)}(?![\w.]).*$"


if __name__ == "__main__":
    # The words of a release on GitHub: python3 -m script.lib.changelog 1.2.3
    print(section((ROOT / NAME).read_text(), sys.argv[1]))
