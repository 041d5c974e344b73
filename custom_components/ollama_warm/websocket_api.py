"""WebSocket commands: what the turns of the agents cost, for dashboards and other programs.

The warmer calls none of them: it reads the counts that a reply carries. No one's words are kept
anywhere, and the prompt is shown to administrators only.
"""

from typing import Any

import probatio

from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.websocket_api import async_register_command
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.const import (
    ERR_HOME_ASSISTANT_ERROR,
    ERR_NOT_FOUND,
)
from homeassistant.components.websocket_api.decorators import (
    async_response,
    require_admin,
    websocket_command,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv

from .agent.contexts import APP
from .agent.explanation import async_explain
from .agents import KnownAgent, async_find_agent, async_known_agents
from .const import CONTRACT_VERSION
from .prefix import segments
from .turns.shown import logged_turn_as_dict, may_read_prompt
from .turns.turn_log import MOST_TURNS

_USUAL_TURNS = 50


@callback
def async_setup_websocket_api(hass: HomeAssistant) -> None:
    """Register the commands."""
    async_register_command(hass, ws_turns)
    async_register_command(hass, ws_agents)
    async_register_command(hass, ws_prefix)


@websocket_command(
    {
        probatio.Required("type"): "ollama_warm/turns",
        probatio.Optional("entity_id"): cv.entity_id,
        probatio.Optional("limit", default=_USUAL_TURNS): probatio.All(
            int, probatio.Range(min=1, max=MOST_TURNS)
        ),
    }
)
@callback
def ws_turns(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send the last turns of each agent, the oldest first."""
    wanted = msg.get("entity_id")
    quote = may_read_prompt(connection.user)
    agents = [
        {
            "entity_id": known.entity_id,
            "name": known.subentry.title,
            "turns": [
                logged_turn_as_dict(logged, quote=quote)
                for logged in known.last_turns(msg["limit"])
            ],
        }
        for known in _readable(hass, connection)
        if wanted in (None, known.entity_id)
    ]
    if wanted and not agents:
        connection.send_error(msg["id"], ERR_NOT_FOUND, f"{wanted} is no agent")
        return
    connection.send_result(msg["id"], {"version": CONTRACT_VERSION, "agents": agents})


@websocket_command({probatio.Required("type"): "ollama_warm/agents"})
@callback
def ws_agents(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send each agent, and how its last turn was."""
    agents = []
    for known in _readable(hass, connection):
        last = next(iter(known.last_turns(1)), None)
        agents.append(
            {
                "entity_id": known.entity_id,
                "name": known.subentry.title,
                "model": known.agent.options.model,
                "verdict": last and last.turn.verdict.value,
                "ended": last and last.ended.isoformat(),
            }
        )
    connection.send_result(msg["id"], {"version": CONTRACT_VERSION, "agents": agents})


@websocket_command(
    {
        probatio.Required("type"): "ollama_warm/prefix",
        probatio.Required("entity_id"): cv.entity_id,
    }
)
@require_admin
@async_response
async def ws_prefix(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send the prefix of an agent: what is the same for everyone, and what is known to move.

    The latter is looked for in the prompt of now, as no text of it is remembered.
    """
    try:
        known = async_find_agent(hass, msg["entity_id"])
        explanation = await async_explain(known.agent, APP)
    except HomeAssistantError as err:
        connection.send_error(
            msg["id"],
            ERR_NOT_FOUND if isinstance(err, ServiceValidationError) else ERR_HOME_ASSISTANT_ERROR,
            str(err),
            err.translation_key,
            err.translation_domain,
            err.translation_placeholders,
        )
        return
    prefix = known.agent.prompts.prefix
    connection.send_result(
        msg["id"],
        {
            "version": CONTRACT_VERSION,
            "stable": segments.join(prefix.layout.stable),
            "tools": prefix.tools.wire(),
            "moving": explanation.moving,
            "moving_tokens_estimated": explanation.moving_tokens,
        },
    )


@callback
def _readable(hass: HomeAssistant, connection: ActiveConnection) -> list[KnownAgent]:
    """Return the agents that the user of a connection may see."""
    may = connection.user.permissions.check_entity
    return [known for known in async_known_agents(hass) if may(known.entity_id, POLICY_READ)]
