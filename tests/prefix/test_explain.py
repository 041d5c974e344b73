"""What of a prefix is not as it was sent the last time."""

from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.prefix.explain import Divergence, PrefixPart, explain
from custom_components.ollama_warm.prefix.tool_union import WireTool, name_of


def tool(name: str, **more: Any) -> WireTool:  # noqa: ANN401 (as a tool has them)
    """Return a tool as it is sent."""
    return {"type": "function", "function": {"name": name} | more}


LONG = "word " * 50
SEGMENTS = {
    "replaced": ("You are brief.\nIt is 10:00.", "You are brief.\nIt is 10:01.", "It is 10:00."),
    "gone": ("A\n- names: Lamp\n  state: on\nB", "A\nB", "- names: Lamp\n  state: on"),
    "gone at the end": ("A\nB", "A", "B"),
    "came": ("A\nC", "A\nB\nC", "B"),
    "came at the end": ("A", "A\nB", "B"),
    "first of several": ("A\nB\nC", "A\nb\nc", "B"),
    "a blank line": ("A\n\nB", "A\nB", ""),
    "everything": ("", "A", ""),
    "moved": ("A\nB\nC", "B\nA\nC", "B"),
    "long": (f"A\n{LONG}", f"A\n{LONG}!", LONG[:120]),
}


@pytest.mark.parametrize(("last", "now", "quote"), SEGMENTS.values(), ids=SEGMENTS)
def test_segments(last: str, now: str, quote: str) -> None:
    """What is gone where the texts part is quoted, or what came; at most 120 characters of it."""
    tools = (tool("a"),)
    assert explain(now, tools, last, tools) == Divergence(PrefixPart.SEGMENT, quote)
    # The system text stands in front of the tools.
    assert explain(now, (), last, tools) == Divergence(PrefixPart.SEGMENT, quote)


TOOLS = {
    "gone": ((tool("a"), tool("b")), (tool("a"),), "b"),
    "came": ((tool("b"),), (tool("a"), tool("b")), "a"),
    "none left": ((tool("a"),), (), "a"),
    "reads differently": (
        (tool("a"), tool("b", description="x")),
        (tool("a"), tool("b", description="y")),
        "b",
    ),
    "first of several": ((tool("c"), tool("d")), (tool("b"), tool("d", description="y")), "b"),
    "other order": ((tool("a"), tool("b")), (tool("b"), tool("a")), "b"),
    "long": ((), (tool(LONG),), LONG[:120]),
}


@pytest.mark.parametrize(("last", "now", "quote"), TOOLS.values(), ids=TOOLS)
def test_tools(last: tuple[WireTool, ...], now: tuple[WireTool, ...], quote: str) -> None:
    """The name of the first tool that left, came or reads differently is said."""
    assert explain("A", now, "A", last) == Divergence(PrefixPart.TOOL, quote)


texts = st.lists(
    st.sampled_from(["", "A", "B", "- names: C", "  state: on", "\t"]) | st.text(max_size=5),
    max_size=6,
).map("\n".join)
tool_lists = st.lists(
    st.builds(tool, st.sampled_from("abcd"), description=st.sampled_from("xy")), max_size=4
).map(tuple)


@given(texts, tool_lists, texts, tool_lists)
def test_none_if_and_only_if_equal(
    system: str,
    tools: tuple[WireTool, ...],
    last_system: str,
    last_tools: tuple[WireTool, ...],
) -> None:
    """Nothing is said if and only if there is nothing to explain; a quote is from the texts."""
    found = explain(system, tools, last_system, last_tools)
    assert (found is None) == ((system, tools) == (last_system, last_tools))
    if found and found.part is PrefixPart.SEGMENT:
        assert system != last_system
        assert found.quote in system or found.quote in last_system
    elif found:
        assert system == last_system
        assert found.quote in {name_of(tool) for tool in (*tools, *last_tools)}
    assert found is None or len(found.quote) <= 120


@given(texts, tool_lists)
def test_the_same(system: str, tools: tuple[WireTool, ...]) -> None:
    """The same prefix needs no explanation."""
    assert explain(system, tools, system, tools) is None
