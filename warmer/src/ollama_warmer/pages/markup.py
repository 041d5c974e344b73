"""HTML made of elements, so that whatever comes from elsewhere is escaped without a thought."""

from collections.abc import Iterable
from html import escape

# Elements that have no end tag, as the HTML standard lists them.
_VOID = frozenset({"br", "link", "meta"})


class Markup(str):
    """Text that is HTML already. Everything else is taken for words and escaped."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
Attribute = str | int | bool | None


def words(text: object) -> str:
    """Return text on one line without what cannot be shown: control marks, lone surrogates.

    Marks that turn the direction of writing are among them: they could rewrite a whole line.
    """
    return "".join(mark if mark.isprintable() else " " for mark in str(text))


def text(content: object) -> Markup:
    """Return words as HTML that shows exactly these words."""
    return Markup(escape(words(content)))


def join(children: Iterable[Child]) -> Markup:
    """Return children one after the other; words among them are escaped, none is nothing."""
    return Markup("".join(map(_rendered, children)))


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element.

    Args:
        name: The element's name, from the program and never from data.
        children: What is in it: markup as it is, words escaped, none left out, iterables in order.
        attributes: Their names without a last underscore (`class_`), with hyphens for the others
            (`aria_label`). True stands for an attribute without a value; false and none for none.
    """
    start = "".join([name, *(_attribute(*both) for both in attributes.items())])
    return Markup(f"<{start}>" if name in _VOID else f"<{start}>{join(children)}</{name}>")


def _rendered(child: Child) -> Markup:
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    return text(child) if isinstance(child, str | int) else join(child)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{text(value)}"'
