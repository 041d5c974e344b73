"""Takes the time of Home Assistant's own prompt, and of a whole turn of ours without the model."""

from collections.abc import AsyncGenerator
import gc
from statistics import median
from time import perf_counter
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util.json import JsonObjectType

OURS = "ollama_warm"
APIS = ["assist"]
WARMING_RUNS = 3


class Silent:
    """In the place of the client of an agent: the model answers at once."""

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


def _agent(hass: HomeAssistant, entity_id: str) -> Any:  # noqa: ANN401 - ours, of another process
    for entry in hass.config_entries.async_loaded_entries(OURS):
        for agent in entry.runtime_data.agents.values():
            if agent.entity_id == entity_id:
                return agent
    raise ServiceValidationError(f"{entity_id} is not one of our agents")


async def measure(hass: HomeAssistant, entity_id: str, runs: int) -> JsonObjectType:
    """Return the median milliseconds of both, measured in turns on the same house.

    `prompt_ms` is what Home Assistant needs to build system text and tools for a fresh chat log.
    `turn_ms` is a question to our agent, from the same build to the last word of the answer, with
    a model that answers at once.
    """
    agent = _agent(hass, entity_id)
    client, agent.server.client = agent.server.client, Silent()
    prompts: list[float] = []
    turns: list[float] = []
    try:
        for run in range(WARMING_RUNS + runs):
            gc.collect()
            prompt = await _prompt(hass, entity_id, run)
            gc.collect()
            turn = await _turn(hass, agent, entity_id, run)
            if run >= WARMING_RUNS:
                prompts.append(prompt)
                turns.append(turn)
    finally:
        agent.server.client = client
    return {
        "runs": runs,
        "prompt_ms": round(median(prompts) * 1000, 3),
        "turn_ms": round(median(turns) * 1000, 3),
        "ratio": round(median(turns) / median(prompts), 3),
    }


def _question(hass: HomeAssistant, entity_id: str, run: int) -> conversation.ConversationInput:
    return conversation.ConversationInput(
        text=f"Is lamp {run} on?",
        context=Context(),
        conversation_id=f"stopwatch-{run}",
        device_id=None,
        satellite_id=None,
        language="en",
        agent_id=entity_id,
    )


def _log(hass: HomeAssistant, question: conversation.ConversationInput) -> conversation.ChatLog:
    log = conversation.ChatLog(hass, str(question.conversation_id))
    log.async_add_user_content(conversation.UserContent(content=question.text))
    return log


async def _prompt(hass: HomeAssistant, entity_id: str, run: int) -> float:
    """Return the seconds of Home Assistant's own part."""
    question = _question(hass, entity_id, run)
    start = perf_counter()
    log = _log(hass, question)
    await log.async_provide_llm_data(question.as_llm_context("ollama"), APIS, None, None)
    return perf_counter() - start


async def _turn(hass: HomeAssistant, agent: Any, entity_id: str, run: int) -> float:  # noqa: ANN401
    """Return the seconds of a whole turn of ours."""
    question = _question(hass, entity_id, run)
    start = perf_counter()
    await agent.async_converse(question, _log(hass, question))
    return perf_counter() - start
