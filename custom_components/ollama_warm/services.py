"""The actions of the integration: warm agents, and explain what their questions cost."""

import asyncio

import probatio

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.components.conversation import ConverseError
from homeassistant.const import ATTR_ENTITY_ID, ENTITY_MATCH_ALL
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import ServiceValidationError, Unauthorized, UnknownUser
from homeassistant.helpers import config_validation as cv, device_registry as dr, service, target
from homeassistant.util.json import JsonObjectType

from .agent.contexts import APP
from .agent.explanation import async_explain, no_prompt
from .agents import KnownAgent, async_find_agent, async_is_agent, async_known_agents
from .const import DOMAIN
from .turns.shown import logged_turn_as_dict, turn_as_dict
from .turns.turn_log import MOST_TURNS

SERVICE_WARM = "warm"
SERVICE_EXPLAIN = "explain"
ATTR_DEVICE = "device"
ATTR_TURNS = "turns"
_USUAL_TURNS = 10


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions."""
    hass.services.async_register(
        DOMAIN,
        SERVICE_WARM,
        _async_warm,
        cv.make_entity_service_schema(None),
        SupportsResponse.OPTIONAL,
    )
    service.async_register_admin_service(
        hass,
        DOMAIN,
        SERVICE_EXPLAIN,
        _async_explain,
        cv.make_entity_service_schema(
            {
                probatio.Optional(ATTR_DEVICE): cv.string,
                probatio.Optional(ATTR_TURNS, default=_USUAL_TURNS): probatio.All(
                    probatio.Coerce(int), probatio.Range(min=0, max=MOST_TURNS)
                ),
            }
        ),
        SupportsResponse.ONLY,
    )


async def _async_warm(call: ServiceCall) -> ServiceResponse:
    """Warm agents, those of different servers at once, and answer with what it cost."""
    agents = _targets(call)
    await _async_check_user(call, agents)
    # One that fails keeps no other from being warmed.
    results = await asyncio.gather(
        *(known.coordinator.warmth.async_warm(known.subentry.subentry_id) for known in agents),
        return_exceptions=True,
    )
    response: JsonObjectType = {}
    for known, result in zip(agents, results, strict=True):
        if isinstance(result, ConverseError):
            raise no_prompt(known.agent, result) from result
        if isinstance(result, BaseException):
            raise result
        response[known.entity_id] = turn_as_dict(result, quote=False)
    return response if call.return_response else None


async def _async_explain(call: ServiceCall) -> ServiceResponse:
    """Answer with the last turns of agents, and with their prompt as it is sent now.

    Home Assistant lets only administrators do so, and the automations that they wrote.
    """
    context = call.data.get(ATTR_DEVICE, APP)
    if context != APP and not dr.async_get(call.hass).async_get(context):
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="no_such_device",
            translation_placeholders={"device_id": context},
        )
    response: JsonObjectType = {}
    for known in _targets(call):
        explanation = await async_explain(known.agent, context)
        turns = known.last_turns(call.data[ATTR_TURNS])
        response[known.entity_id] = {
            "turns": [logged_turn_as_dict(logged, quote=True) for logged in turns],
            "prompt": [
                {"mark": piece.mark.value, "text": piece.text} for piece in explanation.pieces
            ],
            "moving_tokens_estimated": explanation.moving_tokens,
            "tools": [*explanation.tools],
        }
    return response


@callback
def _targets(call: ServiceCall) -> list[KnownAgent]:
    """Return the agents that an action is for. Raises ServiceValidationError if there are none.

    An entity that is named must be an agent; of an area or a device, those that are.
    """
    if call.data.get(ATTR_ENTITY_ID) == ENTITY_MATCH_ALL:
        agents = list(async_known_agents(call.hass))
    else:
        chosen = target.async_extract_referenced_entity_ids(
            call.hass, target.TargetSelection(call.data)
        )
        along = {
            entity_id
            for entity_id in chosen.indirectly_referenced
            if async_is_agent(call.hass, entity_id, enabled=True)
        }
        agents = [
            async_find_agent(call.hass, entity_id)
            for entity_id in sorted(chosen.referenced | along)
        ]
    if not agents:
        raise ServiceValidationError(translation_domain=DOMAIN, translation_key="no_agents")
    return agents


async def _async_check_user(call: ServiceCall, agents: list[KnownAgent]) -> None:
    """Raise Unauthorized if the user who calls may not control one of these agents."""
    if call.context.user_id is None:
        return
    user = await call.hass.auth.async_get_user(call.context.user_id)
    if user is None:
        raise UnknownUser(context=call.context)
    for known in agents:
        if not user.permissions.check_entity(known.entity_id, POLICY_CONTROL):
            raise Unauthorized(
                context=call.context, entity_id=known.entity_id, permission=POLICY_CONTROL
            )
