"""One agent's prefix: its stable system text and its union of tools, taken and kept together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

from . import segments, shapes
from .layout import PrefixLayout, tail_text
from .tool_union import ToolUnion, WireTool

MOST_SPOKE = 8
"""How many devices are remembered besides the satellites: each is looked at in every warm-up."""


@lru_cache(maxsize=4)
def _split(text: str) -> tuple[str, ...]:
    """Return the segments of a text: one question is mostly asked with the prompt of another."""
    return tuple(segments.split(text))


@dataclass(frozen=True, slots=True)
class Render:
    """What Home Assistant built for one context: the system text and the tools on offer."""

    system: str
    tools: tuple[WireTool, ...]
    extra: str | None = None
    """What was added to the end of the system text for this question only."""

    def segments(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the segments of the system text, and those of what was added to it."""
        added = f"\n{self.extra}"
        if not self.extra or not self.system.endswith(added):
            return _split(self.system), ()
        return _split(self.system.removesuffix(added)), segments.split(self.extra)


@dataclass(frozen=True, slots=True)
class WirePrefix:
    """What is sent in front of a conversation, and what rides with its newest question."""

    system: str
    tools: tuple[WireTool, ...]
    tail: str
    learned: int = 0
    """How many characters of the tail are there because they were learned as moving."""
    tools_length: int | None = None
    """The length of the tools on the wire, in characters."""


@dataclass(slots=True)
class AgentPrefix:
    """The prefix of an agent. `key` names the options that it was learned under."""

    key: str
    layout: PrefixLayout = field(default_factory=PrefixLayout)
    tools: ToolUnion = field(default_factory=ToolUnion)
    spoke: list[str] = field(default_factory=list)
    """The devices that spoke and are no satellites, the last one at the end."""

    def heard(self, device: str) -> None:
        """Remember a device that is to be looked at with the others, in place of an old one."""
        others = [known for known in self.spoke if known != device]
        self.spoke = [*others, device][-MOST_SPOKE:]

    def take(self, render: Render, now: float = 0.0) -> WirePrefix:
        """Split the render into the stable part and the tail.

        `now` is the time in seconds. Of what was added for this question, nothing is learned.
        """
        tools = self.tools.with_own(render.tools)
        found, extra = render.segments()
        split = self.layout.split(found, now)
        return WirePrefix(
            system=segments.join(split.stable),
            tools=tools,
            tools_length=self.tools.length(tools),
            tail=tail_text([*split.tail, *extra]),
            learned=sum(len(segment) + 1 for segment in split.learned),
        )

    def rebase(
        self, renders: Mapping[str, Render], of_people: Sequence[Render] = (), now: float = 0.0
    ) -> bool:
        """Take a new stable prefix from the renders of all contexts, at a quiet moment.

        `renders` maps each context to its render; `of_people` are more, of which only the text
        is looked at: their tools are those persons' own. At least one in all. `now` is the time
        in seconds. Returns whether the prefix has changed.
        """
        # Contexts that look alike share one text.
        every = {render.system: render for render in (*renders.values(), *of_people)}
        texts = [render.segments()[0] for render in every.values()]
        text_changed = self.layout.rebase(texts, now)
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
            "spoke": list(self.spoke),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return a prefix as it was stored.

        Raises KeyError, TypeError or ValueError on another shape.
        """
        return cls(
            key=shapes.text(data["key"]),
            layout=PrefixLayout.from_dict(shapes.mapping(data["layout"])),
            tools=ToolUnion.from_dict(shapes.mapping(data["tools"])),
            spoke=list(shapes.texts(data["spoke"])),
        )
