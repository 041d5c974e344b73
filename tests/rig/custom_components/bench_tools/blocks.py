"""Takes the longest time for which our work keeps the event loop, in houses of several sizes."""

from asyncio import Handle, sleep
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
import gc
from statistics import median
from time import thread_time
from typing import Any
from unittest.mock import patch

from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
    async_should_expose,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.util.json import JsonObjectType, JsonValueType

from .config_flow import DOMAIN
from .stopwatch import APIS, Silent, agent_of, log_of, question

ASSISTANT = "conversation"
SATELLITE = "assist_satellite"
RUNS = 5

type Work = Callable[[int], Awaitable[object]]


@contextmanager
def satellites(hass: HomeAssistant, entry: ConfigEntry, count: int) -> Iterator[None]:
    """Let there be this many satellites in all, each new one in a room of its own."""
    devices, entities, areas = dr.async_get(hass), er.async_get(hass), ar.async_get(hass)
    there = {e.device_id for e in entities.entities.values() if e.domain == SATELLITE}
    added = []
    for number in range(count - len(there)):
        name = f"Room {number}"
        device = devices.async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={(DOMAIN, name)}, name=name
        )
        devices.async_update_device(device.id, area_id=areas.async_get_or_create(name).id)
        entities.async_get_or_create(
            SATELLITE, DOMAIN, name, config_entry=entry, device_id=device.id
        )
        added.append((device.id, name))
    try:
        yield
    finally:
        for device_id, name in added:
            devices.async_remove_device(device_id)
            if area := areas.async_get_area_by_name(name):
                areas.async_delete(area.id)


@callback
def expose_only(hass: HomeAssistant, count: int) -> int:
    """Expose this many entities and hide all others, and return how many are exposed then."""
    for number, entity_id in enumerate(sorted(hass.states.async_entity_ids())):
        if async_should_expose(hass, ASSISTANT, entity_id) != (number < count):
            async_expose_entity(hass, ASSISTANT, entity_id, number < count)
    return sum(async_should_expose(hass, ASSISTANT, e) for e in hass.states.async_entity_ids())


class Blocks:
    """How long each step of the event loop takes, and what part of it Home Assistant's prompts do.

    It is the processor's time of this thread. Python's search for garbage is taken by itself: it
    takes as long as the house is big, and comes when it comes.
    """

    def __init__(self) -> None:
        """Have seen nothing yet."""
        self.longest = 0.0
        self.ours = 0.0
        """The longest part of a step that is neither a prompt nor a search for garbage."""
        self.prompts = 0
        self.together = 0
        """The most prompts in one step."""
        self._prompt = self._garbage = 0.0
        self._here = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at all steps meanwhile."""
        run, provide = Handle._run, conversation.ChatLog.async_provide_llm_data

        def timed(handle: Handle) -> None:
            self._prompt = self._garbage = 0.0
            self._here = 0
            start = thread_time()
            run(handle)
            whole = thread_time() - start - self._garbage
            self.longest = max(self.longest, whole)
            self.ours = max(self.ours, whole - self._prompt)
            self.together = max(self.together, self._here)

        async def counted(log: conversation.ChatLog, *args: Any, **more: Any) -> None:  # noqa: ANN401
            self.prompts += 1
            self._here += 1
            start, garbage = thread_time(), self._garbage
            await provide(log, *args, **more)
            self._prompt += thread_time() - start - (self._garbage - garbage)

        def searched(phase: str, _: dict[str, int]) -> None:
            self._garbage += thread_time() * (1 if phase == "stop" else -1)

        gc.callbacks.append(searched)
        try:
            with (
                patch.object(Handle, "_run", timed),
                patch.object(conversation.ChatLog, "async_provide_llm_data", counted),
            ):
                yield
        finally:
            gc.callbacks.remove(searched)


async def _taken(work: Work) -> JsonObjectType:
    """Return what some work takes: medians of all runs in milliseconds, and the most prompts."""
    found = []
    for run in range(RUNS):
        gc.collect()
        blocks = Blocks()
        with blocks.watched():
            await sleep(0)
            await work(run)
        # The last step ends here.
        await sleep(0)
        found.append(blocks)
    return {
        "longest_ms": round(median(blocks.longest for blocks in found) * 1000, 1),
        "ours_ms": round(median(blocks.ours for blocks in found) * 1000, 1),
        "prompts": max(blocks.prompts for blocks in found),
        "together": max(blocks.together for blocks in found),
    }


async def measure(
    hass: HomeAssistant, entry: ConfigEntry, entity_id: str, sizes: Sequence[int], contexts: int
) -> JsonObjectType:
    """Return a row for each size of house, with what each work takes (see `_taken`).

    `prompt` is Home Assistant's own prompt for one context. `first_look` is a rebase by an agent
    that knows nothing, `rebase` one in a house that it knows; `question` a whole turn without the
    model; `hidden` one in which an entity that was exposed is gone.
    """
    agent = agent_of(hass, entity_id)
    client, agent.server.client = agent.server.client, Silent(agent.server.client)
    rows: list[JsonValueType] = []
    try:
        with satellites(hass, entry, contexts - 1):
            for size in sizes:
                row: JsonObjectType = {"exposed": expose_only(hass, size), "contexts": contexts}
                await hass.async_block_till_done()
                for name, work in _works(hass, agent, entity_id).items():
                    row[name] = await _taken(work)
                rows.append(row)
    finally:
        agent.server.client = client
    return {"rows": rows}


def _works(hass: HomeAssistant, agent: Any, entity_id: str) -> dict[str, Work]:  # noqa: ANN401
    """Return what is measured, by name."""
    known = agent.prompts

    async def prompt(run: int) -> None:
        asked = question(entity_id, run)
        await log_of(hass, asked).async_provide_llm_data(
            asked.as_llm_context(DOMAIN), APIS, None, None
        )

    async def first_look(run: int) -> None:
        new = type(known)(hass, agent.options, type(known.prefix)(""))
        await new.async_rebase(question(entity_id, run))

    async def rebase(run: int) -> None:
        await known.async_rebase(question(entity_id, run))

    async def turn(run: int) -> None:
        asked = question(entity_id, run)
        await agent.async_converse(asked, log_of(hass, asked))

    async def hidden(run: int) -> None:
        exposed = (
            e for e in hass.states.async_entity_ids() if async_should_expose(hass, ASSISTANT, e)
        )
        async_expose_entity(hass, ASSISTANT, next(exposed), False)  # noqa: FBT003 - as it is taken
        await sleep(0)
        await turn(run)

    return {
        "prompt": prompt,
        "first_look": first_look,
        "rebase": rebase,
        "question": turn,
        "hidden": hidden,
    }
