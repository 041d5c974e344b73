"""Takes the time of Home Assistant's own work, and of a whole turn of ours without the model."""

import asyncio
from collections.abc import AsyncGenerator
import gc
from statistics import median
from time import thread_time
from typing import Any

from homeassistant.components import conversation
from homeassistant.components.ollama.entity import _convert_content, _format_tool
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util.json import JsonObjectType

OURS = "ollama_warm"
APIS = ["assist"]
WARMING_RUNS = 3


class Silent:
    """In the place of the client of an agent: the model answers at once, all else is as it was."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - ours, of another process
        """Take the client that answers all else."""
        self._client = client

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has
        """Return what the client has."""
        return getattr(self._client, name)

    async def chat(self, *_: object, **__: object) -> AsyncGenerator[dict[str, Any]]:
        """Yield an answer as Ollama streams it."""
        yield {"message": {"role": "assistant", "content": "Yes."}, "done": False}
        yield {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 1000,
            "prompt_eval_cached_count": 990,
        }


def agent_of(hass: HomeAssistant, entity_id: str) -> Any:  # noqa: ANN401 - ours, of another process
    """Return the agent behind an entity. Raises ServiceValidationError if it is none of ours."""
    for entry in hass.config_entries.async_loaded_entries(OURS):
        for agent in entry.runtime_data.agents.values():
            if agent.entity_id == entity_id:
                return agent
    raise ServiceValidationError(f"{entity_id} is not one of our agents")


async def measure(hass: HomeAssistant, entity_id: str, runs: int) -> JsonObjectType:
    """Return the median milliseconds of all three, measured in turns on the same house.

    It is the processor's time of this thread, which does not depend on what else is going on.

    `prompt_ms` is what Home Assistant needs to build system text and tools for a fresh chat log.
    `request_ms` is that and what core's Ollama agent makes of it, before it is sent.
    `turn_ms` is a question to our agent, from the same build to the last word of the answer, with
    a model that answers at once.
    """
    agent = agent_of(hass, entity_id)
    client, agent.server.client = agent.server.client, Silent(agent.server.client)
    times: list[tuple[float, float, float]] = []
    try:
        for run in range(WARMING_RUNS + runs):
            gc.collect()
            prompt, request = await _core(hass, entity_id, run)
            gc.collect()
            times.append((prompt, request, await _turn(hass, agent, entity_id, run)))
            # What is shown of a turn after its last word is no part of the next one.
            await asyncio.sleep(0)
    finally:
        agent.server.client = client
    prompt, request, turn = map(median, zip(*times[WARMING_RUNS:], strict=True))
    return {
        "runs": runs,
        "prompt_ms": round(prompt * 1000, 2),
        "request_ms": round(request * 1000, 2),
        "turn_ms": round(turn * 1000, 2),
        "ratio": round(turn / prompt, 3),
        "ratio_to_request": round(turn / request, 3),
    }


def question(entity_id: str, run: int) -> conversation.ConversationInput:
    """Return a question, other in each run."""
    return conversation.ConversationInput(
        text=f"Is lamp {run} on?",
        context=Context(),
        conversation_id=f"stopwatch-{run}",
        device_id=None,
        satellite_id=None,
        language="en",
        agent_id=entity_id,
    )


def log_of(hass: HomeAssistant, asked: conversation.ConversationInput) -> conversation.ChatLog:
    """Return a fresh chat log with a question in it."""
    log = conversation.ChatLog(hass, str(asked.conversation_id))
    log.async_add_user_content(conversation.UserContent(content=asked.text))
    return log


async def _core(hass: HomeAssistant, entity_id: str, run: int) -> tuple[float, float]:
    """Return the seconds of Home Assistant's prompt, and of core's request as a whole."""
    asked = question(entity_id, run)
    start = thread_time()
    log = log_of(hass, asked)
    await log.async_provide_llm_data(asked.as_llm_context("ollama"), APIS, None, None)
    prompt = thread_time() - start
    if log.llm_api is not None:
        _ = [_format_tool(tool, log.llm_api.custom_serializer) for tool in log.llm_api.tools]
    _ = [_convert_content(content) for content in log.content]
    return prompt, thread_time() - start


async def _turn(hass: HomeAssistant, agent: Any, entity_id: str, run: int) -> float:  # noqa: ANN401
    """Return the seconds of a whole turn of ours."""
    asked = question(entity_id, run)
    start = thread_time()
    await agent.async_converse(asked, log_of(hass, asked))
    return thread_time() - start
