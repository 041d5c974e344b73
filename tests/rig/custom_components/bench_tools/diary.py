"""An LLM API whose one tool belongs to one person, and is offered to no one else."""

from dataclasses import dataclass
from typing import override

import probatio

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from .config_flow import DOMAIN


@dataclass(frozen=True, slots=True)
class _Page:
    """What the diary's tool is called, what is told of it, and what it answers."""

    user_id: str
    tool: str
    description: str
    answer: str


class Diary(llm.API):
    """Offers nothing until it is lent to somebody."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Say its name."""
        super().__init__(hass=hass, id="diary", name="Diary")
        self._page: _Page | None = None

    @callback
    def lend(self, user_id: str, tool: str, description: str, answer: str) -> None:
        """Offer the tool to this person from now on."""
        self._page = _Page(user_id, tool, description, answer)

    @callback
    def close(self) -> None:
        """Offer nothing any more."""
        self._page = None

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tool where its person asks."""
        asks = llm_context.context.user_id if llm_context.context else None
        page = self._page
        tools: list[llm.Tool] = [_DiaryTool(page)] if page and page.user_id == asks else []
        return llm.APIInstance(self, "", llm_context, tools, llm.selector_serializer)


class _DiaryTool(llm.Tool):
    """Reads the diary aloud."""

    integration = DOMAIN

    def __init__(self, page: _Page) -> None:
        """Describe the tool, which takes one text."""
        self.name, self.description = page.tool, page.description
        self.parameters = probatio.Schema({probatio.Optional("day"): str})
        self._answer = page.answer

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Answer."""
        return llm.ToolResult(data={"answer": self._answer})
