"""How much of an agent's window its prompt will take, before any model has read it."""

from collections.abc import Mapping
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant

from ..agent import contexts
from ..agent.admission import ApiRefusedError
from ..agent.options import AgentOptions
from ..agent.prompts import Prompts
from ..const import WARM_UP_PREFIX, WINDOW_SHARE
from ..prefix.agent_prefix import AgentPrefix
from ..turns.turns import Wire

# Between what the vocabularies of today's models make of English prose and of JSON.
_CHARACTERS_PER_TOKEN = 3.2


async def async_prompt_tokens(hass: HomeAssistant, data: Mapping[str, Any]) -> int | None:
    """Return about how many tokens an agent's prompt has in the app, None if it has none.

    The server is not asked: reading a new prompt may take it a minute.
    """
    prompts = Prompts(hass, AgentOptions.from_data(data), AgentPrefix(""))
    look = contexts.look(contexts.APP, "", hass.config.language)
    try:
        sent = await prompts.async_take(look, conversation.ChatLog(hass, WARM_UP_PREFIX))
    except conversation.ConverseError, ApiRefusedError:
        return None
    length = Wire(sent.system, sent.tools).length() + len(sent.tail)
    return max(100, round(int(length / _CHARACTERS_PER_TOKEN), -2))


def fills_window(tokens: int, num_ctx: int) -> bool:
    """Return whether a prompt leaves too little room for a conversation."""
    return tokens > num_ctx * WINDOW_SHARE
