"""What `script/bench` needs inside Home Assistant: more tools, a movable clock, a stopwatch."""

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
from .second_api import SecondApi

CLOCK_SCHEMA = probatio.Schema({probatio.Required("seconds"): probatio.Coerce(float)})
ASK_SCHEMA = probatio.Schema(
    {
        probatio.Required("agent_id"): cv.entity_id,
        probatio.Required("text"): cv.string,
        probatio.Required("device_id"): cv.string,
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


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Offer the second API and the actions."""
    entry.async_on_unload(llm.async_register_api(hass, SecondApi(hass)))
    register = hass.services.async_register
    register(DOMAIN, "set_clock", _set_clock, CLOCK_SCHEMA)
    register(DOMAIN, "ask_as_nobody", _ask_as_nobody, ASK_SCHEMA, SupportsResponse.ONLY)
    register(DOMAIN, "measure", _measure, MEASURE_SCHEMA, SupportsResponse.ONLY)
    register(DOMAIN, "expose_only", _expose_only, EXPOSE_SCHEMA)

    async def measure_blocks(call: ServiceCall) -> ServiceResponse:
        data = call.data
        return await blocks.measure(hass, entry, data["agent_id"], data["sizes"], data["contexts"])

    register(DOMAIN, "blocks", measure_blocks, BLOCKS_SCHEMA, SupportsResponse.ONLY)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Take the actions away, and tell the right time again."""
    for service in ("set_clock", "ask_as_nobody", "measure", "expose_only", "blocks"):
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
    )
    return cast("JsonObjectType", {"reply": result.as_dict()})


async def _measure(call: ServiceCall) -> ServiceResponse:
    return await stopwatch.measure(call.hass, call.data["agent_id"], call.data["runs"])


@callback
def _expose_only(call: ServiceCall) -> None:
    blocks.expose_only(call.hass, call.data["count"])
