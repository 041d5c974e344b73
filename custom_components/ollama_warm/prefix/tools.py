"""The one list of tools that an agent describes to the model in every room.

A tool is known by its wire form: `{"type": "function", "function": {"name", "description",
"parameters"}}`, as JSON-compatible values.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any, Self

type WireTool = dict[str, Any]

# The keys of a schema that hold a set of names.
_SETS = ("enum", "required")


def name_of(tool: WireTool) -> str:
    """Return the name of a tool."""
    return str(tool["function"]["name"])


def ordered(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with the keys of its objects in a fixed order.

    The order in which Home Assistant builds a schema is not promised, and each byte counts.
    """
    if isinstance(value, Mapping):
        return {
            key: _in_any_order(value[key]) if key in _SETS else ordered(value[key])
            for key in sorted(value, key=str)
        }
    if isinstance(value, (list, tuple)):
        return [ordered(item) for item in value]
    return value


def _in_any_order(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a list that is a set by its meaning in an order of its own.

    The schema converter joins enums as a Python set, whose order changes at each start.
    """
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return sorted(value)
    return ordered(value)


@dataclass(slots=True)
class ToolUnion:
    """The tools of all contexts, and which contexts offer each."""

    tools: dict[str, WireTool] = field(default_factory=dict)
    offered: dict[str, set[str]] = field(default_factory=dict)
    """Tool name -> the contexts in which it was offered at the last rebase."""
    contexts: set[str] = field(default_factory=set)
    _wire: tuple[WireTool, ...] | None = field(default=None, compare=False)
    _length: int = field(default=0, compare=False)

    def rebase(self, by_context: Mapping[str, Iterable[WireTool]]) -> bool:
        """Take the union of all contexts' tools. Returns whether the list has changed."""
        tools: dict[str, WireTool] = {}
        offered: dict[str, set[str]] = {}
        for context, offers in by_context.items():
            for tool in offers:
                tools.setdefault(name_of(tool), tool)
                offered.setdefault(name_of(tool), set()).add(context)
        changed = tools != self.tools
        self._wire = None
        self.tools, self.offered, self.contexts = tools, offered, set(by_context)
        return changed

    def update(self, context: str, offers: Iterable[WireTool]) -> list[str]:
        """Take what one context offers now, and return the names of tools that changed.

        A tool that this context offered before and does not offer now is gone at once, and
        one that reads differently is replaced: either may carry the name of something that
        was un-exposed. A new tool joins, too; it is part of what the person can ask for.
        """
        current = {name_of(tool): tool for tool in offers}
        gone = [
            name
            for name, contexts in self.offered.items()
            if context in contexts and name not in current
        ]
        for name in gone:
            del self.tools[name], self.offered[name]
        changed = [name for name, tool in current.items() if self.tools.get(name) != tool]
        if gone or changed:
            self._wire = None
        for name, tool in current.items():
            self.tools[name] = tool
            self.offered.setdefault(name, set()).add(context)
        self.contexts.add(context)
        return gone + changed

    def wire(self) -> tuple[WireTool, ...]:
        """Return the tools as they are sent: sorted by name."""
        if self._wire is None:
            self._wire = tuple(self.tools[name] for name in sorted(self.tools))
            self._length = len(json.dumps(self._wire))
        return self._wire

    def length(self) -> int:
        """Return the length of the tools on the wire, in characters."""
        self.wire()
        return self._length

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        return {
            "tools": list(self.wire()),
            "offered": {name: sorted(contexts) for name, contexts in self.offered.items()},
            "contexts": sorted(self.contexts),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a union as it was stored. Raises KeyError or TypeError on another shape."""
        return cls(
            tools={name_of(tool): tool for tool in data["tools"]},
            offered={name: set(contexts) for name, contexts in data["offered"].items()},
            contexts=set(data["contexts"]),
        )
