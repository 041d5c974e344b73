"""Tools and system text together: one prefix for every room."""

import json
from typing import Any

from hypothesis import given, strategies as st

from custom_components.ollama_warm.prefix.agent_prefix import MOST_SPOKE, AgentPrefix, Render
from custom_components.ollama_warm.prefix.tool_union import ToolUnion, WireTool, name_of, ordered


def _tool(name: str, description: str = "") -> dict[str, Any]:
    """Return a tool in its wire form."""
    return {"type": "function", "function": {"name": name, "description": description}}


LIGHT, TIMER, SCRIPT = _tool("light"), _tool("timer"), _tool("a_script")
READINGS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 2))
"""Tool name -> how it reads."""


def _offers(readings: dict[str, int]) -> list[WireTool]:
    """Return tools in no order, that read as they are to."""
    return [_tool(name, str(reading)) for name, reading in readings.items()]


def test_a_room_without_timers_is_sent_the_same() -> None:
    """The union is sent in every room, sorted by name."""
    prefix = AgentPrefix("key")
    renders = {
        "": Render("Hello\nno timers", (LIGHT,)),
        "kitchen": Render("Hello\nkitchen", (TIMER, LIGHT)),
    }
    assert prefix.rebase(renders)
    assert not prefix.rebase(renders)
    app, kitchen = map(prefix.take, renders.values())
    assert (app.system, app.tools) == (kitchen.system, kitchen.tools) == ("Hello", (LIGHT, TIMER))
    assert app.tail == "Context:\nno timers"
    assert prefix.tools.looked
    assert set(prefix.contexts()) == {"", "kitchen"}
    assert AgentPrefix.from_dict(prefix.as_dict()) == prefix


def test_a_tool_that_is_gone_leaves_at_once() -> None:
    """An un-exposed script is not described to the model once more."""
    union = ToolUnion()
    union.rebase({"": [LIGHT, SCRIPT], "kitchen": [LIGHT, SCRIPT, TIMER]})
    assert union.update("", [LIGHT]) == ["a_script"]
    assert union.wire() == (LIGHT, TIMER)


def test_a_tool_that_changed_is_replaced() -> None:
    """A tool may carry the name of something that is no longer exposed."""
    union = ToolUnion()
    union.rebase({"": [LIGHT]})
    assert union.update("", [_tool("light", "of the hall")]) == ["light"]
    assert union.wire() == (_tool("light", "of the hall"),)
    assert union.update("hall", [LIGHT, TIMER]) == []


def test_keys_have_an_order() -> None:
    """Two schemas that differ in the order of their keys are the same bytes."""
    assert list(ordered({"b": [{"d": 1, "c": (2,)}], "a": 0})) == ["a", "b"]
    assert ordered({"b": [{"d": 1, "c": (2,)}]}) == {"b": [{"c": [2], "d": 1}]}


def test_an_enum_is_a_set() -> None:
    """Python's order of a set changes at each start, and a list of mixed things keeps its own."""
    schema = {"enum": ["up", "down"], "required": ("b", "a"), "items": ["b", "a"]}
    assert ordered(schema) == {"enum": ["down", "up"], "items": ["b", "a"], "required": ["a", "b"]}
    assert ordered({"enum": [2, "a", 1]}) == {"enum": [2, "a", 1]}


def test_the_length_of_the_tools_is_counted_once() -> None:
    """It is that of what is sent, also with a tool that only one question has."""
    union = ToolUnion()
    union.rebase({"": [LIGHT]})
    for offers in ([LIGHT], [LIGHT, TIMER], []):
        sent = union.with_own(offers)
        assert union.length(sent) == len(json.dumps(sent))


def test_a_new_tool_rides_behind_until_the_next_rebase() -> None:
    """The beginning stays as it is, whatever comes before or behind it in the alphabet."""
    union = ToolUnion()
    union.rebase({"": [LIGHT]})
    assert union.with_own([TIMER, SCRIPT, LIGHT]) == (LIGHT, SCRIPT, TIMER)
    assert union.with_own([LIGHT]) == (LIGHT,)
    union.rebase({"": [TIMER, SCRIPT, LIGHT]})
    assert union.with_own([LIGHT]) == (SCRIPT, LIGHT, TIMER)


@given(st.lists(st.tuples(READINGS, READINGS), min_size=1, max_size=12), READINGS, READINGS)
def test_persons_never_change_what_is_shared(
    people: list[tuple[dict[str, int], dict[str, int]]],
    app: dict[str, int],
    kitchen: dict[str, int],
) -> None:
    """Whoever asks, in any order: the beginning is what app and devices share, as it reads there.

    No one is sent a tool, or reads of one, that only someone else is offered.
    """
    union = ToolUnion()
    places = {"": _offers(app), "kitchen": _offers(kitchen)}
    union.rebase(places)
    # A reading that differs costs one change of what is shared, in all the time.
    for person, _ in people:
        union.with_own(_offers(person))
    shared = union.wire()
    for person, more in people:
        for offers in (_offers(person), _offers(more | person), *places.values()):
            union.with_own(offers)
    assert set(map(name_of, union.wire())) <= set(map(name_of, shared))
    shared = union.wire()
    for person, _ in people:
        for offers in (_offers(person), *places.values()):
            sent = union.with_own(offers)
            assert sent[: len(shared)] == shared
            assert all(tool in offers for tool in sent[len(shared) :])
            assert list(sent[len(shared) :]) == sorted(sent[len(shared) :], key=name_of)
            assert {name_of(tool) for tool in offers} <= {name_of(tool) for tool in sent}
            assert union.length(sent) == len(json.dumps(sent))
    assert all(tool in [*places[""], *places["kitchen"]] for tool in shared)
    assert ToolUnion.from_dict(union.as_dict()) == union


def test_what_reads_differently_is_apart_until_no_one_offers_it() -> None:
    """It is not shared again at the next rebase, as the next question would part it again."""
    union = ToolUnion()
    mine = _tool("light", "of the attic")
    union.rebase({"": [LIGHT, TIMER]})
    assert union.with_own([mine, TIMER]) == (TIMER, mine)
    for _ in range(2):
        union.rebase({"": [LIGHT, TIMER]})
        assert union.with_own([LIGHT, TIMER]) == (TIMER, LIGHT)
    union.rebase({"": [TIMER]})
    union.rebase({"": [LIGHT, TIMER]})
    assert union.with_own([LIGHT, TIMER]) == (LIGHT, TIMER)


def test_a_persons_offers_do_not_fit() -> None:
    """Only then another look is needed: a tool of another room is not missed here."""
    union = ToolUnion()
    union.rebase({"": [LIGHT], "kitchen": [LIGHT, TIMER]})
    assert union.fits("", [LIGHT])
    assert union.fits("", [SCRIPT, LIGHT])
    assert not union.fits("kitchen", [LIGHT])
    assert not union.fits("", [_tool("light", "of the attic")])
    assert not union.fits("", [LIGHT, _tool("timer", "of the attic")])


def test_a_union_of_before_is_looked_at_again() -> None:
    """It may hold what only one person is offered."""
    union = ToolUnion()
    union.rebase({"": [LIGHT]})
    stored = union.as_dict()
    assert ToolUnion.from_dict(stored).looked
    del stored["looked"], stored["apart"]
    assert not ToolUnion.from_dict(stored).looked


def test_so_many_devices_are_remembered() -> None:
    """The one that spoke the longest time ago goes."""
    prefix = AgentPrefix("key")
    for number in (*range(MOST_SPOKE), 0, MOST_SPOKE):
        prefix.heard(str(number))
    assert prefix.spoke == [*map(str, range(2, MOST_SPOKE)), "0", str(MOST_SPOKE)]
    assert AgentPrefix.from_dict(prefix.as_dict()) == prefix
