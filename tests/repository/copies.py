"""A copy of the repository as a checkout of its own, for what writes to it."""

from pathlib import Path
import shutil
import subprocess

from .repository import ROOT


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, and return what it said."""
    command = ["git", *arguments]
    ran = subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return ran.stdout.decode().strip()


def checkout(folder: Path) -> Path:
    """Copy all files under version control, and those that are about to be, and commit them."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, folder / name
        if source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "A person")
    git(folder, "config", "user.email", "person@example.org")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """Commit all that is there."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "As it is")
