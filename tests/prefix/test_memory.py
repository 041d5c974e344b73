"""The memory of what moves: one change proves nothing, and nothing is remembered for good."""

from collections.abc import Callable, Sequence
import json
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.prefix.layout import PrefixLayout
from custom_components.ollama_warm.prefix.memory import FORGET_AFTER_S

HOUR = 3600.0
ABOVE = ["You are a voice assistant.", "", "What there is:"]
BELOW = ["", "Be brief.", "- Ask back if you must."]
# A numbered series, as Home Assistant's own list, lists of the instructions, or plain lines.
SERIES = [
    "- names: Spot {}\n  domain: light\n  areas: Hall",
    "- names: {} Spot, Lamp {}\n  domain: light",
    "- names: 'Spot {}: left'\n  domain: light",
    "- names: Spot\n  domain: light\n  areas: Room {}",
    "- Spot {}",
    "- {}. Spot",
    "- Spot {} is in room {}",
    "Spot {} hangs in the hall.",
    "Room {}",
    "{}. Say nothing of it.",
    "Spot {:03} (at {}:00)",
    "\tSpot {}",
]
# What stood at a place, and what stands there from then on.
REPLACED: list[tuple[list[str], list[str]]] = [
    (["Only if asked."], ["Use the tools.", "Look first.", "- names: Lamp", "- names: TV"]),
    (["Only if asked."], ["Use the tools."]),
    (["Only if asked."], [f"Rule {number}." for number in range(40)]),
    (["Only if asked."], [f"- names: Lamp {number}" for number in range(40)]),
    (["Use the tools.", "- names: Lamp", "- names: TV"], ["Only if asked."]),
    (["- names: Lamp"], ["- names: Lamp\n  areas: Hall"]),
    (["- names: Lamp"], ["- names: Standard lamp"]),
    (["- names: Lamp"], ["No lamp."]),
    (["- Milk", "- Bread"], ["- Butter"]),
    (["It is 2026."], ["It is 2027."]),
    (["Today is Monday."], ["Today is Tuesday."]),
    (["", "One."], ["", "", "Two."]),
    (["One.", "Two.", "Three."], ["Three.", "Four."]),
    (["No one is home."], []),
    ([], ["No one is home."]),
]


def around(lines: Sequence[str], where: int = 3) -> list[str]:
    """Return a prompt with these lines at one of its places."""
    prompt = [*ABOVE, *BELOW]
    return [*prompt[:where], *lines, *prompt[where:]]


def words(lines: Sequence[str]) -> int:
    """Return how many of these lines are no devices, nor empty."""
    return sum(bool(line) and not line.startswith("- names:") for line in lines)


def started_again(layout: PrefixLayout) -> PrefixLayout:
    """Return the layout after a restart."""
    return PrefixLayout.from_dict(json.loads(json.dumps(layout.as_dict())))


@given(
    st.sampled_from(SERIES),
    st.integers(2, 60),
    st.data(),
    st.booleans(),
    st.booleans(),
)
def test_one_change_in_a_series(
    text: str,
    size: int,
    data: st.DataObject,
    asked: bool,  # noqa: FBT001 - drawn
    restarted: bool,  # noqa: FBT001 - drawn
) -> None:
    """After the next warm-up the prompt is as in a house where it had always been so."""
    numbers = list(range(1, size + 1))
    index = data.draw(st.integers(0, size - 1))
    place = data.draw(st.integers(0, 6))
    changed = numbers.copy()
    changed[index] = data.draw(st.integers(size + 1, 999))
    if data.draw(st.booleans()):
        changed.sort(key=str)
    before, after = (
        around([text.format(one, one) for one in series], place) for series in (numbers, changed)
    )
    layout = PrefixLayout()
    layout.rebase([before])
    layout.split(before, HOUR)
    if asked:
        layout.split(after, 2 * HOUR)
    if restarted:
        layout = started_again(layout)
    layout.rebase([after, after], 3 * HOUR)
    assert layout.stable == tuple(after)
    assert layout.split(after, 4 * HOUR).tail == ()


@given(st.sampled_from(SERIES[4:]), st.integers(2, 40), st.data(), st.integers(2, 5))
def test_what_moves_in_a_series_moves_alone(
    text: str, size: int, data: st.DataObject, times: int
) -> None:
    """A line that changes again and again moves, and its look-alikes, also new ones, rest."""
    index = data.draw(st.integers(0, size - 1))
    warmed = data.draw(st.lists(st.booleans(), min_size=times, max_size=times))
    render = around([text.format(number, number) for number in range(size)])
    layout = PrefixLayout()
    layout.rebase([render])
    for number, warm_up in enumerate(warmed):
        render = render.copy()
        render[3 + index] = text.format(1000 + number, number)
        if warm_up:
            layout.rebase([render], number * HOUR)
        assert render[3 + index] in layout.split(render, number * HOUR).tail or number == 0
    grown = [*render[: 3 + size], text.format(500, 500), *render[3 + size :]]
    layout.rebase([grown], times * HOUR)
    moving = grown[3 + index]
    assert layout.stable == tuple(line for line in grown if line != moving)
    split = layout.split(grown, times * HOUR)
    assert split.tail == split.learned == (moving,)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("where", [0, 3, 6])
@pytest.mark.parametrize(("old", "new"), REPLACED)
def test_one_replacement(old: list[str], new: list[str], where: int, asked: bool) -> None:  # noqa: FBT001 - a parameter
    """Whatever takes a place once rests there after the next warm-up, for good."""
    before, after = around(old, where), around(new, where)
    layout = PrefixLayout()
    layout.rebase([before])
    if asked:
        layout.split(after, HOUR)
    for at in range(2, 400, 40):
        layout.rebase([after, after], at * HOUR)
        layout = started_again(layout)
        assert layout.stable == tuple(after)
        assert layout.split(after, at * HOUR).learned == ()


@pytest.mark.parametrize("warmed", [False, True])
@pytest.mark.parametrize("where", [0, 3, 6])
@pytest.mark.parametrize(
    ("old", "new"), [one for one in REPLACED if words(one[1]) >= words(one[0])]
)
def test_what_contexts_say_is_not_learned(
    old: list[str],
    new: list[str],
    where: int,
    warmed: bool,  # noqa: FBT001 - a parameter
) -> None:
    """With new words come sentences about each room: none is taken for one that moves."""
    before, after = around(old, where), around(new, where)
    layout = PrefixLayout()
    layout.rebase([before, before], 0)
    if warmed:
        layout.rebase([[*after, "No timers here."], [*after, "This is the attic."]], HOUR)
    for number, room in enumerate(("hall", "kitchen", "study", "cellar", "bath")):
        split = layout.split([*after, f"This is the {room}."], HOUR + number)
        assert split.learned == (), room


@pytest.mark.parametrize("where", [0, 3, 6])
@pytest.mark.parametrize(("old", "new"), REPLACED)
def test_back_and_forth(old: list[str], new: list[str], where: int) -> None:
    """What is exposed, hidden and exposed again within a week is no clock."""
    before, after = around(old, where), around(new, where)
    layout = PrefixLayout()
    for at, render in enumerate((before, after, before, after)):
        layout.rebase([render], at * HOUR)
    numbers = {line for line in after if any(sign.isdigit() for sign in line)} - set(before)
    assert {line for line in after if line not in layout.stable} <= numbers | {
        "- names: Lamp\n  areas: Hall"
    }


DAYS, STATES = ["Monday", "Tuesday", "Wednesday", "Sunday"], ["open", "ajar", "shut"]
MOVING: dict[str, Callable[[int], list[str]]] = {
    "seconds": lambda at: [f"It is 10:00:{at:02}."],
    "a weekday": lambda at: [f"Today is {DAYS[at % 4]}."],
    "a reading": lambda at: [f"- names: Sensor\n  state: {20 + at / 2}"],
    "a state": lambda at: [f"- names: Door\n  state: {STATES[at % 3]}"],
    "the same twice": lambda at: [f"It is {at}.", f"It is {at}."],
    "an item": lambda at: [f"- Temperature: {20 + at}"],
    "words in an item": lambda at: [f"- The door is {STATES[at % 3]}"],
    "two lines": lambda at: [f"It is {at}.", f"{at} are on."],
    "one of two": lambda at: [f"{['Someone', 'No one'][at // 2 % 2]} is home."],
    "news": lambda at: [f"{'abcdefghij'[at % 10] * 5} {line}" for line in "xyz"[: 1 + at % 3]],
}


@pytest.mark.parametrize("where", [0, 1, 3, 6])
@pytest.mark.parametrize("warmed", ["always", "never", "later"])
@pytest.mark.parametrize("kind", MOVING)
def test_what_moves_costs_few_full_reads(kind: str, warmed: str, where: int) -> None:
    """Two for what is replaced line by line, however often it is warmed; not one per question."""
    layout = PrefixLayout()
    layout.rebase([around(MOVING[kind](0), where)])
    reads, last = 0, layout.stable
    for at in range(1, 40):
        render = around(MOVING[kind](at), where)
        if warmed == "always" or (warmed == "later" and at > 2):
            layout.rebase([render], at * HOUR)
        stable = layout.split(render, at * HOUR).stable
        reads, last = reads + (stable != last), stable
        layout = started_again(layout)
    # A block that grows and shrinks is learned line by line, and what comes back has to go twice.
    assert reads <= {"news": 8, "one of two": 6}.get(kind, 2)
    assert set(layout.stable) == {*ABOVE, *BELOW}


@pytest.mark.parametrize("kind", [kind for kind in MOVING if kind not in ("news", "one of two")])
def test_it_rests_again(kind: str) -> None:
    """A week after its last change what moved is a part of the prompt like any other."""
    layout = PrefixLayout()
    for at in range(5):
        layout.rebase([around(MOVING[kind](at))], at * HOUR)
    last = around(MOVING[kind](4))
    layout.rebase([last], 4 * HOUR + FORGET_AFTER_S - 1)
    assert layout.stable == (*ABOVE, *BELOW)
    layout.rebase([last], 4 * HOUR + FORGET_AFTER_S)
    assert layout.stable == tuple(last)
    assert not layout.memory.lines


def test_what_keeps_coming_and_going_rests_again() -> None:
    """A line that was lost twice rides until it has been there, or away, for a week."""
    layout = PrefixLayout()
    shown, hidden = around(["No one is home."]), around([])
    for at in range(4):
        layout.rebase([shown if at % 2 == 0 else hidden], at * HOUR)
    layout.rebase([shown], 4 * HOUR)
    assert layout.stable == tuple(hidden)
    assert layout.split(shown, 4 * HOUR).learned == ("No one is home.",)
    layout.rebase([hidden], FORGET_AFTER_S / 2)
    layout.rebase([shown], FORGET_AFTER_S)
    assert layout.stable == tuple(hidden)
    layout.rebase([shown], 2 * FORGET_AFTER_S)
    assert layout.stable == tuple(shown)


def test_devices_come_and_go_as_they_like() -> None:
    """Only people change Home Assistant's own list, so nothing in it moves."""
    layout = PrefixLayout()
    few, many = ([f"- names: Lamp {one}" for one in range(size)] for size in (3, 40))
    for at in range(9):
        render = around(few if at % 2 else many)
        layout.rebase([render], at * HOUR)
        assert layout.stable == tuple(render)
    for at in range(9):
        render = around([*few, f"- names: Lamp {at + 40}", f"- names: {'abc'[at % 3]}"])
        layout.rebase([render], at * HOUR)
        assert layout.stable == tuple(render)


def test_a_clock_that_was_put_back() -> None:
    """A change in what is now the future is one of today."""
    layout = PrefixLayout()
    for at in range(3):
        layout.rebase([around([f"It is {at}."])], 1e9 + at)
    layout.rebase([around(["It is 2."])], 0)
    layout.rebase([around(["It is 2."])], FORGET_AFTER_S)
    assert "It is 2." in layout.stable


@given(
    st.lists(
        st.lists(
            st.sampled_from(["canary", "canary 1", "canary 2", "- canary", "- names: canary"])
        ),
        max_size=8,
    )
)
def test_no_text_is_kept(renders: list[list[str]]) -> None:
    """Once a line is gone from the prompt, nothing of it is left."""
    layout = PrefixLayout()
    for at, render in enumerate(renders):
        layout.rebase([around(render), around([])], at)
        layout.split(around(render), at)
    layout.split(around([]), 99)
    assert "canary" not in json.dumps(layout.as_dict())
    assert "canary" not in repr(layout)


WHOLE = PrefixLayout()
for _at in range(3):
    WHOLE.rebase([around([f"It is {_at}."]), around([f"It is {_at}.", "In the hall."])], _at)
WHOLE.split(around([]), 3)
STORED = json.dumps(WHOLE.as_dict())


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Return the way to each value in a JSON value."""
    steps = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for step, inner in steps for found in _paths(inner, (*path, step)))]


ALIENS: list[Any] = [None, True, -1, 1.5, "x", [], [1], ["x"], {}, {"x": 1}, [[]], float("nan")]


@given(st.sampled_from(_paths(json.loads(STORED))[1:]), st.sampled_from(ALIENS))
def test_a_damaged_memory(path: tuple[Any, ...], alien: Any) -> None:  # noqa: ANN401 - JSON
    """What is not of its shape is refused at once, and whatever is read works on."""
    data = json.loads(STORED)
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = alien
    try:
        layout = PrefixLayout.from_dict(data)
    except KeyError, TypeError, ValueError:
        return
    layout.split(around(["It is 7."]), 8)
    layout.rebase([around(["It is 8."])], 8)
    json.dumps(layout.as_dict())


def test_the_earlier_shape_is_refused() -> None:
    """It held lines in clear."""
    old = {"stable": [], "skeletons": ["- names: #"], "gaps": {}, "losses": {"x": 1}}
    with pytest.raises(KeyError):
        PrefixLayout.from_dict(old)
