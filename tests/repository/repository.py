"""Where things are in the repository, for the tests of its promises."""

import ast
from collections.abc import Iterator
import json
from pathlib import Path
import subprocess
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COMPONENT = ROOT / "custom_components" / "ollama_warm"
WARMER = ROOT / "warmer"
TRANSLATIONS = COMPONENT / "translations"


def committed() -> list[Path]:
    """Return all files under version control, and those that are about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    names = listed.decode().split("\0")
    return sorted(path for name in names if name and (path := ROOT / name).is_file())


def sources(folder: Path) -> list[Path]:
    """Return the Python files under a folder."""
    return sorted(folder.rglob("*.py"))


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(path.read_text())


def imports(path: Path) -> Iterator[str]:
    """Yield the absolute names that a file imports, relative ones with their dots."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"


def loaded(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    data: dict[str, Any] = json.loads(path.read_text())
    return data
