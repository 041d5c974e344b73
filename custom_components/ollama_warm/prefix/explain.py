"""What of a prefix is not as it was sent the last time."""

from dataclasses import dataclass
from enum import StrEnum

from . import segments
from .tool_union import WireTool, name_of

_LONGEST_QUOTE = 120


class PrefixPart(StrEnum):
    """Which part of a prefix diverged first."""

    SEGMENT = "segment"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first difference between two prefixes.

    `quote` is the segment of the system text, at most 120 characters of it, or the name of the
    tool. Both are Home Assistant's text or the instructions; a person's words are never here.
    """

    part: PrefixPart
    quote: str


def explain(
    system: str, tools: tuple[WireTool, ...], last_system: str, last_tools: tuple[WireTool, ...]
) -> Divergence | None:
    """Return the first difference between a prefix and the last one, None if they are the same."""
    if system != last_system:
        segment = _first_difference(segments.split(last_system), segments.split(system))
        return Divergence(PrefixPart.SEGMENT, segment[:_LONGEST_QUOTE])
    if tools != last_tools:
        return Divergence(PrefixPart.TOOL, _first_tool(last_tools, tools)[:_LONGEST_QUOTE])
    return None


def _first_difference(before: list[str], now: list[str]) -> str:
    """Return the segment that is gone where the texts part, or the one that came."""
    for old, new in zip(before, now, strict=False):
        if old != new:
            return new if old in now else old
    longer = before if len(before) > len(now) else now
    return longer[min(len(before), len(now))]


def _first_tool(before: tuple[WireTool, ...], now: tuple[WireTool, ...]) -> str:
    """Return the name of the first tool that left, came or reads differently."""
    old = {name_of(tool): tool for tool in before}
    new = {name_of(tool): tool for tool in now}
    changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    # The same tools in another order differ, too, though each reads as it did.
    return min(changed) if changed else name_of(now[0])
