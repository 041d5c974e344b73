"""A release is built from what is committed, is the same each time, and is checked."""

from pathlib import Path
import re
import shutil
import tarfile
import zipfile

import pytest

from script.lib import artifacts, changelog
from script.lib.artifacts import ArtifactError
from script.lib.project import out_of_step, read
from script.lib.release import ReleaseError, release

from .copies import checkout, commit, git
from .repository import ROOT, loaded

DAY = "2026-12-24"
NEXT = "77.0.0"
NEWS = "- What people should read."
LOG = f"# Changelog\n\nWords.\n\n## Unreleased\n\n{NEWS}\n\n## 0.1.0\n\n- Before.\n"


@pytest.fixture(name="copy")
def _copy(tmp_path: Path) -> Path:
    """A checkout with something that is not released yet."""
    copy = checkout(tmp_path / "copy")
    (copy / "CHANGELOG.md").write_text(LOG.replace("0.1.0", read(ROOT).version))
    commit(copy)
    return copy


def state(folder: Path) -> tuple[str, str, str, dict[str, bytes]]:
    """Return all of a checkout that could be changed: commit, tags, what git sees, and files."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    return git(folder, "rev-parse", "HEAD"), git(folder, "tag"), git(folder, "status", "-s"), files


def test_a_rehearsal_builds_all_and_changes_nothing(copy: Path, tmp_path: Path) -> None:
    """Zip, wheel, source archive and digests of the next version; the checkout is as before."""
    before = state(copy)

    files = release(copy, NEXT, DAY, tmp_path / "dist", dry_run=True)

    assert state(copy) == before
    assert sorted(file.name for file in files) == [
        "SHA256SUMS",
        "ollama_warm.zip",
        f"ollama_warmer-{NEXT}-py3-none-any.whl",
        f"ollama_warmer-{NEXT}.tar.gz",
    ]
    with zipfile.ZipFile(tmp_path / "dist" / "ollama_warm.zip") as archive:
        assert f'"version": "{NEXT}"' in archive.read("manifest.json").decode()
    sums = (tmp_path / "dist" / "SHA256SUMS").read_text().splitlines()
    assert [line.split("  ")[1] for line in sums] == [file.name for file in files[:3]]


def test_a_release_is_a_commit_and_a_tag(copy: Path, tmp_path: Path) -> None:
    """Every file has the version, the change log the dated section, and nothing is left over."""
    before = git(copy, "rev-parse", "HEAD")

    release(copy, NEXT, DAY, tmp_path / "dist", dry_run=False)

    assert git(copy, "rev-parse", "HEAD^") == before
    assert git(copy, "rev-parse", f"v{NEXT}^{{commit}}") == git(copy, "rev-parse", "HEAD")
    assert git(copy, "status", "--short") == ""
    assert read(copy).version == NEXT
    assert out_of_step(copy) == []
    text = (copy / "CHANGELOG.md").read_text()
    assert f"## {NEXT} ({DAY})\n\n{NEWS}\n\n## " in text
    assert "Unreleased" not in text
    assert changelog.section(text, NEXT) == NEWS
    # What is built from the tag is what was checked before there was one.
    artifacts.build(copy, tmp_path / "again")
    for file in (tmp_path / "dist").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (read(ROOT).version, "is not later"),
        ("0.0.9", "is not later"),
        (f"{read(ROOT).version}b1", "is not later"),
        ("1.2", "is no version"),
        ("v1.2.3", "is no version"),
        ("1.2.3-rc1", "is no version"),
    ],
)
def test_no_release_of_such_a_version(
    copy: Path, tmp_path: Path, version: str, reason: str
) -> None:
    """Nothing is changed, neither in earnest nor in a rehearsal."""
    before = state(copy)
    for dry_run in (True, False):
        with pytest.raises(ReleaseError, match=reason):
            release(copy, version, DAY, tmp_path / "dist", dry_run=dry_run)
    assert state(copy) == before


def _nothing_new(copy: Path) -> None:
    path = copy / "CHANGELOG.md"
    path.write_text(path.read_text().replace(f"{NEWS}\n\n", ""))
    commit(copy)


def _not_committed(copy: Path) -> None:
    (copy / "new.py").write_text("")


def _tagged(copy: Path) -> None:
    git(copy, "tag", f"v{NEXT}")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_nothing_new, "nothing under"),
        (_not_committed, "not committed"),
        (_tagged, "already"),
    ],
)
def test_no_release_like_this(
    copy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: object,
    reason: str,
) -> None:
    """In earnest it is refused; a rehearsal says so, and goes on to the end."""
    assert callable(spoil)
    spoil(copy)
    before = state(copy)

    with pytest.raises(ReleaseError, match=reason):
        release(copy, NEXT, DAY, tmp_path / "dist", dry_run=False)
    assert not (tmp_path / "dist").exists()
    release(copy, NEXT, DAY, tmp_path / "dist", dry_run=True)

    assert reason in capsys.readouterr().err
    assert state(copy) == before


def test_a_fault_in_a_workflow_stops_a_release(copy: Path, tmp_path: Path) -> None:
    """The linters look at what is committed, and nothing is built or changed."""
    path = copy / ".github" / "workflows" / "test.yml"
    path.write_text(re.sub(r"@[0-9a-f]{40} # .*", "@main", path.read_text()))
    commit(copy)
    before = state(copy)

    with pytest.raises(ReleaseError, match="fault"):
        release(copy, NEXT, DAY, tmp_path / "dist", dry_run=False)

    assert state(copy) == before
    assert not (tmp_path / "dist").exists()


def test_the_same_files_give_the_same_bytes(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another day, in another folder, from files of another age and with other rights."""
    other = tmp_path / "another" / "folder"
    shutil.copytree(copy, other, symlinks=True, copy_function=shutil.copy)
    (other / "custom_components/ollama_warm/const.py").chmod(0o600)
    (other / "custom_components/ollama_warm/__pycache__").mkdir(exist_ok=True)
    (other / "custom_components/ollama_warm/__pycache__/const.pyc").write_bytes(b"x")
    first = artifacts.build(copy, tmp_path / "one")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")

    second = artifacts.build(other, tmp_path / "two")

    assert [file.name for file in second] == [file.name for file in first]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name


def test_the_zip_is_what_hacs_unpacks(tmp_path: Path) -> None:
    """Its files are at the top, in the order of their names, with the licence, and all readable."""
    path = artifacts.component_zip(ROOT, tmp_path / "component.zip")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {"manifest.json", "__init__.py", "LICENSE", "translations/en.json"} <= {*names}
        assert not [name for name in names if "__pycache__" in name or name.startswith("/")]
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o100644}
    assert loaded(ROOT / "hacs.json")["filename"] == "ollama_warm.zip"


def test_the_source_archive_stands_alone(tmp_path: Path) -> None:
    """There is no link in it, and nothing that only a checkout needs."""
    artifacts.build(ROOT, tmp_path)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        assert all(member.isfile() for member in archive.getmembers())
        names = {Path(member.name).name for member in archive.getmembers()}
    assert {"LICENSE", "pyproject.toml", "facts.py"} <= names
    assert not {"Containerfile", "ruff.toml"} & names


def _no_licence(copy: Path) -> None:
    (copy / "warmer" / "LICENSE").write_text("None.")


def _other_version(copy: Path) -> None:
    path = copy / "project.toml"
    path.write_text(path.read_text().replace(read(copy).version, "8.8.8"))


def _broken_module(copy: Path) -> None:
    (copy / "custom_components/ollama_warm/const.py").write_text("def x(:")


def _does_not_run(copy: Path) -> None:
    (copy / "warmer/src/ollama_warmer/cli.py").write_text("import nothing_like_it")


def _link_in_the_archive(copy: Path) -> None:
    path = copy / "warmer" / "pyproject.toml"
    path.write_text(path.read_text().partition("[tool.hatch.build.targets.sdist]")[0])


@pytest.mark.parametrize(
    "spoil",
    [_no_licence, _other_version, _broken_module, _does_not_run, _link_in_the_archive],
)
def test_what_is_not_right_is_not_released(copy: Path, tmp_path: Path, spoil: object) -> None:
    """Each thing that could be wrong with a file is found before it is published."""
    assert callable(spoil)
    spoil(copy)
    with pytest.raises(ArtifactError):
        artifacts.build(copy, tmp_path / "dist")


@pytest.mark.parametrize(
    "heading", ["## Unreleased", "## [Unreleased]", "## Unreleased, the next one"]
)
def test_sections_of_a_change_log(heading: str) -> None:
    """One is found by its name and ends at the next; without one the new one is put on top."""
    text = LOG.replace("## Unreleased", heading)
    assert changelog.section(text, "Unreleased") == NEWS
    assert changelog.section(text, "0.1.0") == "- Before."
    assert changelog.section(text, "0.1") == ""
    released = changelog.released(text, "0.2.0", DAY)
    assert released == LOG.replace("## Unreleased", f"## 0.2.0 ({DAY})")
    without = LOG.replace(f"## Unreleased\n\n{NEWS}\n\n", "")
    assert changelog.released(without, "0.2.0", DAY) == without.replace(
        "## 0.1.0", f"## 0.2.0 ({DAY})\n\n## 0.1.0"
    )
    with pytest.raises(ValueError, match=re.escape("0.1.0")):
        changelog.released(text, "0.1.0", DAY)
