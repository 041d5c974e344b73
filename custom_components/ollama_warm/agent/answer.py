"""An answer of the model as it streams in, for Home Assistant's chat log."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
import time
from typing import Any

from homeassistant.components import conversation
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..ollama import reading
from ..ollama.client import is_last
from ..ollama.counts import Counts

# More than any house has things to switch at once; a model that loops makes them without end.
_MOST_CALLS = 64
# Ollama takes names of tools of any length; Home Assistant's are not longer than this.
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
                if is_last(chunk):
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
    return value if isinstance(value, str) else ""


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
