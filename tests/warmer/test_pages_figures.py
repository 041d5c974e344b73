"""Figures that any page can take in: the same each time, alone, and of the page's own colours."""

from importlib import resources
import os
from pathlib import Path
import re
import subprocess
import sys
import warnings

from hypothesis import given, strategies as st
import pytest

from ollama_warmer.pages.bars import Bar, bars, steps
from ollama_warmer.pages.drawing import Figure
from ollama_warmer.pages.labels import fitting, letters
from ollama_warmer.pages.paint import Paint
from tests.warmer.support.pages import NAMES, Page, page, sample

FIGURE = Figure(name="one", title="A title", description="A description.")
CSS = resources.files("ollama_warmer.pages").joinpath("page.css").read_text()
SETTINGS = "svg.fonttype: path\nfont.size: 30\naxes.facecolor: red\nhatch.linewidth: 9\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_the_same_each_time(name: str, tmp_path: Path) -> None:
    """In another process too, with another order of sets and a person's settings of the library."""
    made = page(name)
    assert page(name, sample(name)) == made
    (tmp_path / "matplotlibrc").write_text(SETTINGS)
    program = f"from tests.warmer.support.pages import page; print(page({name!r}), end='')"
    again = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "MATPLOTLIBRC": str(tmp_path)},
    )
    assert again.stdout.decode() == made


@pytest.mark.parametrize("name", NAMES)
def test_a_page_stands_alone(name: str) -> None:
    """No script, no address, and every id is there and there once."""
    made = page(name)
    read = Page(made)
    assert "http" not in made.replace("http-equiv", "")
    assert not {"script", "image", "img", "iframe", "object", "foreignobject"} & set(read.elements)
    assert read.elements["style"] == 1
    assert len(set(read.ids)) == len(read.ids)
    assert read.references <= set(read.ids)


@pytest.mark.parametrize("name", NAMES)
def test_figures_can_be_heard(name: str) -> None:
    """Each has a role, a title, a description, and a table with the numbers."""
    read = Page(page(name))
    figures = read.elements["svg"]
    assert figures
    assert read.attributes.count(("svg", "role", "img")) == figures
    assert read.elements["desc"] == figures
    # Each figure has its own table, and the page has one more at least.
    assert read.elements["details"] == figures
    assert read.elements["table"] > figures


@pytest.mark.parametrize("name", NAMES)
def test_the_page_decides_about_colours_and_letters(name: str) -> None:
    """Nothing in a figure has a colour of its own, and each paint that is used is in the styles."""
    made = page(name)
    figures = "".join(re.findall(r"<svg.*?</svg>", made, re.DOTALL))
    assert re.findall(r"#[0-9a-f]{6}", figures) == []
    assert "font-family" not in figures
    used = set(re.findall(r"var\(--[a-z]+\)", figures))
    assert used <= {paint.variable for paint in Paint}


def test_each_paint_has_a_light_and_a_dark_colour() -> None:
    """The style sheet defines all of them twice."""
    for paint in Paint:
        assert len(re.findall(rf"--{paint.name.lower()}: #", CSS)) == 2


def _colours(scheme: str) -> dict[str, str]:
    light, dark = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    chosen = light if scheme == "light" else dark
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", chosen))


def _contrast(one: str, other: str) -> float:
    def brightness(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((brightness(one), brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_told_from_its_ground(scheme: str) -> None:
    """By WCAG 2.2 AA: letters 4.5 to 1, shapes 3 to 1."""
    colours = _colours(scheme)
    for letter in ("ink", "soft"):
        for ground in ("page", "paper", "note", "alarm"):
            assert _contrast(colours[letter], colours[ground]) >= 4.5, (letter, ground)
    for shape in ("cached", "read", "unknown", "warm", "partly", "cold"):
        assert _contrast(colours[shape], colours["paper"]) >= 3, shape


def test_words_are_no_formulas() -> None:
    """Signs that the library would read as one, and letters that its font has not, are kept."""
    row = Bar(label="$x^{2}$ 😀 漢字 \\frac", prompt=10, cached=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = bars(FIGURE, [row], 10, "$")
    assert "$x^{2}$ 😀 漢字 \\frac</text>" in drawn


def test_unknown_is_drawn_as_unknown() -> None:
    """A missing count is neither nothing nor everything: an outline, and the word."""
    known = bars(FIGURE, [Bar(label="a", prompt=3, cached=0)], 3, "x")
    missing = bars(FIGURE, [Bar(label="a", prompt=3, cached=None)], 3, "x")
    assert "unknown / 3" in missing
    assert Paint.READ.variable in known
    assert Paint.READ.variable not in missing
    assert Paint.UNKNOWN.variable in missing


def test_an_aborted_call_is_marked() -> None:
    """It is no unknown count: no one counted, on purpose."""
    drawn = bars(FIGURE, [Bar(label="a", prompt=None, cached=None, aborted=True)], 3, "x")
    assert "aborted on purpose" in drawn
    assert "unknown" not in drawn.replace("--unknown", "")


def test_contradicting_counts_are_unknown() -> None:
    """More cached than there is says nothing."""
    assert Bar(label="a", prompt=3, cached=4).re_read is None


@given(st.integers(min_value=0, max_value=10**7))
def test_a_scale_has_a_few_round_numbers(limit: int) -> None:
    """From nothing up to the limit."""
    marks = [mark for mark, _ in steps(limit)]
    assert marks[0] == 0
    assert marks[-1] <= limit
    assert len(marks) <= 5
    assert limit < 5 or len(marks) >= 3


@given(st.text(), st.integers(min_value=0, max_value=400))
def test_labels_fit(label: str, width: int) -> None:
    """What is cut says so; letters of the Far East take two places."""
    shown = fitting(label, width)
    assert letters(shown) <= max(1, width / 7.8)
    assert shown.endswith("…") or len(shown) == len(label)
