"""The tools that we add to Assist, for our agents, and for others if that was chosen.

They say nothing in the prompt: a sentence there would stand behind what differs between rooms.
"""

from homeassistant.components.llm import LLMTools
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.llm import LLM_API_ASSIST, LLMContext

from .const import DOMAIN
from .tools.offer import async_tools


@callback
def async_get_tools(hass: HomeAssistant, llm_context: LLMContext, api_id: str) -> LLMTools | None:
    """Return the tools for Assist, or those of our own API."""
    if api_id not in (LLM_API_ASSIST, DOMAIN):
        return None
    tools = async_tools(hass, llm_context, api_id)
    return LLMTools(tools=tools) if tools else None
