"""Turns what the plotting library writes into a figure that may stand inside an HTML page."""

from collections.abc import Iterator, Mapping
import re
from xml.etree import ElementTree as ET

from ollama_warmer.pages.markup import Markup, element, words
from ollama_warmer.pages.paint import Paint

_KEPT = frozenset({"svg", "g", "defs", "path", "rect", "text", "use", "clipPath", "pattern"})
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COLOURS = {paint.value: paint.variable for paint in Paint}
_COLOUR = re.compile("|".join(_COLOURS))


def inline(
    drawn: str, name: str, title: str, description: str, labels: Mapping[str, str]
) -> Markup:
    """Return a figure for a page: of the page's colours and font, with a name and a description.

    Nothing of the library's own style, metadata and addresses is left, so that the figure changes
    nothing of the page, asks for nothing and is the same whenever it is drawn.

    Args:
        drawn: The library's SVG.
        name: What its ids begin with, because ids must not appear twice in a page.
        title: What the figure shows, for those who cannot see it.
        description: The same in more words.
        labels: The words in place of each stand-in that was drawn.
    """
    root = ET.fromstring(drawn)  # noqa: S314 - drawn here, no words of anyone else are in it
    _, _, width, height = root.attrib["viewBox"].split()
    _clean(root)
    used = set(_references(root))
    for part in root.iter():
        _tidy(part, name, used)
        if part.tag == "text" and part.text and part.text in labels:
            part.text = words(labels[part.text])
    inside = "".join(ET.tostring(part, encoding="unicode") for part in root)
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        Markup(re.sub(r"\s+", " ", inside)),
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        style=f"--width:{width}px",
    )


def _clean(part: ET.Element) -> None:
    """Drop namespaces, and every element that does not draw."""
    part.tag = part.tag.rpartition("}")[2]
    part.tail = None
    for child in list(part):
        _clean(child)
        invisible = child.tag == "path" and child.get("style") == "fill: none"
        empty = child.tag in {"g", "defs"} and not len(child)
        if child.tag not in _KEPT or empty or invisible:
            part.remove(child)


def _references(root: ET.Element) -> Iterator[str]:
    for part in root.iter():
        for attribute, value in part.attrib.items():
            if attribute.endswith("href"):
                yield value.removeprefix("#")
            yield from _REFERENCE.findall(value)


def _tidy(part: ET.Element, name: str, used: set[str]) -> None:
    """Rewrite an element's attributes: own ids, the page's colours, no font."""
    kept = {}
    for attribute, value in part.attrib.items():
        plain = attribute.rpartition("}")[2]
        if plain == "id":
            if value in used:
                kept["id"] = f"{name}-{value}"
        elif plain == "href":
            kept["href"] = f"#{name}-{value.removeprefix('#')}"
        elif not value.startswith("rotate(-0 "):
            own = _REFERENCE.sub(rf"url(#{name}-\1)", value)
            kept[plain] = _COLOUR.sub(lambda found: _COLOURS[found[0]], own)
    if kept.get("style"):
        kept["style"] = re.sub(r"font-family:[^;]*;?\s*", "", kept["style"])
    if part.text is not None and not part.text.strip():
        part.text = None
    part.attrib.clear()
    part.attrib.update(kept)
