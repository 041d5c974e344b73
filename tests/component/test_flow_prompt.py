"""What the form of an agent says of its instructions and of the room that they take."""

import pytest

from custom_components.ollama_warm.agent.moving import are_kept, moving_key
from homeassistant.config_entries import ConfigEntry
from homeassistant.data_entry_flow import FlowResultType

from .support.flows import (
    NEW_AGENT,
    aborted,
    answer_agent,
    change_agent,
    choose,
    fields,
    refused,
    start_agent,
    suggested,
)
from .support.house import OPTIONS, House
from .support.sentences import sentence

CLOCK = (
    "You are the voice of a house.\nIt is {{ now().strftime('%H:%M:%S') }}, "
    "{{ states('sensor.outside') }} degrees,\nand it was {{ utcnow() }}."
)
DATE = "Today is {{ now().strftime('%A') }}."
BROKEN = "{{ 1 / 0 }}"
LONG = "Be brief. " * 800
SMALL = {"num_ctx": 2048.0, "llm_hass_api": []}


async def test_what_moves_is_shown(house: House, agent: ConfigEntry) -> None:
    """Each kind is shown with its places beside the instructions; what is mended is saved."""
    hass = house.hass
    result = await answer_agent(hass, await start_agent(hass, agent), NEW_AGENT | {"prompt": CLOCK})
    words = await refused(hass, result, "prompt")
    assert words.startswith("Parts of these instructions keep changing")
    assert fields(result, "prompt") == ["prompt", "seconds", "state", "keep_as_is"]
    assert suggested(result) == NEW_AGENT | {
        "prompt": CLOCK,
        "seconds": "2:10  now().strftime('%H:%M:%S')\n3:15  utcnow()",
        "state": "2:44  states('sensor.outside')",
    }
    key = "conversation.step.agent.sections.prompt.data_description.state"
    advice = await sentence(hass, "config_subentries", key)
    assert advice.startswith("This changes whenever the entity does. Expose the entity instead")
    result = await answer_agent(hass, result, NEW_AGENT | {"prompt": DATE})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_it_is_kept_as_it_is(house: House, agent: ConfigEntry) -> None:
    """Whoever insists is not asked again, neither now nor at the next change."""
    hass = house.hass
    flow = await change_agent(hass, agent)
    result = await answer_agent(hass, flow, OPTIONS | {"prompt": CLOCK})
    assert result["errors"] == {"prompt": "moving_parts"}
    # The browser sends what the form shows of the places, too.
    values = suggested(result) | {"keep_as_is": True}
    assert "seconds" in values
    result = await answer_agent(hass, result, values)
    assert result["type"] is FlowResultType.ABORT
    kept = {"kept_moving": moving_key(CLOCK)}
    assert agent.subentries["agent"].data == OPTIONS | {"prompt": CLOCK} | kept
    flow = await change_agent(hass, agent)
    result = await answer_agent(hass, flow, OPTIONS | {"prompt": CLOCK, "max_history": 3.0})
    assert result["type"] is FlowResultType.ABORT
    assert agent.subentries["agent"].data["max_history"] == 3
    # No repair issue says the same again.
    assert are_kept(agent.subentries["agent"].data)


async def test_a_date_alone(house: House, agent: ConfigEntry) -> None:
    """What is kept out of the prefix without harm stops no one."""
    flow = await start_agent(house.hass, agent)
    result = await answer_agent(house.hass, flow, NEW_AGENT | {"prompt": DATE})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_prompt_that_cannot_be_built(house: House, agent: ConfigEntry) -> None:
    """The form says so; it can be mended, or kept by someone who knows better."""
    hass = house.hass
    flow = await start_agent(hass, agent)
    result = await answer_agent(hass, flow, NEW_AGENT | {"prompt": BROKEN})
    words = await refused(hass, result, "prompt")
    assert words.startswith("Home Assistant cannot build a prompt from these instructions")
    assert fields(result, "prompt") == ["prompt", "keep_as_is"]
    assert (await answer_agent(hass, result, NEW_AGENT))["type"] is FlowResultType.CREATE_ENTRY

    flow = await change_agent(hass, agent)
    result = await answer_agent(hass, flow, OPTIONS | {"prompt": BROKEN})
    assert result["errors"] == {"prompt": "prompt_not_built"}
    values = OPTIONS | {"prompt": BROKEN, "keep_as_is": True}
    result = await answer_agent(hass, result, values)
    assert await aborted(hass, result) == "The agent was changed."


async def test_a_new_agent_with_a_broken_prompt(house: House, agent: ConfigEntry) -> None:
    """Nothing is said of a size that no one knows."""
    hass = house.hass
    result = await answer_agent(
        hass, await start_agent(hass, agent), NEW_AGENT | {"prompt": BROKEN}
    )
    values = NEW_AGENT | {"prompt": BROKEN, "keep_as_is": True}
    result = await answer_agent(hass, result, values)
    assert (result["type"], result["description"]) == (FlowResultType.CREATE_ENTRY, None)


@pytest.mark.parametrize("insists", [True, False], ids=["saved anyway", "made larger"])
async def test_a_window_that_is_too_small(house: House, agent: ConfigEntry, insists: bool) -> None:  # noqa: FBT001
    """Both sizes are given, and either another window is chosen or this one is kept."""
    hass = house.hass
    values = NEW_AGENT | SMALL | {"prompt": LONG}
    flow = await answer_agent(hass, await start_agent(hass, agent), values)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.MENU, "window")
    sizes = flow["description_placeholders"]
    assert sizes is not None
    assert sizes["num_ctx"] == "2048"
    assert 2400 <= int(sizes["tokens"]) <= 2800
    result = await choose(hass, flow, "save" if insists else "agent")
    if not insists:
        assert result["type"] is FlowResultType.FORM
        result = await answer_agent(hass, result, values | {"num_ctx": 4096.0})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"]["num_ctx"] == (2048 if insists else 4096)


async def test_an_agent_without_a_choice(house: House, agent: ConfigEntry) -> None:
    """Whatever is left empty is as usual, and the prompt is measured all the same."""
    hass = house.hass
    flow = await start_agent(hass, agent)
    result = await answer_agent(hass, flow, {"name": "Bare", "model": "tiny"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {"model": "tiny"}
    sizes = result["description_placeholders"]
    assert sizes is not None
    assert sizes["num_ctx"] == "16384"
