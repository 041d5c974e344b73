"""Segments: splitting loses nothing, and the common part is the longest."""

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.prefix import segments

LINES = st.lists(st.sampled_from(["", "a", "b", "- x", "  y", "\tz", "  ", "c 1"]), max_size=12)
WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


def test_an_entity_is_one_segment() -> None:
    """A list item takes its continuation lines with it, and ends at a blank line."""
    text = "Static Context:\n- names: Lamp\n  domain: light\n- names: TV\n\n    1.  Recognize"
    assert segments.split(text) == [
        "Static Context:",
        "- names: Lamp\n  domain: light",
        "- names: TV",
        "",
        "    1.  Recognize",
    ]


@given(st.one_of(st.text(max_size=200), LINES.map("\n".join)))
def test_joining_gives_the_text_back(text: str) -> None:
    """Not one byte is lost or added, whatever the text."""
    assert segments.join(segments.split(text)) == text


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        ([], ["a"], []),
        (["a", "c"], ["a", "b", "c"], [0, 2]),
        (["a", "a"], ["a", "b"], None),
        (["b", "a"], ["a", "b"], None),
    ],
)
def test_places(part: list[str], whole: list[str], expected: list[int] | None) -> None:
    """A part is found in order, or not at all."""
    assert segments.places(part, whole) == expected


def _length_of_longest(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence, the slow and certain way."""
    row = [0] * (len(second) + 1)
    for mine in first:
        above = row
        row = [0]
        for index, theirs in enumerate(second):
            row.append(above[index] + 1 if mine == theirs else max(row[index], above[index + 1]))
    return row[-1]


@given(WORDS, WORDS)
def test_common_is_a_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    """It is contained in both, and none is longer."""
    result = segments.common(first, second)
    assert segments.places(result, first) is not None
    assert segments.places(result, second) is not None
    assert len(result) == _length_of_longest(first, second)
