"""What `script/bench` and its like need inside Home Assistant: tools, a clock, a stopwatch."""

from typing import cast

import probatio

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import (
    Context,
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util.json import JsonObjectType

from . import blocks, clock, stopwatch
from .config_flow import DOMAIN
from .diary import Diary
from .second_api import SecondApi

CLOCK_SCHEMA = probatio.Schema({probatio.Required("seconds"): probatio.Coerce(float)})
ASK_SCHEMA = probatio.Schema(
    {
        probatio.Required("agent_id"): cv.entity_id,
        probatio.Required("text"): cv.string,
        probatio.Required("device_id"): cv.string,
        probatio.Optional("extra_system_prompt"): cv.string,
    }
)
LEND_SCHEMA = probatio.Schema(
    {
        probatio.Required("user_id"): cv.string,
        probatio.Required("tool"): cv.string,
        probatio.Required("description"): cv.string,
        probatio.Required("answer"): cv.string,
    }
)
MEASURE_SCHEMA = probatio.Schema(
    {
        probatio.Required("agent_id"): cv.entity_id,
        probatio.Optional("runs", default=50): probatio.Coerce(int),
    }
)

EXPOSE_SCHEMA = probatio.Schema({probatio.Required("count"): probatio.Coerce(int)})
BLOCKS_SCHEMA = probatio.Schema(
    {
        probatio.Required("agent_id"): cv.entity_id,
        probatio.Required("sizes"): [probatio.Coerce(int)],
        probatio.Required("contexts"): probatio.Coerce(int),
    }
)


_ACTIONS = (
    "set_clock",
    "ask_as_nobody",
    "measure",
    "expose_only",
    "blocks",
    "lend_diary",
    "close_diary",
)


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Offer two APIs more, and the actions."""
    entry.async_on_unload(llm.async_register_api(hass, SecondApi(hass)))
    diary = Diary(hass)
    entry.async_on_unload(llm.async_register_api(hass, diary))
    register = hass.services.async_register
    register(DOMAIN, "set_clock", _set_clock, CLOCK_SCHEMA)
    register(DOMAIN, "ask_as_nobody", _ask_as_nobody, ASK_SCHEMA, SupportsResponse.ONLY)
    register(DOMAIN, "measure", _measure, MEASURE_SCHEMA, SupportsResponse.ONLY)
    register(DOMAIN, "expose_only", _expose_only, EXPOSE_SCHEMA)

    @callback
    def lend_diary(call: ServiceCall) -> None:
        diary.lend(**call.data)

    register(DOMAIN, "lend_diary", lend_diary, LEND_SCHEMA)

    @callback
    def close_diary(_: ServiceCall) -> None:
        diary.close()

    register(DOMAIN, "close_diary", close_diary)

    async def measure_blocks(call: ServiceCall) -> ServiceResponse:
        data = call.data
        return await blocks.measure(hass, entry, data["agent_id"], data["sizes"], data["contexts"])

    register(DOMAIN, "blocks", measure_blocks, BLOCKS_SCHEMA, SupportsResponse.ONLY)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Take the actions away, and tell the right time again."""
    for service in _ACTIONS:
        hass.services.async_remove(DOMAIN, service)
    clock.move(0)
    return True


@callback
def _set_clock(call: ServiceCall) -> None:
    clock.move(call.data["seconds"])


async def _ask_as_nobody(call: ServiceCall) -> ServiceResponse:
    """Ask the way a satellite does: no user is known for what it hears."""
    result = await conversation.async_converse(
        call.hass,
        text=call.data["text"],
        conversation_id=None,
        context=Context(),
        language="en",
        agent_id=call.data["agent_id"],
        device_id=call.data["device_id"],
        extra_system_prompt=call.data.get("extra_system_prompt"),
    )
    return cast("JsonObjectType", {"reply": result.as_dict()})


async def _measure(call: ServiceCall) -> ServiceResponse:
    return await stopwatch.measure(call.hass, call.data["agent_id"], call.data["runs"])


@callback
def _expose_only(call: ServiceCall) -> None:
    blocks.expose_only(call.hass, call.data["count"])
