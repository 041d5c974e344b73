"""A second LLM API, to be chosen together with Assist."""

from typing import override

import probatio

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from .config_flow import DOMAIN

PROMPT = (
    "The town collects waste and lends books.\n"
    "Ask for the day of a bin before you say when it is emptied.\n"
    "Never reserve a book without being asked to."
)


class SecondApi(llm.API):
    """What the town offers."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Say its name."""
        super().__init__(hass=hass, id="town_hall", name="Town hall")

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the same tools for everybody."""
        tools: list[llm.Tool] = [
            TownTool("bin_day", "Tells on which day a bin is emptied", "bin"),
            TownTool("find_book", "Looks for a book in the library", "title"),
            TownTool("reserve_book", "Reserves a book in the library", "title"),
        ]
        return llm.APIInstance(self, PROMPT, llm_context, tools, llm.selector_serializer)


class TownTool(llm.Tool):
    """A tool that knows nothing."""

    integration = DOMAIN

    def __init__(self, name: str, description: str, argument: str) -> None:
        """Describe the tool, which takes one text."""
        self.name = f"{DOMAIN}__{name}"
        self.description = description
        self.parameters = probatio.Schema({probatio.Required(argument): str})

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Answer."""
        return llm.ToolResult(data={"answer": "The town hall is closed."})
