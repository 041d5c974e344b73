"""The tool that stands in for one that is described to everyone and not to be had here."""

from collections.abc import Mapping
from typing import Any, override

import probatio

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from ..const import DOMAIN


class ElsewhereTool(llm.Tool):
    """Stands for a tool that is described to the model, but not to be had here."""

    integration = DOMAIN
    annotations = llm.ToolAnnotations(read_only=True, destructive=False, open_world=False)
    parameters = probatio.Schema({}, extra=probatio.ALLOW_EXTRA)

    def __init__(self, function: Mapping[str, Any]) -> None:
        """Take the tool's name from its description on the wire."""
        self.name = function["name"]
        self.description = function.get("description")

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
