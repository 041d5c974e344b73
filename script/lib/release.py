"""Makes a release: another version, the change log, and everything that is published, checked.

All of it is done in a temporary clone first, without the network. Only when that went well is the
same done to the checkout, and committed and tagged there; with --dry-run it is not.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from typing import Final

from script.lib import changelog
from script.lib.artifacts import ArtifactError, build
from script.lib.project import ROOT, VERSION, out_of_step, raise_version, read

DRY: Final = "a release would be refused: "
_STDERR: Final = 2  # what is printed on the other one are the names of the files


class ReleaseError(Exception):
    """There can be no such release; the message says why."""


def refusals(root: Path, version: str) -> list[str]:
    """Return why this version can't be released from what is committed, none if it can be."""
    text = (root / changelog.NAME).read_text()
    found = []
    if not changelog.section(text, changelog.UNRELEASED):
        found.append(f"{changelog.NAME} has nothing under ## {changelog.UNRELEASED}")
    if _git(root, "status", "--porcelain"):
        found.append("there are changes that are not committed")
    if _git(root, "tag", "--list", f"v{version}"):
        found.append(f"there is a tag v{version} already")
    return found


def check_version(root: Path, version: str) -> None:
    """Raise ReleaseError if there can be no such version, or not after the present one."""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"{version} is no version like 1.2.3 or 1.2.3b1")
    before = read(root).version
    if _order(version) <= _order(before):
        raise ReleaseError(f"{version} is not later than {before}")


def prepare(root: Path, version: str, day: str) -> None:
    """Write the version and the change log's new section; raises ReleaseError if that can't be."""
    path = root / changelog.NAME
    try:
        path.write_text(changelog.released(path.read_text(), version, day))
    except ValueError as error:
        raise ReleaseError(str(error)) from error
    raise_version(root, version)
    if found := out_of_step(root):
        raise ReleaseError("\n".join(found))


def rehearse(root: Path, version: str, day: str, output: Path) -> list[Path]:
    """Make the release in a clone of what is committed; return the files that were built."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        _git(root, "clone", "--quiet", "--depth=1", root.as_uri(), str(clone))
        prepare(clone, version, day)
        programs = Path(sys.executable).parent
        checked = subprocess.run(
            [clone / "script/lib/lint_github.sh", programs], check=False, stdout=_STDERR
        )
        if checked.returncode:
            raise ReleaseError("a file for GitHub or the container has a fault: see above")
        return build(clone, output)


def release(root: Path, version: str, day: str, output: Path, *, dry_run: bool) -> list[Path]:
    """Build and check a release, and unless it is a rehearsal commit and tag it.

    Returns the files that were built. Raises ReleaseError or ArtifactError, and has then changed
    nothing in the checkout.
    """
    check_version(root, version)
    found = refusals(root, version)
    if found and not dry_run:
        raise ReleaseError("\n".join(found))
    for reason in found:
        print(f"{DRY}{reason}", file=sys.stderr)
    files = rehearse(root, version, day, output)
    if not dry_run:
        prepare(root, version, day)
        _git(root, "commit", "--quiet", "--all", "--message", f"Release {version}")
        _git(root, "tag", "--annotate", f"v{version}", "--message", f"Release {version}")
    return files


def _order(version: str) -> tuple[int, ...]:
    """Return what sorts versions; the betas of one come before it."""
    numbers = [int(part) for part in re.split(r"[.b]", version)]
    return (*numbers[:3], *(numbers[3:] or [sys.maxsize]))


def _git(root: Path, *arguments: str) -> str:
    """Run git, and return what it said."""
    command = ["git", *arguments]
    ran = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    if ran.returncode:
        raise ReleaseError(f"git {arguments[0]}: {ran.stderr.strip()}")
    return ran.stdout.strip()


def main() -> int:
    """Make a release of both programs from what is committed."""
    parser = argparse.ArgumentParser(prog="script/release", description=main.__doc__)
    parser.add_argument("version", help="such as 1.2.3, or 1.2.3b1 for a beta")
    parser.add_argument("--dry-run", action="store_true", help="build, but change nothing here")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder (dist)")
    options = parser.parse_args()
    day = datetime.now(UTC).date().isoformat()
    output = options.output.resolve()
    try:
        files = release(ROOT, options.version, day, output, dry_run=options.dry_run)
    except (ReleaseError, ArtifactError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(*files, sep="\n")
    if not options.dry_run:
        print(f"Committed and tagged. To publish it: git push origin HEAD v{options.version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
