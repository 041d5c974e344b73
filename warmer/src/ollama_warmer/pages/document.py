"""The parts that every page is made of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata, resources

from ollama_warmer.pages.markup import Child, Markup, element, join
from ollama_warmer.round.verdicts import Verdict

# The browser itself keeps the page from asking anyone for anything, and from running anything.
_NOTHING_FROM_ELSEWHERE = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_VERDICTS = {
    str(Verdict.WARM): "warm",
    str(Verdict.PARTLY_WARM): "partly",
    str(Verdict.COLD): "cold",
    str(Verdict.FAILED): "failed",
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A table's column: its heading, and whether it has numbers or long sentences."""

    heading: str
    number: bool = False
    long: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: what it is about, its columns, and its rows with a value for each of them."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Child]]

    @property
    def markup(self) -> Markup:
        """The table, in a box of its own that scrolls sideways where it is too wide."""
        head = element("tr", (_heading(column) for column in self.columns))
        body = (element("tr", map(_cell, self.columns, row)) for row in self.rows)
        whole = element(
            "table",
            element("caption", self.caption),
            element("thead", head),
            element("tbody", body),
        )
        # It can be scrolled with the keyboard only if the keyboard can reach it.
        return element(
            "div", whole, class_="scroll", role="region", aria_label=self.caption, tabindex=0
        )


def columns(*headings: str, numbers: Iterable[str] = (), long: Iterable[str] = ()) -> list[Column]:
    """Return columns of words, but for those that are named among the numbers or the long ones."""
    right, wide = set(numbers), set(long)
    return [Column(heading=one, number=one in right, long=one in wide) for one in headings]


def _heading(column: Column) -> Markup:
    style = "number" if column.number else None
    return element("th", column.heading, scope="col", class_=style)


def _cell(column: Column, value: Child) -> Markup:
    style = "number" if column.number else "long" if column.long else None
    return element("td", value, class_=style)


def page(title: str, eyebrow: str, facts: Iterable[tuple[str, Child]], *body: Child) -> str:
    """Return a whole page that needs nothing beside itself.

    Args:
        title: The heading.
        eyebrow: What kind of page it is, above the heading.
        facts: Names and values in a line below it.
        body: What follows.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_NOTHING_FROM_ELSEWHERE),
        element("meta", name="referrer", content="no-referrer"),
        # Without an icon of its own a browser asks the server that the page may be on for one.
        element("link", rel="icon", href="data:,"),
        element("title", f"{title} · {eyebrow}"),
        element("style", Markup(resources.files(__package__).joinpath("page.css").read_text())),
    )
    top = element(
        "header",
        element("p", eyebrow, class_="eyebrow"),
        element("h1", title),
        element(
            "dl",
            (element("div", element("dt", name), element("dd", value)) for name, value in facts),
            class_="facts",
        ),
    )
    foot = f"Written by ollama-warmer {metadata.version('ollama-warmer')}. "
    foot += "Tokens are the model server's own counts; re-read is prompt minus cached."
    whole = element("body", top, element("main", body), element("footer", element("p", foot)))
    return f"<!DOCTYPE html>\n{element('html', head, whole, lang='en')}\n"


def section(title: str, note: str | None, *body: Child) -> Markup:
    """Return a part of a page, with a sentence of what it shows."""
    return element(
        "section", element("h2", title), element("p", note) if note else None, join(body)
    )


def figure(title: Child, about: Child, drawn: Markup, table: Table) -> Markup:
    """Return a figure with its heading, a sentence, and the same numbers as a table below."""
    return element(
        "figure",
        element("h3", title),
        element("p", about, class_="about") if about else None,
        drawn,
        element("details", element("summary", "The numbers"), table.markup),
        class_="figure",
    )


def plain(title: Child, about: Child) -> Markup:
    """Return what stands in a figure's place when there is nothing to draw."""
    return element(
        "div", element("h3", title), element("p", about, class_="about"), class_="figure"
    )


def tiles(values: Iterable[tuple[str, str, str]]) -> Markup:
    """Return the figures that matter most: a label, a value, a note for each."""
    return element(
        "div",
        (
            element(
                "div",
                element("div", label, class_="label"),
                element("div", value, class_="value"),
                element("div", note, class_="note") if note else None,
                class_="tile",
            )
            for label, value, note in values
        ),
        class_="tiles",
    )


def tone(verdict: str) -> str:
    """Return the style of a verdict; a word that is none of them is unknown."""
    return _VERDICTS.get(verdict, "unknown")


def severity(verdict: str) -> int:
    """Return the place of a verdict from the best to the worst; unknown words are unknown."""
    known = [str(one) for one in Verdict]
    return known.index(verdict if verdict in known else str(Verdict.UNKNOWN))


def badge(verdict: str) -> Markup:
    """Return a verdict with a mark of its own shape."""
    return element("span", verdict, class_=f"badge {tone(verdict)}")


def verdict(name: str, lead: Child, *body: Child, style: str = "unknown") -> Markup:
    """Return what a page has to say in the first place."""
    return element(
        "div",
        element("p", name, class_="name"),
        element("p", lead, class_="lead"),
        join(body),
        class_=f"card verdict {style}",
    )


def notice(title: str, *body: Child, alarm: bool = False) -> Markup:
    """Return something to know before the rest is read."""
    style = "notice alarm" if alarm else "notice"
    return element("section", element("h2", title), join(body), class_=style)


def paragraphs(*sentences: Child) -> Markup:
    """Return a paragraph for each; none is left out."""
    return join(element("p", one) for one in sentences if one)


def items(entries: Iterable[Child]) -> Markup:
    """Return a list."""
    return element("ul", (element("li", one) for one in entries))


def legend(*entries: tuple[str, str]) -> Markup:
    """Return what the shapes of the figures mean: the style of a swatch and its words."""
    return element(
        "ul",
        (
            element("li", element("span", class_=f"swatch {style}", aria_hidden="true"), words)
            for style, words in entries
        ),
        class_="legend",
    )


def verdict_legend() -> Markup:
    """Return the marks of all verdicts, from the best to the worst."""
    return element("ul", (element("li", badge(str(one))) for one in Verdict), class_="legend")


def grid(*figures: Child) -> Markup:
    """Return figures of the same height beside and below each other, as many in a row as fit."""
    return element("div", figures, class_="grid")


def stacks(*figures: Child) -> Markup:
    """Return figures of different heights one below the other, in as many stacks as fit."""
    return element("div", figures, class_="columns")


def pair(*cards: Child) -> Markup:
    """Return two cards, side by side where there is room."""
    return element("div", (element("div", card, class_="card") for card in cards), class_="pair")
