"""Version, address and owner are changed in one place, and all files follow."""

from pathlib import Path
import re

import pytest

from script.lib.project import bring_into_step, out_of_step, raise_version, read, texts

from .copies import checkout
from .repository import ROOT

OURS = read(ROOT)
MOVED = 'version = "7.8.9"\nrepository = "https://github.com/some-one/warm"\nowner = "@a-team"\n'
# Written so that this file names no other account's repository.
ANOTHER = f"https://github.com/another/{OURS.repository.rpartition('/')[2]}"
# The lines that say something of project.toml, each with what it has from there.
MANIFEST = "custom_components/ollama_warm/manifest.json"
LINES = [
    (MANIFEST, f'"version": "{OURS.version}"', OURS.version),
    (MANIFEST, f'"codeowners": ["{OURS.owner}"]', OURS.owner),
    (MANIFEST, f'"documentation": "{OURS.repository}"', OURS.repository),
    (MANIFEST, f'"issue_tracker": "{OURS.repository}/issues"', OURS.repository),
    ("pyproject.toml", f'version = "{OURS.version}"', OURS.version),
    ("warmer/pyproject.toml", f'version = "{OURS.version}"', OURS.version),
    (".github/CODEOWNERS", f"* {OURS.owner}", OURS.owner),
]


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that may be written to, and is in step before and after each test."""
    return checkout(tmp_path_factory.mktemp("project"))


def test_all_files_are_in_step() -> None:
    """No file says another version, address or owner than project.toml."""
    assert out_of_step(ROOT) == []


def test_the_change_log_begins_with_this_version() -> None:
    """What is not released yet may stand above it."""
    headings = re.findall(r"^## (.+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [heading for heading in headings if not heading.startswith("Unreleased")]
    assert released[0].split()[0] == OURS.version
    assert headings[:-1].count("Unreleased") == headings.count("Unreleased") <= 1


@pytest.mark.parametrize(("name", "line", "value"), LINES)
def test_each_line_is_looked_at(copy: Path, name: str, line: str, value: str) -> None:
    """Another value in any line is noticed, and so is a line that is gone or there twice."""
    path = copy / name
    before = path.read_text()
    assert before.count(line) == 1
    for other in (line.replace(value, f"{value}x"), "", f"{line}\n{line}"):
        path.write_text(before.replace(line, other))
        assert [found for found in out_of_step(copy) if found.startswith(f"{name} says ")], other
    path.write_text(before)


@pytest.mark.parametrize(
    "text",
    [
        ANOTHER,
        f"git+{ANOTHER}#subdirectory=warmer",
        f"see [this]({ANOTHER}/blob/main/README.md).",
        f"{ANOTHER}.",
        f"{ANOTHER}.git",
    ],
)
def test_another_account_s_address_is_out_of_step(copy: Path, text: str) -> None:
    """Wherever it stands, also in a file that no one has thought of."""
    path = copy / "docs" / "new.md"
    path.write_text(text)
    assert out_of_step(copy) == [f"docs/new.md names {ANOTHER}"]
    path.unlink()


@pytest.mark.parametrize(
    "text", ["https://github.com/ollama/ollama", f"{ANOTHER}er", f"{ANOTHER}-x"]
)
def test_addresses_of_others_are_theirs(copy: Path, text: str) -> None:
    """A repository of another name is not ours, also where the name begins like ours."""
    path = copy / "docs" / "new.md"
    path.write_text(text)
    assert out_of_step(copy) == []
    bring_into_step(copy)
    assert path.read_text() == text
    path.unlink()


def test_one_file_is_changed_and_all_follow(tmp_path: Path) -> None:
    """After a move nothing has what was before, and a second time changes nothing."""
    copy = checkout(tmp_path)
    (copy / "project.toml").write_text(MOVED)
    naming = {path for path, text in texts(copy) if OURS.repository in text}
    assert len(naming) > 8
    assert out_of_step(copy)

    changed = bring_into_step(copy)

    assert {path.relative_to(copy).as_posix() for path in naming} <= set(changed)
    assert out_of_step(copy) == []
    assert bring_into_step(copy) == []
    ours = {
        *(name for name, _, _ in LINES),
        "SECURITY.md",
        "README.md",
        ".github/ISSUE_TEMPLATE/config.yml",
    }
    for path, text in texts(copy):
        assert OURS.repository not in text, path
        if path.relative_to(copy).as_posix() in ours:
            assert OURS.owner not in text, path
            assert "some-one/warm" in text or "a-team" in text or "7.8.9" in text, path


def test_a_version_is_raised_everywhere(tmp_path: Path) -> None:
    """The file itself keeps all else that stands in it."""
    copy = checkout(tmp_path)
    before = (copy / "project.toml").read_text()

    raise_version(copy, "7.8.9b1")

    assert (copy / "project.toml").read_text() == before.replace(OURS.version, "7.8.9b1")
    assert read(copy).version == "7.8.9b1"
    assert out_of_step(copy) == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (f'"{OURS.version}"', '"1.2"'),
        (f'"{OURS.version}"', '"v1.2.3"'),
        (f'"{OURS.repository}"', '"github.com/a/b"'),
        (f'"{OURS.repository}"', f'"{OURS.repository}/"'),
        (f'"{OURS.owner}"', '"someone"'),
    ],
)
def test_what_can_not_be_so_is_refused(tmp_path: Path, line: str, wrong: str) -> None:
    """A version, an address and an owner have a form."""
    text = (ROOT / "project.toml").read_text().replace(line, wrong)
    (tmp_path / "project.toml").write_text(text)
    with pytest.raises(ValueError, match=re.escape(wrong.strip('"'))):
        read(tmp_path)
