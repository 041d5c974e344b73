"""How tools read on the wire: converted once, and again as soon as one reads otherwise."""

from collections.abc import Callable
from typing import Any, override
from unittest.mock import patch

import probatio
import pytest

from custom_components.ollama_warm.agent import tool_forms
from custom_components.ollama_warm.agent.tool_forms import ToolForms
from custom_components.ollama_warm.prefix.tool_union import WireTool
from custom_components.ollama_warm.tools.offer import OllamaWarmAPI
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import config_validation as cv, llm

type Schema = dict[Any, Any]
LISTS = ["Groceries", "Garden"]


class Tool(llm.Tool):
    """A tool with this schema."""

    name = "get_items"
    integration = "todo"

    def __init__(self, schema: Schema, description: str = "Reads a list") -> None:
        """Describe it."""
        self.parameters = probatio.Schema(schema)
        self.description = description

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Read nothing."""
        return llm.ToolResult(data={})


def read(forms: ToolForms, hass: HomeAssistant, tool: llm.Tool) -> WireTool:
    """Return how a tool reads in the next turn."""
    log = conversation.ChatLog(hass, "talk")
    context = llm.LLMContext("ollama_warm", Context(), "en", "conversation", None)
    api = OllamaWarmAPI(hass=hass, id="todo", name="To-do")
    log.llm_api = llm.APIInstance(api, "", context, [tool], llm.selector_serializer)
    (form,) = forms.render(log).tools
    return form


def items(lists: list[str] = LISTS, default: object = "open", says: str = "Which") -> Schema:
    """Return a schema that is made for each turn, as that of the to-do lists is."""
    return {
        probatio.Required("list"): probatio.In([*lists]),
        probatio.Optional("status", description=says, default=default): probatio.In(
            ["open", "all"]
        ),
    }


def by(validator: Callable[[Any], Any]) -> Schema:
    """Return a schema with this validator."""
    return {probatio.Required("list"): validator}


MADE_AGAIN: dict[str, Callable[[], Schema]] = {
    "choices": items,
    "no default": lambda: {probatio.Required("list"): probatio.In([*LISTS])},
    "default of numbers": lambda: items(default=5),
    "text": lambda: by(cv.string),
    "nothing": dict,
}
OTHER: dict[str, tuple[Schema, Schema]] = {
    "a list more": (items(), items([*LISTS, "Work"])),
    "a list less": (items(), items(LISTS[:1])),
    "a list renamed": (items(), items(["Groceries", "Yard"])),
    "another default": (items(), items(default="all")),
    "a default that only looks the same": (items(default=1), items(default=True)),
    "a default that is made": (items(default=lambda: "open"), items(default=lambda: "all")),
    "another sentence": (items(), items(says="What")),
    "no longer required": (by(cv.string), {probatio.Optional("list"): cv.string}),
    "another name": (by(cv.string), {probatio.Required("name"): cv.string}),
    "another validator": (by(cv.string), by(cv.boolean)),
    "a key more": (by(cv.string), {**by(cv.string), probatio.Optional("name"): cv.string}),
    "choices in another place": (
        {probatio.Required("a"): probatio.In(["x", "y"]), probatio.Required("b"): probatio.In([])},
        {probatio.Required("a"): probatio.In(["x"]), probatio.Required("b"): probatio.In(["y"])},
    ),
}


@pytest.mark.parametrize("made", MADE_AGAIN.values(), ids=MADE_AGAIN)
async def test_a_schema_that_is_made_for_each_turn(
    hass: HomeAssistant, made: Callable[[], Schema]
) -> None:
    """It is converted once, as long as it says the same."""
    forms = ToolForms()
    first = read(forms, hass, Tool(made()))
    with patch.object(tool_forms, "_wire_tool", side_effect=AssertionError):
        assert read(forms, hass, Tool(made())) is first


@pytest.mark.parametrize(("before", "after"), OTHER.values(), ids=OTHER)
async def test_a_schema_that_says_something_else(
    hass: HomeAssistant, before: Schema, after: Schema
) -> None:
    """It reads as it would for the first time, there and back."""
    forms = ToolForms()
    for schema in (before, after, before):
        assert read(forms, hass, Tool(schema)) == read(ToolForms(), hass, Tool(schema))


async def test_another_description(hass: HomeAssistant) -> None:
    """It is what the model goes by."""
    forms = ToolForms()
    read(forms, hass, Tool(items()))
    form = read(forms, hass, Tool(items(), "Reads nothing"))
    assert form["function"]["description"] == "Reads nothing"


async def test_choices_that_grow_in_place(hass: HomeAssistant) -> None:
    """A list of choices that an integration goes on with is read as it is now."""
    forms, lists = ToolForms(), [*LISTS]
    read(forms, hass, Tool({probatio.Required("list"): probatio.In(lists)}))
    lists.append("Work")
    form = read(forms, hass, Tool({probatio.Required("list"): probatio.In(lists)}))
    assert "Work" in str(form)


def unfinished() -> Callable[[Any], Any]:
    """Return a validator that holds something which is not there yet."""

    def validate(value: Any) -> Any:  # noqa: ANN401 - as validators are
        return later(value)

    if not LISTS:
        later = cv.string
    return validate


async def test_what_cannot_be_compared(hass: HomeAssistant) -> None:
    """It is converted each time."""
    forms = ToolForms()
    first = read(forms, hass, Tool(by(unfinished())))
    again = read(forms, hass, Tool(by(unfinished())))
    assert again == first
    assert again is not first
