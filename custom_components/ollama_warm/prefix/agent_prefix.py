"""One agent's prefix: its stable system text and its union of tools, taken and kept together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from . import segments
from .layout import PrefixLayout, tail_text
from .tools import ToolUnion, WireTool


@dataclass(frozen=True, slots=True)
class Render:
    """What Home Assistant built for one context: the system text and the tools on offer."""

    system: str
    tools: tuple[WireTool, ...]


@dataclass(frozen=True, slots=True)
class WirePrefix:
    """What is sent in front of a conversation, and what rides with its newest question."""

    system: str
    tools: tuple[WireTool, ...]
    tail: str
    tools_length: int | None = None
    """The length of the tools on the wire, in characters."""
    changed_tools: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    """The list items of this turn's render, and the names of all tools."""
    """Names of the tools that joined, left or changed with this turn."""


@dataclass(slots=True)
class AgentPrefix:
    """The prefix of an agent. `key` names the options that it was learned under."""

    key: str
    layout: PrefixLayout = field(default_factory=PrefixLayout)
    tools: ToolUnion = field(default_factory=ToolUnion)

    def knows(self, context: str) -> bool:
        """Return whether this context was looked at when the stable part was taken."""
        return context in self.tools.contexts

    def take(self, context: str, render: Render) -> WirePrefix:
        """Tell the render of one turn apart, so that it is sent behind the stable prefix."""
        self.tools.update(context, render.tools)
        found = segments.split(render.system)
        split = self.layout.split(found)
        return WirePrefix(
            system=segments.join(split.stable),
            tools=self.tools.wire(),
            tools_length=self.tools.length(),
            tail=tail_text(split.tail),
            named=frozenset(filter(segments.is_item, found)).union(self.tools.tools),
        )

    def rebase(self, renders: Mapping[str, Render]) -> bool:
        """Take a new stable prefix from the renders of all contexts, at a quiet moment.

        `renders` maps each context to its render; at least one. Returns whether the prefix
        has changed.
        """
        texts = [segments.split(render.system) for render in renders.values()]
        text_changed = self.layout.rebase(texts)
        tools_changed = self.tools.rebase(
            {context: render.tools for context, render in renders.items()}
        )
        return text_changed or tools_changed

    def contexts(self) -> Iterable[str]:
        """Return the contexts that this prefix was taken from."""
        return self.tools.contexts

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        return {
            "key": self.key,
            "layout": self.layout.as_dict(),
            "tools": self.tools.as_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a prefix as it was stored. Raises KeyError or TypeError on another shape."""
        return cls(
            key=str(data["key"]),
            layout=PrefixLayout.from_dict(data["layout"]),
            tools=ToolUnion.from_dict(data["tools"]),
        )
