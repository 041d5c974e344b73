"""The map in docs/architecture.md and the code agree: which rooms there are, who imports whom."""

from collections.abc import Iterator
import os
from pathlib import Path
import re

import pytest

from .repository import COMPONENT, ROOT, WARMER, imports, sources

MAP = (ROOT / "docs" / "architecture.md").read_text()
PROGRAMS = {
    "The integration's rooms": (COMPONENT, "custom_components.ollama_warm"),
    "The warmer's rooms": (WARMER / "src" / "ollama_warmer", "ollama_warmer"),
}
DOOR = "the door"
"""What stands in the root of a program."""


def drawn(heading: str) -> dict[str, set[str]]:
    """Return the rooms of a table of the map, and what each may import."""
    table = MAP.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [row.split("|")[1:-1] for row in table.splitlines() if row.startswith("| ")]
    return {_names(first)[0]: set(_names(last)) for first, _, last in rows if _names(first)}


def _names(cell: str) -> list[str]:
    """Return the rooms that a cell names."""
    return [
        name.rstrip("/")
        for name in re.findall(r"`([\w/]+)`|(the door)", cell)
        for name in name
        if name
    ]


def room_of(path: Path, root: Path) -> str:
    """Return the room that a file is in."""
    return path.parent.relative_to(root).as_posix() if path.parent != root else DOOR


def arrows(root: Path, package: str) -> Iterator[tuple[str, str, str]]:
    """Yield the room of each file, a room that it imports from, and the file's name."""
    for path in sources(root):
        here = room_of(path, root)
        for name in imports(path):
            if name.startswith("."):
                up = len(name) - len(name.lstrip("."))
                folder = path.parents[up - 1]
                target = folder.joinpath(*filter(None, name.lstrip(".").split(".")))
            elif name == package or name.startswith(f"{package}."):
                target = root.joinpath(*name.split(".")[len(package.split(".")) :])
            else:
                continue
            there = target if target.is_dir() else target.parent
            found = os.path.relpath(there, root)
            room = DOOR if found == "." else Path(found).as_posix()
            if room != here:
                yield here, room, path.relative_to(root).as_posix()


@pytest.mark.parametrize("heading", PROGRAMS)
def test_every_room_is_on_the_map(heading: str) -> None:
    """No room is missing there, and none is made up."""
    root, _ = PROGRAMS[heading]
    assert {room_of(path, root) for path in sources(root)} == set(drawn(heading))


@pytest.mark.parametrize("heading", PROGRAMS)
def test_arrows(heading: str) -> None:
    """A room imports only what the map allows, and what is allowed is used."""
    root, package = PROGRAMS[heading]
    may = drawn(heading)
    found = set(arrows(root, package))
    assert [arrow for arrow in sorted(found) if arrow[1] not in may[arrow[0]]] == []
    used = {(here, there) for here, there, _ in found}
    assert {(here, there) for here, rooms in may.items() for there in rooms} - used == set()


@pytest.mark.parametrize("heading", PROGRAMS)
def test_no_way_leads_back(heading: str) -> None:
    """From a room that is imported, no arrow leads back to who imports it."""
    may = {room: rooms - {DOOR} for room, rooms in drawn(heading).items() if room != DOOR}
    while leaves := [room for room, rooms in may.items() if not rooms & may.keys()]:
        for room in leaves:
            del may[room]
    assert may == {}


@pytest.mark.parametrize("heading", PROGRAMS)
def test_files_of_the_walks_exist(heading: str) -> None:
    """Each file that a walk names is there."""
    root, _ = PROGRAMS[heading]
    named = set(re.findall(r"`([\w/]+\.py)`", MAP))
    assert named
    both = [root for root, _ in PROGRAMS.values()]
    assert [
        name for name in sorted(named) if not any((each / name).exists() for each in (*both, ROOT))
    ] == []
    assert root.is_dir()
