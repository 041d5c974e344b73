"""The one list of tools that an agent describes to the model in every room.

A tool is known by its wire form: `{"type": "function", "function": {"name", "description",
"parameters"}}`, as JSON-compatible values.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any, Self

from . import shapes

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
    """The tools that every context shares, and which contexts offer each.

    A context is the app or a device, without a person: whoever stands in front of a satellite
    may know what it offers. What only a person is offered is never among these tools.
    """

    tools: dict[str, WireTool] = field(default_factory=dict)
    offered: dict[str, set[str]] = field(default_factory=dict)
    """Tool name -> the contexts in which it was offered at the last rebase."""
    contexts: set[str] = field(default_factory=set)
    apart: set[str] = field(default_factory=set)
    """Names of tools that do not read the same for everyone. They are not shared."""
    looked: bool = False
    """Whether the contexts were looked at, each without a person."""
    _wire: tuple[WireTool, ...] | None = field(default=None, compare=False)
    _length: int = field(default=0, compare=False)

    def rebase(self, by_context: Mapping[str, Iterable[WireTool]]) -> bool:
        """Take the union of all contexts' tools. Returns whether the list has changed."""
        tools: dict[str, WireTool] = {}
        offered: dict[str, set[str]] = {}
        for context, offers in by_context.items():
            for tool in offers:
                name = name_of(tool)
                if tools.setdefault(name, tool) != tool:
                    self.apart.add(name)
                offered.setdefault(name, set()).add(context)
        self.apart.intersection_update(tools)
        for name in self.apart:
            del tools[name], offered[name]
        changed = tools != self.tools
        self._wire = None
        self.tools, self.offered, self.contexts = tools, offered, set(by_context)
        self.looked = True
        return changed

    def update(self, context: str, offers: Iterable[WireTool]) -> list[str]:
        """Take what a context offers now, and return the names of shared tools that changed.

        A tool that this context offered before and does not offer now is gone at once, and
        one that reads differently is replaced: either may carry the name of something that
        was un-exposed. A new tool is shared from the next rebase on.
        """
        if context not in self.contexts:
            return []
        current = {name_of(tool): tool for tool in offers}
        gone = [
            name
            for name, contexts in self.offered.items()
            if context in contexts and name not in current
        ]
        for name in gone:
            del self.tools[name], self.offered[name]
        changed = [name for name, tool in self.tools.items() if current.get(name, tool) != tool]
        for name in changed:
            self.tools[name] = current[name]
        if gone or changed:
            self._wire = None
        return gone + changed

    def fits(self, context: str, offers: Iterable[WireTool]) -> bool:
        """Return whether these offers, a person's, hold all that a context shares, unchanged."""
        current = {name_of(tool): tool for tool in offers}
        return all(
            current.get(name) == self.tools[name]
            for name, contexts in self.offered.items()
            if context in contexts or name in current
        )

    def without(self, context: str) -> list[str]:
        """Return as few other contexts as offer what this one does not."""
        left = [offering for offering in self.offered.values() if context not in offering]
        found: list[str] = []
        while left:
            found.append(min(left[0]))
            left = [offering for offering in left if found[-1] not in offering]
        return found

    def with_own(self, offers: Iterable[WireTool]) -> tuple[WireTool, ...]:
        """Return the tools as one question sends them: the shared ones, then what is its own.

        Each of the two is sorted by name, so that whoever asks, the beginning is the same. A
        shared tool that reads differently in these offers is shared no longer: sent as it is
        for the others, it would say what does not hold here.
        """
        own: dict[str, WireTool] = {}
        for tool in offers:
            name = name_of(tool)
            if (shared := self.tools.get(name)) is None:
                own[name] = tool
            elif shared != tool:
                own[name] = tool
                del self.tools[name], self.offered[name]
                self.apart.add(name)
                self._wire = None
        return (*self.wire(), *(own[name] for name in sorted(own)))

    def wire(self) -> tuple[WireTool, ...]:
        """Return the shared tools as they are sent: sorted by name."""
        if self._wire is None:
            self._wire = tuple(self.tools[name] for name in sorted(self.tools))
            self._length = len(json.dumps(self._wire))
        return self._wire

    def length(self, sent: tuple[WireTool, ...]) -> int:
        """Return the length of the tools of one question, in characters; shared ones are known."""
        return self._length if len(sent) == len(self.wire()) else len(json.dumps(sent))

    def as_dict(self) -> dict[str, Any]:
        """Return what must survive a restart, as JSON."""
        return {
            "tools": list(self.wire()),
            "offered": {name: sorted(contexts) for name, contexts in self.offered.items()},
            "contexts": sorted(self.contexts),
            "apart": sorted(self.apart),
            "looked": self.looked,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a union as it was stored. Raises KeyError, TypeError or ValueError otherwise.

        Up to version 0.1 tools that only one person is offered were among the others: the
        contexts of such a union are looked at again.
        """
        stored = [_checked(tool) for tool in shapes.items(data["tools"])]
        union = cls(
            tools={name_of(tool): tool for tool in stored},
            offered={
                name: set(shapes.texts(contexts))
                for name, contexts in shapes.mapping(data["offered"]).items()
            },
            contexts=set(shapes.texts(data["contexts"])),
            apart=set(shapes.texts(data.get("apart", []))),
            looked=shapes.flag(data.get("looked", False)),
        )
        # A tool that no context offers would never go.
        if len(union.tools) < len(stored) or union.offered.keys() != union.tools.keys():
            raise ValueError("tools and offers differ")
        if not all(offering and offering <= union.contexts for offering in union.offered.values()):
            raise ValueError("offered in a context that is not known")
        return union


def _checked(value: object) -> WireTool:
    """Return a stored tool. Raises KeyError, TypeError or ValueError where it is none."""
    tool = shapes.mapping(value)
    function = shapes.mapping(tool["function"])
    if tool["type"] != "function" or not shapes.text(function["name"]):
        raise ValueError("not a tool")
    shapes.text(function.get("description", ""))
    shapes.mapping(function.get("parameters", {}))
    return tool
