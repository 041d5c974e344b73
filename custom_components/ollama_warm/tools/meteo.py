"""The weather tool."""

from typing import Final, override

import probatio

from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLMContext, Tool, ToolAnnotations, ToolInput, ToolResult
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from .source import DAILY, HOURLY, NoWeatherError, async_find_weather, async_get_forecasts
from .weather_answer import WeatherAnswer
from .when import OFFERED, Asked, Period, understand
from .words import async_names_of_times, async_words

WHEN: Final = "when"


class MeteoTool(Tool):
    """Reports the weather and the forecast; it is described the same way whatever the weather."""

    name = f"{DOMAIN}__meteo"
    title = "Get weather"
    description = "Gets the weather outside and the forecast for a week."
    parameters = probatio.Schema({probatio.Optional(WHEN): probatio.In(list(OFFERED))})
    annotations = ToolAnnotations(read_only=True, open_world=False)
    integration = DOMAIN

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Report the weather, or in one sentence why that cannot be done."""
        now = dt_util.now()
        # Not by the schema: a small model's words are understood as well as they can be.
        said = tool_input.tool_args.get(WHEN)
        asked = understand(said, await async_names_of_times(hass), now)
        words = await async_words(hass, llm_context.language)
        try:
            weather = async_find_weather(hass, llm_context.assistant)
            forecasts = await async_get_forecasts(
                hass, weather, _wanted(asked), llm_context.context
            )
            lines = WeatherAnswer(asked, now, words, weather, forecasts).lines()
        except NoWeatherError as err:
            return ToolResult(data={"error": words.error(err.key, **err.values)}, error=True)
        return ToolResult(data={"weather": "\n".join([*lines, words.clock(now)])})


def _wanted(asked: Asked) -> tuple[str, ...]:
    """Return the forecasts that an answer needs."""
    match asked.period:
        case Period.NOW:
            return (HOURLY,)
        case Period.WEEK:
            return (DAILY,)
        case _:
            return (DAILY, HOURLY)
