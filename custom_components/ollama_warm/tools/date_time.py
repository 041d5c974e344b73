"""The date and time tool, for where Home Assistant offers none of its own."""

from datetime import date
from typing import override

from homeassistant.const import SUN_EVENT_SUNRISE, SUN_EVENT_SUNSET
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLMContext, Tool, ToolAnnotations, ToolInput, ToolResult
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN
from .words import async_words


class DateTimeTool(Tool):
    """Reports date and time. The end of its name keeps Home Assistant's clock out of the prompt."""

    name = f"{DOMAIN}__GetDateTime"
    title = "Get date and time"
    description = "Gets the current date, time and week, sunrise and sunset."
    annotations = ToolAnnotations(read_only=True, open_world=False)
    integration = DOMAIN

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Report the date, the time and the sun's times; it does not rise everywhere every day."""
        now = dt_util.now()
        words = await async_words(hass, llm_context.language)
        data: JsonObjectType = {
            "date": words.full_date(now),
            "time": f"{now:%H:%M}",
            "timezone": hass.config.time_zone,
            "week": now.isocalendar().week,
        }
        for event in (SUN_EVENT_SUNRISE, SUN_EVENT_SUNSET):
            if at := _local_time(hass, event, now.date()):
                data[event] = at
        return ToolResult(data=data)


def _local_time(hass: HomeAssistant, event: str, day: date) -> str | None:
    """Return when the sun does something on a day."""
    at = get_astral_event_date(hass, event, day)
    return f"{dt_util.as_local(at):%H:%M}" if at else None
