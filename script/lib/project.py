"""Version, address and owner: read from project.toml, and written wherever else they stand."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
import re
import subprocess
import sys
import tomllib
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SETTINGS: Final = "project.toml"
COMPONENT: Final = "custom_components/ollama_warm"
MANIFEST: Final = f"{COMPONENT}/manifest.json"
VERSION: Final = re.compile(r"\d+\.\d+\.\d+(?:b\d+)?")


@dataclass(frozen=True)
class Project:
    """What project.toml says."""

    version: str
    repository: str
    owner: str


# Where else something of it stands: the file, the pattern whose group it is, and what it has to be.
_PLACES: Final[tuple[tuple[str, str, Callable[[Project], str]], ...]] = (
    (MANIFEST, r'"version": "([^"]*)"', lambda project: project.version),
    (MANIFEST, r'"codeowners": \["([^"]*)"\]', lambda project: project.owner),
    (MANIFEST, r'"documentation": "([^"]*)"', lambda project: project.repository),
    (MANIFEST, r'"issue_tracker": "([^"]*)"', lambda project: f"{project.repository}/issues"),
    ("pyproject.toml", r'^version = "([^"]*)"', lambda project: project.version),
    ("warmer/pyproject.toml", r'^version = "([^"]*)"', lambda project: project.version),
    (".github/CODEOWNERS", r"^\* (\S+)$", lambda project: project.owner),
)


def read(root: Path) -> Project:
    """Return what project.toml says; raises ValueError for what can't be so."""
    project = Project(**tomllib.loads((root / SETTINGS).read_text()))
    if not VERSION.fullmatch(project.version):
        raise ValueError(f"{SETTINGS}: {project.version} is no version like 1.2.3 or 1.2.3b1")
    if not re.fullmatch(r"https://[\w.-]+/[\w.-]+/[\w.-]+", project.repository):
        raise ValueError(f"{SETTINGS}: {project.repository} is no address of a repository")
    if not re.fullmatch(r"@[\w-]+(/[\w-]+)?", project.owner):
        raise ValueError(f"{SETTINGS}: {project.owner} is no owner like @someone")
    return project


def committed(root: Path) -> list[Path]:
    """Return all files under version control, and those that are about to be; no links."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode()
    found = {root / name for name in listed.split("\0") if name}
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def texts(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield each committed file that is text, and the text."""
    for path in committed(root):
        try:
            yield path, path.read_text()
        except UnicodeDecodeError:
            continue


def out_of_step(root: Path) -> list[str]:
    """Return a sentence for each place that says something else than project.toml."""
    project = read(root)
    found = []
    for name, pattern, wanted in _PLACES:
        values = re.findall(pattern, (root / name).read_text(), re.MULTILINE)
        if values != [wanted(project)]:
            found.append(f"{name} says {' and '.join(values) or 'nothing'}, not {wanted(project)}")
    host, _, name = project.repository.removeprefix("https://").rpartition("/")
    anyones = _address(f"{host.partition('/')[0]}/", rf"[\w.-]+/{re.escape(name)}")
    for path, text in texts(root):
        others = {f"https://{address}" for address in anyones.findall(text)} - {project.repository}
        found += [f"{path.relative_to(root)} names {other}" for other in sorted(others)]
    return found


def bring_into_step(root: Path) -> list[str]:
    """Write what project.toml says everywhere else; return the names of the changed files."""
    project = read(root)
    ((_, pattern, _),) = [place for place in _PLACES if '"documentation"' in place[1]]
    (before,) = re.findall(pattern, (root / MANIFEST).read_text())
    old = _address("", re.escape(before.removeprefix("https://")))
    changed = []
    for path, text in texts(root):
        name = path.relative_to(root).as_posix()
        new = text if name == SETTINGS else old.sub(project.repository[len("https://") :], text)
        for place, pattern, wanted in _PLACES:
            if place == name:
                new = re.sub(pattern, _with(wanted(project)), new, flags=re.MULTILINE)
        if new != text:
            path.write_text(new)
            changed.append(name)
    return changed


def raise_version(root: Path, version: str) -> None:
    """Write another version into project.toml and every other file that names it."""
    path = root / SETTINGS
    line = _with(version)
    path.write_text(re.sub(r'^version = "([^"]*)"', line, path.read_text(), flags=re.MULTILINE))
    bring_into_step(root)


def _address(before: str, pattern: str) -> re.Pattern[str]:
    """Return what finds an address, but not a longer one that begins like it."""
    return re.compile(rf"(?<=https://)({re.escape(before)}{pattern})(?![\w-])")


def _with(value: str) -> Callable[[re.Match[str]], str]:
    """Return what puts a value in the place of a match's group."""

    def replaced(match: re.Match[str]) -> str:
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return f"{match[0][:start]}{value}{match[0][end:]}"

    return replaced


def main() -> int:
    """Bring the checkout into step, or say where it is not."""
    parser = argparse.ArgumentParser(prog="script/project", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    if not parser.parse_args().check:
        for name in bring_into_step(ROOT):
            print(f"Changed {name}")
    found = out_of_step(ROOT)
    print(*found or ["Every file is in step with project.toml"], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
