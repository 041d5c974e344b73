"""The layout: nothing is lost, what moves is learned, what is gone is gone."""

from collections import Counter
from datetime import datetime, timedelta
import json

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.prefix import segments
from custom_components.ollama_warm.prefix.layout import PrefixLayout, tail_text

HOUSE = ["You are a voice assistant.", "", "Devices:", "- names: Lamp", "- names: TV", "Be brief."]
RENDERS = st.lists(
    st.lists(
        st.sampled_from(["", "one", "two", "at 12:00", "at 12:01", "- x", "- y 1", "- y 2"]),
        max_size=10,
    ),
    min_size=1,
    max_size=8,
)


def _clock(at: int, where: int = 0, text: str = "It is {:%H:%M:%S}.") -> list[str]:
    """Return the house's prompt with a clock in it."""
    moment = datetime(2026, 11, 30, 7, 0) + timedelta(seconds=at)  # noqa: DTZ001 - no zone matters
    render = list(HOUSE)
    render.insert(where, text.format(moment))
    return render


@given(RENDERS, st.booleans())
def test_each_segment_once(renders: list[list[str]], rebase: bool) -> None:  # noqa: FBT001 - drawn
    """Stable part and tail together are every segment of the render exactly once, in order."""
    layout = PrefixLayout()
    for number, render in enumerate(renders):
        if rebase and number % 2 == 0:
            layout.rebase(renders[: number + 1])
        split = layout.split(render)
        assert Counter(split.stable) + Counter(split.tail) == Counter(render)
        assert segments.places(split.stable, render) is not None
        assert segments.places(split.tail, render) is not None
        assert layout.stable == split.stable


@given(RENDERS)
def test_a_restart_changes_nothing(renders: list[list[str]]) -> None:
    """A stored layout goes on as the one that was never stopped, byte for byte."""
    layout = PrefixLayout()
    layout.rebase(renders)
    for render in renders:
        layout.split(render)
    stored = PrefixLayout.from_dict(json.loads(json.dumps(layout.as_dict())))
    assert stored.stable == layout.stable
    stored.rebase(renders)
    layout.rebase(renders)
    assert stored.stable == layout.stable


def test_rooms_share_what_they_have_in_common() -> None:
    """What is said in one room only is in no room's stable part."""
    layout = PrefixLayout()
    kitchen, bath = [*HOUSE, "You are in the kitchen."], [*HOUSE, "You are in the bathroom."]
    assert layout.rebase([HOUSE, kitchen, bath])
    assert layout.split(kitchen).tail == ("You are in the kitchen.",)
    assert layout.split(bath).stable == layout.split(HOUSE).stable == tuple(HOUSE)
    assert not layout.rebase([HOUSE, kitchen, bath])


def test_a_clock_costs_two_full_reads_in_its_life() -> None:
    """A line that keeps being replaced does not return, at any later rebase or restart."""
    layout = PrefixLayout()
    layout.rebase([_clock(0)])
    assert layout.split(_clock(1)).lost == ("It is 07:00:00.",)
    stable = layout.stable
    for at in range(2, 40):
        layout.rebase([_clock(at)])
        assert layout.split(_clock(at + 1)).stable == stable
        layout = PrefixLayout.from_dict(layout.as_dict())


def test_a_weekday_is_known_by_its_place() -> None:
    """Words that take each other's place move too, though no number says so."""
    text = "Today is {:%A}."
    for where in (0, 1, len(HOUSE)):
        layout = PrefixLayout()
        layout.rebase([_clock(0, where, text)])
        layout.rebase([_clock(86400, where, text)])
        layout.rebase([_clock(2 * 86400, where, text)])
        for day in range(3, 20):
            assert not layout.rebase([_clock(day * 86400, where, text)])
        assert layout.stable == tuple(HOUSE)


def test_a_new_device_waits_in_the_tail() -> None:
    """It rides with the question until the next rebase, and costs nothing else."""
    layout = PrefixLayout()
    layout.rebase([HOUSE])
    grown = [*HOUSE[:4], "- names: New lamp", *HOUSE[4:]]
    split = layout.split(grown)
    assert (split.stable, split.tail) == (tuple(HOUSE), ("- names: New lamp",))
    assert layout.rebase([grown])
    assert layout.split(grown).tail == ()


def test_an_unexposed_device_is_gone_at_once_and_may_come_back() -> None:
    """Exposure is a permission: the very next turn no longer names the device."""
    layout = PrefixLayout()
    layout.rebase([HOUSE])
    without = [s for s in HOUSE if s != "- names: TV"]
    assert layout.split(without).lost == ("- names: TV",)
    assert "- names: TV" not in layout.stable
    layout.rebase([HOUSE])
    assert "- names: TV" in layout.stable


def test_a_renamed_device_rests_again() -> None:
    """One device in another's place is no clock."""
    layout = PrefixLayout()
    layout.rebase([HOUSE])
    renamed = ["- names: Television" if s == "- names: TV" else s for s in HOUSE]
    assert layout.split(renamed).lost == ("- names: TV",)
    layout.rebase([renamed])
    assert "- names: Television" in layout.stable


def test_a_reading_in_a_device_list_moves() -> None:
    """An item that keeps its name, and of which the rest changes again and again, moves."""
    layout = PrefixLayout()
    for state in ("20.5", "21.0", "21.5"):
        layout.rebase([[*HOUSE, f"- names: Sensor\n  state: {state}"]])
    assert layout.stable == tuple(HOUSE)


def test_what_keeps_coming_and_going_stays_in_the_tail() -> None:
    """A conditional line that vanished twice is not taken into the stable part again."""
    layout = PrefixLayout()
    vacation = ["No one is home.", *HOUSE]
    for _ in range(2):
        layout.rebase([vacation])
        layout.split(HOUSE)
    layout.rebase([vacation])
    assert layout.stable == tuple(HOUSE)


def test_two_lines_that_move_together() -> None:
    """A block of words that is replaced is left out whole, and lines added later rest."""
    layout = PrefixLayout()
    days = [
        ["It is Monday", "and sunny."],
        ["It is Tuesday", "and cold."],
        ["It is Friday", "and wet."],
    ]
    layout.rebase([days[0] + HOUSE])
    layout.rebase([days[1] + HOUSE])
    layout.rebase([days[2] + HOUSE])
    assert layout.stable == tuple(HOUSE)
    edited = ["One.", "Two.", "Three.", *HOUSE]
    layout.rebase([edited])
    layout.rebase([edited])
    assert layout.stable == tuple(edited)


def test_a_new_line_beside_a_lost_one_is_not_its_replacement() -> None:
    """What already rode in the tail has replaced nothing."""
    layout = PrefixLayout()
    layout.rebase([HOUSE])
    beside = [*HOUSE[:4], "- names: New lamp", *HOUSE[4:]]
    layout.split(beside)
    layout.split([s for s in beside if s != "- names: TV"])
    assert not layout.memory.lines


def test_memory_is_bounded() -> None:
    """A prompt in which everything moves does not fill the disk, and what moves is kept."""
    layout = PrefixLayout()
    layout.rebase([["a", "It is 0.", "b"]])
    for at in range(1, 4):
        layout.split(["a", f"It is {at}.", "b"])
    for at in range(3):
        layout.rebase([["a", "It is 4.", "b", *(f"{line}: {at}" for line in "x" * 300), "c"]])
        layout.rebase([["a", "It is 5.", "b", *(f"{line} {at}" for line in range(300)), "c"]])
    assert len(layout.memory.lines) <= 200
    assert len(layout.memory.losses) <= 200
    assert "It is 5." not in layout.stable
    for at in range(7_000):
        layout.split(["a", f"{at} is new", "b"])
    assert len(layout.memory.riding) <= 5_001


def test_a_device_where_a_line_moved_rests() -> None:
    """Only lines are left out of a place where lines took turns."""
    layout = PrefixLayout()
    for line in ("It rains.", "The sun is out.", "It snows."):
        layout.rebase([["Devices:", line, "Be brief."]])
    assert list(layout.stable) == ["Devices:", "Be brief."]
    layout.rebase([["Devices:", "- names: Lamp", "Be brief."]])
    assert list(layout.stable) == ["Devices:", "- names: Lamp", "Be brief."]


def test_a_tail_reads_well() -> None:
    """Sentences first, under a heading, then devices under theirs."""
    assert tail_text(["", "You are in the kitchen.", "- names: New lamp", "Be kind."]) == (
        "Context:\nYou are in the kitchen.\nBe kind.\nAdditional devices:\n- names: New lamp"
    )
    assert tail_text(["", " "]) == ""


@pytest.mark.parametrize("item", ["- Temperature: 21", "- ", "- name: It", "- **Milk**\n  2 l"])
def test_a_list_of_the_instructions_is_no_device(item: str) -> None:
    """What moves in it is sent in its place among the sentences."""
    tail = [item, "You are in the kitchen.", "- names: New lamp\n  domain: light"]
    assert tail_text(tail) == (
        f"Context:\n{item}\nYou are in the kitchen.\n"
        "Additional devices:\n- names: New lamp\n  domain: light"
    )


def test_a_clock_that_ticks_while_the_contexts_are_looked_at() -> None:
    """Two renders that differ in nothing but numbers show a line that moves."""
    layout = PrefixLayout()
    layout.rebase([_clock(0), _clock(1)])
    assert layout.stable == tuple(HOUSE)
    layout.rebase([_clock(2), _clock(2)])
    assert layout.stable == tuple(HOUSE)
