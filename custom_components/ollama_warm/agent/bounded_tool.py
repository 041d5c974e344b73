"""A tool of Home Assistant's that ends within bounds, whatever it does."""

import asyncio
from typing import override

import probatio

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.json import JsonObjectType

from ..const import LOGGER

type Result = llm.ToolResult | JsonObjectType

# A script may rightly wait for some minutes. A conversation that no one goes on with is over
# after five, too, in Home Assistant's own count.
LONGEST_S = 300
LONGEST_RESULT = 500_000
"""What a tool may answer, in characters of JSON: more than most models can read at all."""


class BoundedTool(llm.NamespacedTool):
    """A tool under its own name, given up when it does not end.

    Home Assistant looks for the integration of a tool inside those that are of this class.
    """

    def __init__(self, tool: llm.Tool) -> None:
        super().__init__("", tool)
        self.name = tool.name

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> Result:
        """Call the tool, or say in words for the model to pass on why there is no result.

        It is not waited for again when it is cancelled, as it may have its own way with that.
        """
        call = self.tool.async_call(hass, tool_input, llm_context)
        task = hass.async_create_background_task(call, f"{self.name} of a model")
        try:
            await asyncio.wait([task], timeout=LONGEST_S)
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(_given_up)
        if task.done():
            return self._result(task)
        LOGGER.warning(
            "%s did not end within %d seconds, so the model was informed that it may "
            "still be running. Look at what it waits for",
            self.name,
            LONGEST_S,
        )
        minutes = LONGEST_S // 60
        return _refusal(
            "TimeoutError", f"This did not end within {minutes} minutes. It may still be running."
        )

    def _result(self, task: asyncio.Task[Result]) -> Result:
        """Return what a tool answered, or what to say where that cannot be sent to a model.

        Raises what Home Assistant has words for. Of anything else only the kind is logged: its
        text may hold a person's words. Sent as it is, it would end this question, and each one
        of the same conversation.
        """
        try:
            result = task.result()
            length = len(json_dumps(result.data if isinstance(result, llm.ToolResult) else result))
        except HomeAssistantError, probatio.Invalid:
            raise
        except (asyncio.CancelledError, Exception) as err:  # noqa: BLE001 - a tool is anyone's code
            kind = type(err).__name__
            LOGGER.error(
                "%s failed with %s, and the model was informed. Report it to whoever made the tool",
                self.name,
                kind,
            )
            return _refusal(kind, "This failed. It may have been done in part.")
        if length > LONGEST_RESULT:
            LOGGER.warning("%s answered with %d characters, too many to read", self.name, length)
            return _refusal("TooLong", "The answer is too long to read. Ask for less at once.")
        return result


def _refusal(kind: str, text: str) -> llm.ToolResult:
    """Return an error as Home Assistant words those that it knows."""
    return llm.ToolResult(data={"error": kind, "error_text": text}, error=True)


def _given_up(task: asyncio.Task[Result]) -> None:
    """Take note of what a tool raised when no one waited any longer, or it would be logged."""
    if not task.cancelled():
        task.exception()
