"""A tool of Home Assistant's that no one waits for without end."""

import asyncio
from typing import override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType

from ..const import LOGGER

# A script may rightly wait for some minutes. A conversation that no one goes on with is over
# after five, too, in Home Assistant's own count.
LONGEST_S = 300


class BoundedTool(llm.NamespacedTool):
    """A tool under its own name, given up when it does not end.

    Home Assistant looks for the integration of a tool inside those that are of this class.
    """

    def __init__(self, tool: llm.Tool) -> None:
        """Take the tool as it is described."""
        super().__init__("", tool)
        self.name = tool.name

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult | JsonObjectType:
        """Call the tool, or say in words for the model to pass on that it did not end.

        It is not waited for again when it is cancelled, as it may have its own way with that.
        """
        call = self.tool.async_call(hass, tool_input, llm_context)
        task = hass.async_create_background_task(call, f"{self.name} of a model")
        try:
            await asyncio.wait([task], timeout=LONGEST_S)
            if task.done():
                return task.result()
        finally:
            task.cancel()
        LOGGER.warning(
            "%s did not end within %d seconds, so the model was informed that it may "
            "still be running. Look at what it waits for",
            self.name,
            LONGEST_S,
        )
        text = f"This did not end within {LONGEST_S // 60} minutes. It may still be running."
        return llm.ToolResult(data={"error": "TimeoutError", "error_text": text}, error=True)
