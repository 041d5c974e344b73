"""The README, taken apart."""

from collections.abc import Iterator
import re
from typing import Any

from homeassistant.util.yaml import parse_yaml

from .repository import ROOT

README = (ROOT / "README.md").read_text()
CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(heading: str) -> str:
    """Return what stands in the README under a heading, with all that is below it."""
    # Comments in code look like headings.
    plain = CODE.sub(lambda code: " " * len(code[0]), README)
    found = re.search(rf"^(#+) {re.escape(heading)}\n", plain, re.MULTILINE)
    assert found, heading
    end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.MULTILINE).search(plain, found.end())
    return README[found.end() : end.start() if end else len(README)]


def examples() -> Iterator[dict[str, Any]]:
    """Yield the automations in the README."""
    for language, code in CODE.findall(section("Examples")):
        if language == "yaml":
            automation: Any = parse_yaml(code)
            yield automation
