"""Whatever comes from elsewhere is shown as the words that it is."""

from hypothesis import given, strategies as st
import pytest

from ollama_warmer.pages.markup import Markup, element, join, text, words
from tests.warmer.support.pages import HOSTILE, NAMES, Page, hostile, page, sample

_ELEMENTS = {
    *("html", "head", "meta", "link", "title", "style", "body", "header", "main", "footer"),
    *("section", "div", "h1", "h2", "h3", "p", "ul", "li", "dl", "dt", "dd", "b", "br", "span"),
    *("code", "table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("figure", "svg", "desc", "g", "defs", "path", "rect", "text", "use", "clippath", "pattern"),
}


def test_words_are_escaped_and_markup_is_not() -> None:
    """In text and in attributes; nothing is nothing, and lists are taken apart."""
    made = element("p", "a<b", ["&", None, Markup("<br>")], 3, title='"x"', hidden=True, id=None)
    assert made == '<p title="&quot;x&quot;" hidden>a&lt;b&amp;<br>3</p>'
    assert element("meta", http_equiv="x") == '<meta http-equiv="x">'
    assert join(["<", Markup("<b>")]) == "&lt;<b>"


@given(st.text())
def test_words_come_back_as_they_were(anything: str) -> None:
    """A reader of the page sees the same words, but for marks that cannot be shown."""
    read = Page(element("p", anything, title=anything))
    assert read.attributes == [("p", "title", words(anything))]
    assert read.elements == {"p": 1}
    assert read.text.rstrip() == words(anything).rstrip()
    text(anything).encode()


@pytest.mark.parametrize("name", NAMES)
def test_hostile_words_stay_words(name: str) -> None:
    """No element, attribute or address that is not the page's own; the figures are no way in."""
    made = page(name, hostile(sample(name)))
    read = Page(made)
    assert set(read.elements) <= _ELEMENTS
    assert not [one for one in read.attributes if one[1].startswith("on") or one[1] == "src"]
    assert {value for _, attribute, value in read.attributes if attribute == "href"} <= {
        "data:,",
        *(f"#{one}" for one in read.ids),
    }
    assert "<script>alert(1)</script>" in read.text
    assert not set(made) & set("\x00\x1b\u202e\ud800")


@pytest.mark.parametrize("name", NAMES)
def test_hostile_words_in_every_place(name: str) -> None:
    """Also where a page expects one of a few words, such as a verdict or a scenario."""
    kept = {"at", "now", "verdict"} if name == "status" else set()
    assert set(Page(page(name, hostile(sample(name), kept=kept))).elements) <= _ELEMENTS


def test_a_figure_shows_hostile_words_too() -> None:
    """A target's name is the figure's title, and a scenario's stands in the figure itself."""
    rows = sample("bench")
    for row in rows["rows"]:
        row["scenario"] = HOSTILE
    made = page("bench", rows)
    figure = made[made.index("<svg") : made.index("</svg>")]
    assert "&lt;script&gt;alert(1)&lt;/" in figure
    assert "<script" not in made
