"""Between Home Assistant's tools and answers and their form on Ollama's wire."""

from collections.abc import AsyncGenerator, Mapping
import json
import time
from typing import Any, override

import probatio

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from .api import Counts
from .const import DOMAIN
from .prefix.agent_prefix import Render
from .prefix.tools import WireTool, ordered


class Answer:
    """An answer as it streams in, and its counts once it is complete."""

    def __init__(
        self, chunks: AsyncGenerator[dict[str, Any]], *, may_call: bool, asked: float
    ) -> None:
        """Take the chunks; they are read by `deltas`. Calls count only if tools were offered.

        `asked` is when the person's turn began, on the monotonic clock.
        """
        self._chunks = chunks
        self._may_call = may_call
        self._asked = asked
        self.counts = Counts.from_chunk({})
        self.first_token_s: float | None = None

    async def deltas(self) -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
        """Yield the answer as Home Assistant's chat log takes it."""
        delta: conversation.AssistantContentDeltaDict = {"role": "assistant"}
        async for chunk in self._chunks:
            message = _mapping(chunk.get("message"))
            if content := _text(message.get("content")):
                delta["content"] = content
            if thinking := _text(message.get("thinking")):
                delta["thinking_content"] = thinking
            if (calls := _calls(message.get("tool_calls"))) and self._may_call:
                delta["tool_calls"] = [_tool_input(call) for call in calls]
            if self.first_token_s is None and (content or thinking or calls):
                self.first_token_s = time.monotonic() - self._asked
            if delta:
                yield delta
            delta = {}
            if chunk.get("done"):
                self.counts = Counts.from_chunk(chunk, chunk.get("node"))


class ElsewhereTool(llm.Tool):
    """Stands for a tool that is described to the model, but not to be had here."""

    integration = DOMAIN
    annotations = llm.ToolAnnotations(read_only=True, destructive=False, open_world=False)

    def __init__(self, function: Mapping[str, Any]) -> None:
        """Take the tool's name from its description on the wire."""
        self.name = function["name"]
        self.description = function.get("description")
        self.parameters = probatio.Schema({}, extra=probatio.ALLOW_EXTRA)

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Say in words that it is not to be had here, for the model to pass on."""
        return llm.ToolResult(
            data={
                "error": "NotAvailableHere",
                "error_text": "That cannot be done from this device, or not by this person.",
            },
            error=True,
        )


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


def _tool_input(call: Mapping[str, Any]) -> llm.ToolInput:
    """Return a tool call of the model's, its arguments mended where small models slip."""
    function = _mapping(call.get("function"))
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        arguments = _from_json(arguments)
    return llm.ToolInput(
        tool_name=str(function.get("name", "")),
        tool_args={
            key: _from_json(value)
            for key, value in (arguments.items() if isinstance(arguments, dict) else ())
            if value is not None and value != ""
        },
    )


def _mapping(value: object) -> Mapping[str, Any]:
    """Return an object of the server's, an empty one where it sent something else."""
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """Return a text of the server's, an empty one where it sent something else."""
    return value if isinstance(value, str) else ""


def _calls(value: object) -> list[Mapping[str, Any]]:
    """Return the tool calls of a message, without what is none."""
    calls = value if isinstance(value, list) else []
    return [call for call in calls if isinstance(call, dict)]


def _from_json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a list or object that a model wrote as text; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
