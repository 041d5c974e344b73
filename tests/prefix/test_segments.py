"""Segments: splitting loses nothing, and the common part is the longest that work allows."""

from collections.abc import Callable, Sequence
import random
import sys
from types import CodeType
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.prefix import segments
from custom_components.ollama_warm.prefix.layout import tail_text
from homeassistant.util import yaml

LINES = st.lists(st.sampled_from(["", "a", "b", "- x", "  y", "\tz", "  ", "c 1"]), max_size=12)
WORDS = st.lists(st.sampled_from("abcd"), max_size=12)
NUMBERS = st.lists(st.integers(0, 40).map(str), max_size=30)
HOSTILE = st.one_of(
    st.lists(
        st.sampled_from([
            "\n", "\n\n", "\r\n", "\x85", "\u2028", "\u2029", "\t", " ", "  ", "'", "''", '"', "\\",
            '\\"', "- ", "- names: ", "Context:", ": ", ": null", "#", "|", ">", "? ", "&a", "*a",
            "!", "%", "@", "`", "[", "{", "---", "...", "~", "\u202e", "\u2066", "\ufeff", "\x00",
            "\x1b", "Lamp", "Küche", "😀", "12:30", "yes", "word " * 30, "w" * 100, "Ignore this.",
        ])
    ).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
)  # fmt: skip
ENTITIES = st.lists(
    st.fixed_dictionaries(
        {"names": HOSTILE, "domain": st.just("light")}, optional={"areas": HOSTILE}
    ),
    min_size=1,
    max_size=4,
)
UNIQUE = st.lists(st.integers(0, 40).map(str), max_size=40, unique=True)


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


@given(ENTITIES, st.sampled_from(["", "Be brief.", "    1.  Recognize", "'", "Don't.\n\n  It's."]))
def test_an_entity_is_one_segment_whatever_its_names(
    entities: list[dict[str, str]], after: str
) -> None:
    """As Home Assistant dumps them, no line of a name stands for itself, and none swallows more."""
    listed = [yaml.dump([entity]).removesuffix("\n") for entity in entities]
    text = f"Static Context:\n{yaml.dump(entities)}\n{after}"
    assert segments.split(text) == ["Static Context:", *listed, "", *after.split("\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 'Tis the season.\n\n  It's late.", ["- 'Tis the season.", "", "  It's late."]),
        ("- Say 'yes\n\n  or no'", ["- Say 'yes", "", "  or no'"]),
        ('- "Yes" is "ja"\n\n  too"', ['- "Yes" is "ja"', "", '  too"']),
        ("- 'never closed\n\n  here\n- b'", ["- 'never closed", "", "  here", "- b'"]),
        ("- a: 'b\n\nc'", ["- a: 'b", "", "c'"]),
        ("'a\n\n  b'", ["'a", "", "  b'"]),
        ("- 'a\n\n  b'\n\n  c", ["- 'a\n\n  b'", "", "  c"]),
        ('- - a: "b\\\n\n  \\"c"\n  d: e', ['- - a: "b\\\n\n  \\"c"\n  d: e']),
    ],
)
def test_only_yaml_quotes_hold_blank_lines(text: str, expected: list[str]) -> None:
    """A person's apostrophe in a list of the instructions begins nothing."""
    assert segments.split(text) == expected


@pytest.mark.parametrize(
    "line", ["- a: 'b", "- 'a\n", '- a\n  b: "c\n\n', "- ''\n  '''\n", '- "\\\n']
)
@pytest.mark.parametrize("after", ["", "\n  b", '\n\n  b: "c', "\n  b: 'c", "\n  ''", '\n  "'])
def test_quotes_that_never_end_cost_one_look(line: str, after: str) -> None:
    """Four times as long a text takes about four times as many steps, wherever it repeats."""
    makers: tuple[Callable[[int], str], ...] = (
        lambda count: f"{line}{after}\n" * count,
        lambda count: line + after * count,
    )
    for maker in makers:
        small, large = (_steps(segments.split, maker(count)) for count in (500, 2000))
        assert large < 6 * small + 100


def test_a_name_in_the_tail_is_whole() -> None:
    """No line of a name becomes a sentence of the context."""
    item = yaml.dump([{"names": "Lamp\n\nIgnore\nall", "domain": "light"}]).removesuffix("\n")
    tail = tail_text(segments.split(f"You are in the kitchen.\n{item}\n\nBe brief."))
    assert tail == f"Context:\nYou are in the kitchen.\nBe brief.\nAdditional devices:\n{item}"


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


@given(st.one_of(st.tuples(WORDS, WORDS), st.tuples(UNIQUE, UNIQUE), st.tuples(NUMBERS, NUMBERS)))
def test_common_is_a_longest_common_subsequence(both: tuple[list[str], list[str]]) -> None:
    """It is contained in both, and none is longer."""
    first, second = both
    result = segments.common(first, second)
    assert segments.places(result, first) is not None
    assert segments.places(result, second) is not None
    assert len(result) == _length_of_longest(first, second)


@given(st.data(), st.sampled_from([("",), ("", "- names: Lamp"), ()]))
def test_anchors_find_the_longest_in_a_list_with_equal_lines(
    data: st.DataObject, filler: tuple[str, ...]
) -> None:
    """Where too many pairs are equal, as much is kept as stayed, items and what is behind them."""
    kept = data.draw(st.lists(st.sampled_from(["stays", "goes", "comes"]), max_size=30))
    first = [s for n, w in enumerate(kept) if w != "comes" for s in (f"- {n}", *filler)]
    second = [s for n, w in enumerate(kept) if w != "goes" for s in (f"- {n}", *filler)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_MOST_PAIRS", 0)
        result = segments.common(first, second)
    assert segments.places(result, first) is not None
    assert segments.places(result, second) is not None
    assert len(result) >= kept.count("stays") * (1 + len(filler))
    if not filler:
        assert len(result) == _length_of_longest(first, second)


@given(st.one_of(st.tuples(WORDS, WORDS), st.tuples(NUMBERS, NUMBERS)), st.integers(0, 1))
def test_common_without_time_to_look_is_a_common_subsequence(
    both: tuple[list[str], list[str]], levels: int
) -> None:
    """Whatever limit is met, the result is contained in both, and never empty without need."""
    first, second = both
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_MOST_PAIRS", 0)
        patch.setattr(segments, "_MOST_LEVELS", levels)
        result = segments.common(first, second)
    assert segments.places(result, first) is not None
    assert segments.places(result, second) is not None
    assert bool(result) == bool(set(first) & set(second))


def _loop(count: int, *, of: int, new: bool = False) -> list[str]:
    """Return what a template's loop leaves: items with `of` equal lines behind each."""
    return [s for n in range(count) for s in (f"- {n}{'b' * new}", *[""] * of)]


def _dice(seed: int) -> random.Random:
    """Return dice that fall the same each time."""
    return random.Random(seed)  # noqa: S311 - no secret


def _any(names: int) -> Callable[[int], tuple[list[str], list[str]]]:
    """Return a maker of two lists of `names` different names in no order."""

    def made(count: int) -> tuple[list[str], list[str]]:
        pick = _dice(count).choice
        words = [f"- names: Lamp {n}" for n in range(names)]
        return [pick(words) for _ in range(count)], [pick(words) for _ in range(count)]

    return made


HARD: dict[str, Callable[[int], tuple[list[str], list[str]]]] = {
    "blank lines of a loop, all items new": lambda n: (_loop(n, of=1), _loop(n, of=1, new=True)),
    "blank lines of a loop, half gone": lambda n: (_loop(n, of=2), _loop(n, of=2)[: n // 2]),
    "blank lines, one more at each end": lambda n: (["a", *[""] * n, "b"], ["c", *[""] * n, "d"]),
    "one name": lambda n: (["a", *["- names: Lamp"] * n], [*["- names: Lamp"] * (n - 9), "b"]),
    "two names": _any(2),
    "many names": _any(97),
    "two of each": lambda n: (
        [str(i // 2) for i in range(n)],
        [str(i // 2) for i in range(n)][::-1],
    ),
    "unique, in no order": lambda n: (_loop(n, of=0), _dice(n).sample(_loop(n, of=0), n)),
    "unique, turned around": lambda n: (_loop(n, of=0), _loop(n, of=0)[::-1]),
    "anchors within anchors": lambda n: (
        [s for i in range(n // 4) for s in (f"- {i}", "x", f"y{i % 50}", "x")],
        [s for i in range(n // 4) for s in (f"- {i}", f"y{(i + 1) % 50}", "x", "x")],
    ),
}


def _steps(call: Callable[..., object], *lists: Sequence[str]) -> int:
    """Return how many lines of the module run in a call."""
    steps = 0

    def on_line(code: CodeType, _: int) -> Any:  # noqa: ANN401 - a constant or None
        nonlocal steps
        if code.co_filename != segments.__file__:
            return sys.monitoring.DISABLE
        steps += 1
        return None

    tool = next(number for number in range(6) if sys.monitoring.get_tool(number) is None)
    sys.monitoring.use_tool_id(tool, "steps")
    sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, on_line)
    sys.monitoring.set_events(tool, sys.monitoring.events.LINE)
    try:
        call(*lists)
    finally:
        sys.monitoring.set_events(tool, 0)
        sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, None)
        sys.monitoring.free_tool_id(tool)
    return steps


@pytest.mark.parametrize("shape", HARD)
def test_the_work_for_a_common_part_grows_with_the_house_only(shape: str) -> None:
    """Four times as many segments take about four times as many steps, however equal they are."""
    small, large = (_steps(segments.common, *HARD[shape](count)) for count in (1000, 4000))
    assert large < 6 * small
    assert large < 150 * 4000


@pytest.mark.parametrize("shape", HARD)
def test_places_are_found_in_one_pass(shape: str) -> None:
    """What runs with every question looks at each segment once."""
    first, second = HARD[shape](1000)
    assert _steps(segments.places, first, second) < 10 * (len(first) + len(second))


@pytest.mark.parametrize("count", [1, 3, 30])
@pytest.mark.parametrize("size", [200, 2000])
def test_anchors_that_moved_cost_no_equal_lines(size: int, count: int) -> None:
    """Whatever few unique lines do among many equal ones, the equal ones are kept."""
    lists: list[list[str]] = []
    for step in (7919, 104_729):
        lists.append(["- names: Lamp"] * size)
        for number in range(count):
            lists[-1].insert((number + 1) * step % size, f"- names: {number}")
    first, second = lists
    assert len(segments.common(first, second)) >= size - count * 2
    assert (
        len(segments.common(first, first[: size // 3] + first[size // 3 + 1 :])) == len(first) - 1
    )
    block = [f"- names: {number}" for number in range(count)]
    equal = ["- names: Lamp"] * size
    assert len(segments.common([*block, *equal], [*equal, *block])) >= size - 2 * count


@given(
    st.lists(st.sampled_from("abc"), min_size=300, max_size=600),
    st.lists(st.tuples(st.integers(0, 300), st.sampled_from("abcd ")), max_size=20),
)
def test_few_changes_among_lines_that_repeat(
    first: list[str], changes: list[tuple[int, str]]
) -> None:
    """As much is kept as stayed, though each line is there a hundred times."""
    second = first.copy()
    for place, segment in changes:
        second[place : place + 1] = [] if segment == " " else [second[place], segment]
    gone = sum(segment == " " for _, segment in changes)
    found = segments.common(first, second)
    assert segments.places(found, first) is not None
    assert segments.places(found, second) is not None
    assert len(found) >= len(first) - gone
