"""An API whose tools depend on who asks, and from where."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, override

import probatio
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockUser,
)

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

API_ID = "people"
type Readings = Mapping[str, str]
"""Tool name -> its description."""


class PersonsTool(llm.Tool):
    """Answers whoever is offered it."""

    integration = "people"

    def __init__(self, name: str, description: str) -> None:
        """Take what is said of it."""
        self.name, self.description = name, description
        self.parameters = probatio.Schema({})

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Answer with what it is."""
        return llm.ToolResult(data={"done": self.description})


class People(llm.API):
    """Offers tools by person and device, and counts the looks."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Offer nothing yet."""
        super().__init__(hass=hass, id=API_ID, name="People")
        self.offers: dict[str | None, Readings] = {}
        """User id or device id -> what is offered in that case, in place of what None is."""
        self.looks: Counter[str] = Counter()
        """How often was looked, by user id, device id, or neither."""
        llm.async_register_api(hass, self)

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return the tools for a person, else for a device, else for no one in the app."""
        person = llm_context.context.user_id if llm_context.context else None
        device = llm_context.device_id
        self.looks[person or device or ""] += 1
        key = next((one for one in (person, device) if one in self.offers), None)
        tools: list[llm.Tool] = [
            PersonsTool(name, reading) for name, reading in self.offers.get(key, {}).items()
        ]
        return llm.APIInstance(api=self, api_prompt="", llm_context=llm_context, tools=tools)


def add_person(hass: HomeAssistant, name: str) -> Context:
    """Add a user, and return a context of theirs."""
    user = MockUser(name=name)
    user.add_to_hass(hass)
    return Context(user_id=user.id)


def tools_of(body: dict[str, Any]) -> dict[str, str]:
    """Return the tools of a request in their order: name -> description."""
    functions = [tool["function"] for tool in body["tools"]]
    return {function["name"]: function["description"] for function in functions}
