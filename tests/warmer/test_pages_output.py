"""A page is written as a whole or not at all, and every failure says what to do."""

import errno
import os
from pathlib import Path
import re
import subprocess
import sys
import tomllib

import pytest

from ollama_warmer.errors import WarmerError
from ollama_warmer.pages import (
    check,
    write_clock_page,
    write_probe_page,
    write_status_page,
)
from ollama_warmer.pages.output import REQUIREMENT, write
from tests.warmer.support.pages import NOW, sample

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="no_matplotlib")
def _no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let matplotlib not be installed."""
    for name in [one for one in sys.modules if one.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_each_page_is_written(tmp_path: Path) -> None:
    """By the functions that the commands call."""
    write_probe_page(tmp_path / "probe.html", sample("probe"))
    write_clock_page(tmp_path / "clock.html", sample("clock"))
    write_status_page(tmp_path / "status.html", sample("status"), now=NOW)
    pages = sorted(tmp_path.iterdir())
    assert [one.name for one in pages] == ["clock.html", "probe.html", "status.html"]
    assert all(one.read_text().startswith("<!DOCTYPE html>") for one in pages)


def test_others_may_read_a_page(tmp_path: Path) -> None:
    """It is made with the rights that new files of this user have."""
    (tmp_path / "other").touch()
    write(tmp_path / "page.html", "page")
    assert (tmp_path / "page.html").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file that it leads to is replaced."""
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to("real.html")
    write(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "new"


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    """Nothing is put in the place of what is no file, such as /dev/null."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for place in (check, lambda it: write(it, "page")):
        with pytest.raises(WarmerError, match="is a device or a pipe: name a file"):
            place(path)
    assert path.is_fifo()


def test_a_full_disk_leaves_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing beside it."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "page.html"
    write(path, "old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WarmerError, match=r"cannot be written \(No space left on device\)"):
        write(path, "new")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "old"


def test_a_bad_place_is_known_before_anything_is_measured(tmp_path: Path) -> None:
    """A missing folder, a folder in the file's place, a file in the folder's place."""
    check(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    for path, words in (
        (tmp_path, "is a folder: name a file in it"),
        (tmp_path / "gone" / "page.html", "make the folder .*/gone first"),
        (tmp_path / "file" / "page.html", "make the folder .*/file first"),
    ):
        with pytest.raises(WarmerError, match=words):
            check(path)
        with pytest.raises(WarmerError, match="cannot be written"):
            write(path, "page")


@pytest.mark.usefixtures("no_matplotlib")
def test_without_matplotlib_nothing_is_written(tmp_path: Path) -> None:
    """The error says how to get it, before the measurement and after: of an index that has it."""
    how = re.escape(f'{sys.executable} -m pip install "{REQUIREMENT}"')
    path = tmp_path / "page.html"
    with pytest.raises(WarmerError, match=how):
        write_probe_page(path, sample("probe"))
    with pytest.raises(WarmerError, match=how):
        check(path)
    assert not path.exists()


def test_what_is_to_be_installed_is_what_is_needed() -> None:
    """The package's own description says the same; the package itself can be had nowhere."""
    project = tomllib.loads((ROOT / "warmer/pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["report"] == [REQUIREMENT]


def test_only_who_draws_needs_matplotlib() -> None:
    """The commands import the pages without it: it is optional, and takes a while to load."""
    program = "import sys, ollama_warmer.pages; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
