"""Home Assistant's tools as they read on Ollama's wire."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from types import FunctionType

import probatio

from homeassistant.components import conversation
from homeassistant.helpers import llm

from ..prefix.agent_prefix import Render
from ..prefix.tool_union import WireTool, ordered


@dataclass(frozen=True, slots=True)
class _Form:
    """How a tool read on the wire, and what its schema consisted of then.

    The parts are kept alive here, so that no other object can be taken for one of them.
    """

    wire: WireTool
    parts: Sequence[object]
    atoms: Sequence[object]

    def holds(self, tool: llm.Tool, parts: Sequence[object]) -> bool:
        """Return whether a tool with a schema of these parts reads so still."""
        if self.wire["function"]["description"] != (tool.description or ""):
            return False
        return _are_same(self.parts, parts) or _say_the_same(self.atoms, [*_atoms(parts)])


class ToolForms:
    """Remembers how tools read on the wire.

    Home Assistant makes new tool objects for every turn, and converting their schemas takes
    longer than everything else that a turn needs. A tool reads as it did before when its schema
    consists of the very same keys and validators, or of others that say the very same.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Form] = {}

    def render(self, chat_log: conversation.ChatLog) -> Render:
        """Return what Home Assistant has built into a chat log, as it goes over the wire."""
        api = chat_log.llm_api
        first = chat_log.content[0]
        return Render(
            system=first.content if isinstance(first, conversation.SystemContent) else "",
            tools=tuple(self._form(tool, api) for tool in api.tools) if api else (),
            extra=chat_log.extra_system_prompt,
        )

    def _form(self, tool: llm.Tool, api: llm.APIInstance) -> WireTool:
        """Return a tool as Ollama wants it described."""
        schema = tool.parameters.schema
        if not isinstance(schema, dict):
            return _wire_tool(tool, api)
        parts = [api.custom_serializer, *schema, *schema.values()]
        known = self._known.get(tool.name)
        if known is None or not known.holds(tool, parts):
            known = _Form(_wire_tool(tool, api), parts, [*_atoms(parts)])
            self._known[tool.name] = known
        return known.wire


def _are_same(before: Sequence[object], now: Sequence[object]) -> bool:
    """Return whether these are the same objects one by one."""
    return len(before) == len(now) and all(map(is_, before, now, strict=True))


def _say_the_same(before: Sequence[object], now: Sequence[object]) -> bool:
    """Return whether these are the same objects one by one, or the same texts and numbers."""
    return len(before) == len(now) and all(
        a is b or (type(a) is type(b) and isinstance(a, (str, int)) and a == b)
        for a, b in zip(before, now, strict=True)
    )


def _atoms(part: object) -> Iterator[object]:
    """Yield what a part of a schema says, piece by piece; what is not known is one piece.

    Some tools make their keys, defaults and choices for every turn, such as the to-do lists that
    are exposed. A default is a function that holds it.
    """
    if isinstance(part, (probatio.Marker, probatio.In)):
        yield type(part)
        yield from _atoms([*vars(part).values()])
    elif isinstance(part, (list, tuple)):
        yield len(part)
        for inner in part:
            yield from _atoms(inner)
    elif isinstance(part, FunctionType) and part.__closure__ and not part.__defaults__:
        yield part.__code__
        yield from _held(part)
    else:
        yield part


def _held(function: FunctionType) -> list[object]:
    """Return what a function holds, itself where that cannot be said."""
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        return [function]


def _wire_tool(tool: llm.Tool, api: llm.APIInstance) -> WireTool:
    """Return a tool as Ollama wants it described."""
    parameters = probatio.to_openapi(
        tool.parameters, custom_serializer=api.custom_serializer, openapi_version="3.1.0"
    )
    function = {"name": tool.name, "description": tool.description or "", "parameters": parameters}
    return {"type": "function", "function": {k: ordered(v) for k, v in function.items()}}
