"""The README and the pages beside it for whoever uses the integration, taken apart."""

from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any

from homeassistant.util.yaml import parse_yaml

from .repository import ROOT

PAGES = tuple(ROOT / name for name in ("README.md", "docs/reference.md", "docs/troubleshooting.md"))
CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def everything_said() -> str:
    """Return the text of all pages."""
    return "\n".join(page.read_text() for page in PAGES)


def plain(text: str) -> str:
    """Return a page with its code blanked out, as comments in code look like headings."""
    return CODE.sub(lambda code: " " * len(code[0]), text)


def sections(page: Path, heading: str) -> Iterator[str]:
    """Yield what stands on a page under each heading of that name, with all that is below it."""
    text = page.read_text()
    for found in re.finditer(rf"^(#+) {re.escape(heading)}\n", plain(text), re.MULTILINE):
        end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.MULTILINE)
        until = end.search(plain(text), found.end())
        yield text[found.end() : until.start() if until else len(text)]


def section(heading: str) -> str:
    """Return what is said under a heading, on whichever pages have it."""
    found = [text for page in PAGES for text in sections(page, heading)]
    assert found, heading
    return "\n".join(found)


def examples() -> Iterator[dict[str, Any]]:
    """Yield the automations on the pages."""
    for language, code in CODE.findall(section("Examples")):
        if language == "yaml":
            automation: Any = parse_yaml(code)
            yield automation
