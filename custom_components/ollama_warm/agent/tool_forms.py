"""Home Assistant's tools as they read on Ollama's wire."""

import probatio

from homeassistant.components import conversation
from homeassistant.helpers import llm

from ..prefix.agent_prefix import Render
from ..prefix.tool_union import WireTool, ordered


class ToolForms:
    """Remembers how tools read on the wire.

    Home Assistant makes new tool objects for every turn, and converting their schemas takes
    longer than everything else that a turn needs. A tool reads as it did before when its schema
    consists of the very same keys and validators.
    """

    def __init__(self) -> None:
        """Know no tool yet."""
        self._known: dict[str, tuple[list[object], WireTool]] = {}

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
        # Kept alive here, so that no other object can be taken for one of them.
        parts = [api.custom_serializer, *schema, *schema.values()]
        known = self._known.get(tool.name)
        if (
            known
            and known[1]["function"]["description"] == (tool.description or "")
            and len(known[0]) == len(parts)
            and all(a is b for a, b in zip(known[0], parts, strict=True))
        ):
            return known[1]
        wire = _wire_tool(tool, api)
        self._known[tool.name] = (parts, wire)
        return wire


def _wire_tool(tool: llm.Tool, api: llm.APIInstance) -> WireTool:
    """Return a tool as Ollama wants it described."""
    parameters = probatio.to_openapi(
        tool.parameters, custom_serializer=api.custom_serializer, openapi_version="3.1.0"
    )
    function = {"name": tool.name, "description": tool.description or "", "parameters": parameters}
    return {"type": "function", "function": {k: ordered(v) for k, v in function.items()}}
