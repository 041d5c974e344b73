"""A rebase: few prompts, the loop given back between them, right whatever happens in between."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockUser,
)

from custom_components.ollama_warm.agent import contexts
from custom_components.ollama_warm.agent.prompts import Prompts
from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.setup import async_setup_component

from .support.house import AGENT, House, add_server
from .support.server import Ollama

ROOMS = [f"Room {number}" for number in range(18)]
# The app twice, at the beginning and at the end; a satellite with timers, and one without.
ONE_OF_EACH = 4
BY_DEVICE = (
    "{% set room = area_name(llm_context.device_id) if llm_context.device_id else '' %}"
    "Speak of {{ room }}.\n"
    "{% if room not in states('input_text.quiet').split(',') %}Be loud.\n{% endif %}Be brief."
)
type Between = Callable[[int], Awaitable[None]]


class Prompted:
    """The contexts for which Home Assistant built a prompt, in order."""

    def __init__(self) -> None:
        """Begin with none."""
        self.devices: list[str | None] = []


@contextmanager
def watched(before: Between | None = None) -> Generator[Prompted]:
    """Look on while Home Assistant builds prompts, and do something before each (0, 1, ...)."""
    prompted = Prompted()
    provide = conversation.ChatLog.async_provide_llm_data

    async def looked_on(log: conversation.ChatLog, context: Any, *args: Any) -> None:  # noqa: ANN401
        number = len(prompted.devices)
        prompted.devices.append(context.device_id)
        if before:
            await before(number)
        await provide(log, context, *args)

    with patch.object(conversation.ChatLog, "async_provide_llm_data", looked_on):
        yield prompted


def prompts_of(entry: ConfigEntry) -> Prompts:
    """Return what distinguishes an agent's prompts."""
    prompts: Prompts = entry.runtime_data.agents["agent"].prompts
    return prompts


async def rebase(entry: ConfigEntry) -> None:
    """Take a new stable prefix, as every warm-up does first."""
    await prompts_of(entry).async_rebase(contexts.look(contexts.APP, AGENT, "en"))


def stable(entry: ConfigEntry) -> str:
    """Return the text that an agent has in front."""
    return "\n".join(prompts_of(entry).prefix.layout.stable)


@pytest.fixture(name="rooms")
def many_rooms(house: House) -> House:
    """Return a house with twenty satellites, one of which keeps timers."""
    for room in ROOMS:
        house.add_satellite(room)
    return house


async def test_rooms_that_differ_in_one_sentence_are_rendered_once(
    rooms: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """The first look and all later ones render the app and one satellite of each kind."""
    for _ in range(3):
        with watched() as prompted:
            await rebase(agent)
        assert len(prompted.devices) == ONE_OF_EACH
        assert set(prompts_of(agent).prefix.contexts()) == {
            contexts.APP,
            *rooms.satellites.values(),
        }
    assert "Ceiling" in stable(agent)
    assert "You are in area" not in stable(agent)
    assert "start timers" not in stable(agent)
    before = stable(agent)
    for room in rooms.satellites:
        with watched() as prompted:
            await rooms.ask("hello", room)
        assert len(prompted.devices) == 1
        assert f"You are in area {room.title()} " in ollama.messages[-1]["content"]
    assert stable(agent) == before


async def test_each_room_has_its_turn(rooms: House, agent: ConfigEntry) -> None:
    """Each rebase looks at another satellite, so none stays unseen."""
    seen: set[str | None] = set()
    for _ in rooms.satellites:
        with watched() as prompted:
            await rebase(agent)
        seen |= set(prompted.devices)
    assert seen == {None, *rooms.satellites.values()}


async def test_a_new_satellite_costs_a_few_prompts(
    rooms: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """A question from a device that was never seen does not render all others again."""
    await rebase(agent)
    rooms.add_satellite("Attic")
    with watched() as prompted:
        await rooms.ask("hello", "attic")
    assert len(prompted.devices) <= ONE_OF_EACH + 2
    assert "You are in area Attic " in ollama.messages[-1]["content"]
    assert "You are in area" not in ollama.messages[0]["content"]


async def test_instructions_that_ask_for_the_device(rooms: House, ollama: Ollama) -> None:
    """Each room is looked at once, then one of those alike; one that differs takes its line away.

    Where a room turns out to be another than those it was like, all of them are looked at.
    """
    hass = rooms.hass
    hass.states.async_set("input_text.quiet", "Room 3")
    entry = await rooms.set_up(add_server(hass, ollama.url, prompt=BY_DEVICE))
    with watched() as prompted:
        await rebase(entry)
    assert set(prompted.devices) == {None, *rooms.satellites.values()}
    assert "Be brief." in stable(entry)
    assert "Be loud." not in stable(entry)
    with watched() as prompted:
        await rebase(entry)
    assert len(prompted.devices) == ONE_OF_EACH + 1
    assert "Be loud." not in stable(entry)

    hass.states.async_set("input_text.quiet", "Bedroom,Bath")
    for _ in rooms.satellites:
        with watched() as prompted:
            await rebase(entry)
    assert "Be loud." not in stable(entry)
    hass.states.async_set("input_text.quiet", "")
    for _ in rooms.satellites:
        await rebase(entry)
    with watched() as prompted:
        await rebase(entry)
    assert len(prompted.devices) == ONE_OF_EACH


async def test_a_satellite_that_moves_is_new(rooms: House, agent: ConfigEntry) -> None:
    """One that lost its room is looked at for itself, also if it was alike before."""
    await rebase(agent)
    device = rooms.satellites["room 7"]
    dr.async_get(rooms.hass).async_update_device(device, area_id=None)
    with watched() as prompted:
        await rebase(agent)
    assert device in prompted.devices
    assert len(prompted.devices) == ONE_OF_EACH + 1


async def test_an_app_without_a_prompt(house: House, ollama: Ollama) -> None:
    """Where only some contexts have a prompt, the prefix is what those have in common."""
    prompt = "{{ area_name(llm_context.device_id) or 1 / 0 }}\nBe brief."
    for number in range(2):
        house.add_satellite(f"Loft {number}")
    ar.async_get(house.hass).async_delete("kitchen")
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    for _ in range(2):
        await rebase(entry)
        known = set(prompts_of(entry).prefix.contexts())
        assert known == set(house.satellites.values()) - {house.satellites["kitchen"]}
        assert "Be brief." in stable(entry)
    for area in list(ar.async_get(house.hass).async_list_areas()):
        ar.async_get(house.hass).async_delete(area.id)
    await rebase(entry)
    assert "Be brief." in stable(entry)


@pytest.mark.parametrize("what", ["rebase", "warm-up", "question from a new device"])
async def test_the_loop_is_given_back_between_prompts(
    rooms: House, agent: ConfigEntry, what: str
) -> None:
    """Others run between any two prompts, so nothing of ours takes longer than one."""
    ran = 0
    turns: list[int] = []

    async def other() -> None:
        nonlocal ran
        while True:
            ran += 1
            await asyncio.sleep(0)

    async def note(_: int) -> None:
        turns.append(ran)

    task = asyncio.create_task(other())
    with watched(note):
        if what == "rebase":
            await rebase(agent)
        elif what == "warm-up":
            await rooms.ask("ping", conversation_id="ollama_warm.x")
        else:
            await rooms.ask("hello", "room 1")
    task.cancel()
    assert len(turns) >= ONE_OF_EACH
    assert len(set(turns)) == len(turns)


async def _with_a_script(hass: HomeAssistant, house: House) -> None:
    """Have something that is a tool, and expose it."""
    party = {"party": {"description": "Starts the disco", "sequence": []}}
    assert await async_setup_component(hass, "script", {"script": party})
    house.expose("script.party")


@pytest.mark.parametrize("number", range(ONE_OF_EACH + 1))
async def test_what_is_hidden_between_two_prompts_is_gone(
    house: House, agent: ConfigEntry, ollama: Ollama, number: int
) -> None:
    """Whenever during a rebase a light and a script are hidden, neither stays in the prefix."""
    MockUser(name="Ada", is_owner=True).add_to_hass(house.hass)
    await _with_a_script(house.hass, house)
    await rebase(agent)
    assert "Bedside" in stable(agent)
    assert "script__party" in prompts_of(agent).prefix.tools.tools

    async def hide(at: int) -> None:
        if at == number:
            house.expose("light.bedside", exposed=False)
            house.expose("script.party", exposed=False)

    with watched(hide) as prompted:
        await rebase(agent)
    assert number < len(prompted.devices)
    assert "Ceiling" in stable(agent)
    assert "Bedside" not in stable(agent)
    assert "script__party" not in prompts_of(agent).prefix.tools.tools
    for room in (None, "kitchen", "bedroom"):
        await house.ask("hello", room)
        sent = str(ollama.records[-1].body)
        assert "Bedside" not in sent
        assert "disco" not in sent


@pytest.mark.parametrize("number", range(ONE_OF_EACH))
async def test_a_question_between_two_prompts(
    house: House, agent: ConfigEntry, ollama: Ollama, number: int
) -> None:
    """Whoever asks during a rebase is sent a whole prefix, and nothing that was hidden just then.

    What the rebase takes afterwards does not bring back what that question found to be gone.
    """
    await rebase(agent)
    before = stable(agent)

    async def ask(at: int) -> None:
        if at == number:
            house.expose("light.bedside", exposed=False)
            await house.ask("hello", "kitchen")

    with watched(ask):
        await rebase(agent)
    system = ollama.messages[0]["content"]
    assert "Ceiling" in system
    assert set(system.split("\n")) <= set(before.split("\n"))
    assert "Bedside" not in str(ollama.records[-1].body)
    assert "Bedside" not in stable(agent)
    assert "You are in area Kitchen " in ollama.messages[-1]["content"]


async def test_what_comes_between_two_prompts_is_not_half_there(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """A light that is exposed during a rebase rides with questions, and rests after the next."""

    async def show(at: int) -> None:
        if at == 2:
            house.expose("light.porch")

    await rebase(agent)
    with watched(show):
        await rebase(agent)
    assert "Porch" not in stable(agent)
    await house.ask("hello", "kitchen")
    assert "Porch" in ollama.messages[-1]["content"]
    await rebase(agent)
    assert "Porch" in stable(agent)
