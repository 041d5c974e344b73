"""Samples for the reports' pages, and a reader that takes a page apart."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
import json
from pathlib import Path
import re
from typing import Any, override

from ollama_warmer.pages.clock import clock_page
from ollama_warmer.pages.probe import probe_page
from ollama_warmer.pages.status import status_page
from tests.rig.bench.page import bench_page

Json = dict[str, Any]

NAMES = ("probe", "clock", "status", "bench")
FIXTURES = Path(__file__).parents[1] / "fixtures" / "pages"
# Half an hour after the newest round of the sample.
NOW = datetime(2026, 10, 14, 21, 2, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\"' onload=x \x00\x1b[31m\u202e😀 $x^{2} & \ud800 " + "w" * 3000
_WITHOUT_END = {"br", "link", "meta"}
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
# Words by which the pages decide something; hostile ones in their place would only hide the rest.
_KEPT = {
    "label",
    "verdict",
    "scenario",
    "agent",
    "memory",
    "path",
    "step",
    "at",
    "now",
    "placement",
}


def sample(name: str) -> Json:
    """Return a fresh copy of what a command prints."""
    found: Json = json.loads((FIXTURES / f"{name}.json").read_text())
    return found


def page(name: str, data: Json | None = None) -> str:
    """Return the page of a sample, or of other data of its kind."""
    return _of_sample(name) if data is None else _page(name, data)


@cache
def _of_sample(name: str) -> str:
    return _page(name, sample(name))


def _page(name: str, data: Json) -> str:
    pages: dict[str, Callable[[], str]] = {
        "probe": lambda: probe_page(data),
        "clock": lambda: clock_page(data),
        "status": lambda: status_page(data, NOW),
        "bench": lambda: bench_page(data),
    }
    return pages[name]()


def hostile(data: Json, kept: set[str] = _KEPT) -> Json:
    """Return data with words in place of its own that try to break out of a page."""

    def replaced(value: object, key: str) -> object:
        if isinstance(value, dict):
            return {name: replaced(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [replaced(one, key) for one in value]
        return HOSTILE if isinstance(value, str) and key not in kept else value

    return {name: replaced(value, name) for name, value in data.items()}


class Page(HTMLParser):
    """A page taken apart; complains about elements that are not closed in order."""

    def __init__(self, content: str) -> None:
        """Read the page."""
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(content)
        self.close()
        assert self._open == []

    @property
    def ids(self) -> list[str]:
        """All ids."""
        return [value for _, name, value in self.attributes if name == "id"]

    @property
    def references(self) -> set[str]:
        """All ids that are referred to."""
        found: set[str] = set()
        for _, name, value in self.attributes:
            if name == "href" and value.startswith("#"):
                found.add(value.removeprefix("#"))
            if name == "aria-labelledby":
                found |= set(value.split())
            found |= set(_REFERENCE.findall(value))
        return found

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.handle_startendtag(tag, attrs)
        if tag not in _WITHOUT_END:
            self._open.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.elements[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    @override
    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self._open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        """Note what can be read."""
        if self._open and self._open[-1] != "style":
            self.text += data + (" " if data.strip() else "")
