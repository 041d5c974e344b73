"""Every link in a Markdown file leads somewhere; pages elsewhere are asked for on GitHub alone."""

from pathlib import Path

import pytest

from script.lib.links import anchors, broken, pages
from script.lib.project import read

from .copies import git
from .repository import ROOT

OURS = read(ROOT).repository
PAGE = """# A page: its *name*

## `code` and more, twice
## `code` and more, twice
<a id="by-hand"></a>

```sh
# no heading
[no link](nowhere.md)
```
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A repository with two pages."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "project.toml").write_text((ROOT / "project.toml").read_text())
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    return tmp_path


def test_every_link_leads_somewhere() -> None:
    """Files and headings of the repository, in all Markdown files."""
    assert broken(ROOT) == []


def test_headings_as_github_names_them(folder: Path) -> None:
    """Marks go, the second of a name gets a number, and code has none."""
    assert anchors(folder / "docs" / "page.md") == {
        "a-page-its-name",
        "code-and-more-twice",
        "code-and-more-twice-1",
        "by-hand",
    }


@pytest.mark.parametrize(
    "text",
    [
        "[a](docs/page.md)",
        "[a](docs/page.md#code-and-more-twice-1 'title')",
        "[a](<docs/page.md#by-hand>)",
        "[a](#here)\n# Here",
        "[a](docs)",
        "[a][b]\n\n[b]: docs/page.md",
        "[a][]\n\n[A]: docs/page.md#by-hand",
        f"[a]({OURS}/blob/main/docs/page.md#by-hand)",
        "![a](docs/page.md)",
        "`[a](nowhere.md)` and ``[a`](nowhere.md)``",
        "```\n[a](nowhere.md)\n```",
        "[a](https://elsewhere.net/nowhere.md)",
    ],
)
def test_what_is_there(folder: Path, text: str) -> None:
    """Each kind of link, and what is none."""
    (folder / "README.md").write_text(text)
    assert broken(folder) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a](nowhere.md)", "there is no such file"),
        ("x\n[a\nb](docs/nowhere.md)", "there is no such file"),
        ("[a](docs/page.md#nothing)", "there is no such heading"),
        ("[a](#nothing)", "there is no such heading"),
        ("![a](images/none.png)", "there is no such file"),
        ("[a][b]", "has no definition"),
        ("[a][b]\n\n[b]: docs/nowhere.md", "there is no such file"),
        ("[a](../outside.md)", "leads out of the repository"),
        (f"[a]({OURS}/blob/main/nowhere.md)", "there is no such file"),
        (f"[a][b]\n\n[b]: {OURS}/blob/main/docs/page.md#nothing", "there is no such heading"),
        ("`a` [b](nowhere.md) `c`", "there is no such file"),
    ],
)
def test_what_is_not_there(folder: Path, text: str, reason: str) -> None:
    """Each kind of link that leads nowhere is named with its file, once."""
    (folder / "README.md").write_text(text)
    (found,) = broken(folder)
    assert found.startswith("README.md:")
    assert found.endswith(reason)


def test_which_pages_are_asked_for(folder: Path) -> None:
    """Each page once, and no address that only is an example of one in a house."""
    (folder / "README.md").write_text(
        "[a](https://elsewhere.net/x#one) [b](https://elsewhere.net/x#two) <https://other.org>\n"
        "[c](http://homeassistant.local:8123) [d](http://192.168.1.10) [e](http://gpu-01:11434)\n"
        "[f](https://example.org/x) [g](https://proxy.example/x) [h](mailto:a@b.net)\n"
    )
    assert pages(folder) == ["https://elsewhere.net/x", "https://other.org"]
