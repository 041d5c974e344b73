"""Between Home Assistant's tools and answers and their form on Ollama's wire."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
import time
from typing import Any, override

import probatio

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..ollama import reading
from ..ollama.client import Counts
from ..prefix.agent_prefix import Render
from ..prefix.tools import WireTool, ordered

# More than any house has things to switch at once; a model that loops makes them without end.
_MOST_CALLS = 64
# Ollama takes names of tools of any length; Home Assistant's have no more than this.
_LONGEST_NAME = 256


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
        self._called = 0

    async def deltas(self) -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
        """Yield the answer as Home Assistant's chat log takes it.

        Raises HomeAssistantError for more tool calls than make sense, before any of them is run.
        """
        delta: conversation.AssistantContentDeltaDict = {"role": "assistant"}
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                if added := self._added(_mapping(chunk.get("message"))):
                    if self.first_token_s is None:
                        self.first_token_s = time.monotonic() - self._asked
                    delta.update(added)
                if delta:
                    yield delta
                delta = {}
                if chunk.get("done"):
                    self.counts = Counts.from_chunk(chunk, chunk.get("node"))

    def _added(self, message: Mapping[str, Any]) -> conversation.AssistantContentDeltaDict:
        """Return what a chunk's message adds to the answer, empty where it adds nothing."""
        delta: conversation.AssistantContentDeltaDict = {}
        if content := _text(message.get("content")):
            delta["content"] = content
        if thinking := _text(message.get("thinking")):
            delta["thinking_content"] = thinking
        if (calls := _calls(message.get("tool_calls"))) and self._may_call:
            self._called += len(calls)
            if self._called > _MOST_CALLS:
                raise HomeAssistantError(
                    translation_domain=DOMAIN, translation_key="too_many_calls"
                )
            delta["tool_calls"] = [_tool_input(call) for call in calls]
        return delta


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
        tool_name=_text(function.get("name"))[:_LONGEST_NAME],
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
    return reading.clean(value) if isinstance(value, str) else ""


def _calls(value: object) -> list[Mapping[str, Any]]:
    """Return the tool calls of a message, without what is none."""
    calls = value if isinstance(value, list) else []
    return [call for call in calls if isinstance(call, dict)]


def _from_json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a list or object that a model wrote as text; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return reading.parsed(value)
        except reading.BrokenError, reading.UnreadableError:
            return value
    return value
