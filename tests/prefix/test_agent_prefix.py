"""Tools and system text together: one prefix for every room."""

import json
from typing import Any

from custom_components.ollama_warm.prefix.agent_prefix import AgentPrefix, Render
from custom_components.ollama_warm.prefix.tools import ToolUnion, ordered


def _tool(name: str, description: str = "") -> dict[str, Any]:
    """Return a tool in its wire form."""
    return {"type": "function", "function": {"name": name, "description": description}}


LIGHT, TIMER, SCRIPT = _tool("light"), _tool("timer"), _tool("a_script")


def test_a_room_without_timers_is_told_the_same() -> None:
    """The union is sent in every room, sorted by name."""
    prefix = AgentPrefix("key")
    renders = {
        "": Render("Hello\nno timers", (LIGHT,)),
        "kitchen": Render("Hello\nkitchen", (TIMER, LIGHT)),
    }
    assert not prefix.knows("kitchen")
    assert prefix.rebase(renders)
    assert not prefix.rebase(renders)
    app, kitchen = (prefix.take(context, render) for context, render in renders.items())
    assert (app.system, app.tools) == (kitchen.system, kitchen.tools) == ("Hello", (LIGHT, TIMER))
    assert app.tail == "Context:\nno timers"
    assert prefix.knows("kitchen")
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
    assert union.update("hall", [_tool("light", "of the hall"), TIMER]) == ["timer"]


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
    """It is that of what is sent, also after a tool has joined."""
    union = ToolUnion()
    union.rebase({"": [LIGHT]})
    assert union.length() == len(json.dumps([LIGHT]))
    union.update("", [LIGHT, TIMER])
    assert union.length() == len(json.dumps([LIGHT, TIMER]))
