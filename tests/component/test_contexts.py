"""The contexts in which an agent is spoken to, and that each gets its own answer."""

import asyncio

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockUser,
)

from custom_components.ollama_warm.agent.contexts import APP, async_contexts, look, person_context
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context
from homeassistant.helpers import device_registry as dr, entity_registry as er

from .support.house import AGENT, House, add_server, later
from .support.server import Ollama

AREA = "You are in area {} and all generic commands"


async def test_satellites_and_what_spoke(house: House) -> None:
    """The app comes first, then each satellite, and each device that spoke and is still there."""
    satellites = sorted(house.satellites.values())
    assert async_contexts(house.hass, []) == [APP, *satellites]
    devices = dr.async_get(house.hass)
    phone = devices.async_get_or_create(
        config_entry_id=house.owner.entry_id, identifiers={("phones", "mine")}
    )
    spoke = [APP, phone.id, satellites[0], "a device that is gone", person_context("someone")]
    assert async_contexts(house.hass, spoke) == [APP, *sorted([*satellites, phone.id])]
    devices.async_remove_device(phone.id)
    assert async_contexts(house.hass, spoke) == [APP, *satellites]


async def test_satellites_that_are_none(house: House) -> None:
    """A satellite without a device, one that was removed, and other entities do not count."""
    entities = er.async_get(house.hass)
    entities.async_get_or_create("assist_satellite", "satellites", "nowhere")
    entities.async_get_or_create(
        "light", "satellites", "ring", device_id=house.satellites["kitchen"]
    )
    bedroom = entities.async_get_entity_id("assist_satellite", "satellites", "Bedroom")
    assert bedroom
    entities.async_remove(bedroom)
    assert async_contexts(house.hass, []) == [APP, house.satellites["kitchen"]]


@pytest.mark.parametrize(
    ("context", "device", "person"),
    [(APP, None, None), ("device", "device", None), (person_context("ada"), None, "ada")],
)
def test_looks(context: str, device: str | None, person: str | None) -> None:
    """A look at a context is an input that no one spoke, from that device or person."""
    seen = look(context, AGENT, "en")
    assert (seen.text, seen.device_id, seen.context.user_id) == ("", device, person)
    assert (seen.agent_id, seen.language, seen.conversation_id) == (AGENT, "en", None)


async def test_a_deleted_device(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A device that spoke and was deleted is no longer a context after the next warm-up."""
    await house.ask("hello", "kitchen")
    prefix = agent.runtime_data.agents["agent"].prompts.prefix
    assert set(prefix.contexts()) == {APP, *house.satellites.values()}
    dr.async_get(house.hass).async_remove_device(house.satellites["bedroom"])
    await house.ask("ping", conversation_id="ollama_warm.x")
    assert set(prefix.contexts()) == {APP, house.satellites["kitchen"]}
    await house.ask("hello", "kitchen")
    assert AREA.format("Kitchen") in ollama.messages[-1]["content"]


async def test_an_owner(house: House, ollama: Ollama) -> None:
    """The owner's prompt is looked at once, and is not taken for a device later."""
    owner = MockUser(name="Ada", is_owner=True)
    owner.add_to_hass(house.hass)
    entry = await house.set_up(
        add_server(house.hass, ollama.url, prompt="You talk to {{ user_name }}.\nBe brief.")
    )
    for _ in range(2):
        await house.ask("ping", conversation_id="ollama_warm.x")
        prefix = entry.runtime_data.agents["agent"].prompts.prefix
        assert set(prefix.contexts()) == {APP, *house.satellites.values()}
    assert "Ada" not in ollama.messages[0]["content"]


def sent_with(ollama: Ollama, words: str) -> str:
    """Return what the model was sent together with these words, in the newest message."""
    (text,) = (
        record.body["messages"][-1]["content"]
        for record in ollama.records
        if record.body["messages"][-1]["content"].endswith(words)
    )
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("times", [1, 4])
async def test_two_rooms_at_once(
    house: House, agent: ConfigEntry, ollama: Ollama, times: int
) -> None:
    """Who asks at the same moment as others is answered for the own room and no one else's.

    That is so for the very first questions, between changes, and next to a warm-up.
    """
    house.hass.states.async_set("light.ceiling", "on")
    for number in range(times):
        house.expose("light.porch", exposed=bool(number % 2))
        await asyncio.gather(
            house.ask(f"{number} from the kitchen", "kitchen"),
            house.ask(f"{number} from the bedroom", "bedroom"),
            house.ask(f"{number} from the app", context=Context()),
            house.ask(f"{number} from outside", "kitchen", conversation_id="ollama_warm.x"),
        )
        kitchen, bedroom, app = (
            sent_with(ollama, f"{number} from the {place}")
            for place in ("kitchen", "bedroom", "app")
        )
        assert AREA.format("Kitchen") in kitchen
        assert AREA.format("Bedroom") in bedroom
        assert "Bedroom" not in kitchen
        assert "Kitchen" not in bedroom
        assert "You are in area" not in app
    assert "You are in area" not in ollama.records[-1].body["messages"][0]["content"]
    await house.hass.async_block_till_done(wait_background_tasks=True)


async def test_a_room_after_the_other(
    house: House, agent: ConfigEntry, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A satellite that was moved is given its new room with the next question."""
    await house.ask("hello", "kitchen")
    devices = dr.async_get(house.hass)
    bedroom = devices.async_get(house.satellites["bedroom"])
    assert bedroom
    devices.async_update_device(house.satellites["kitchen"], area_id=bedroom.area_id)
    await later(house.hass, freezer, 10)
    await house.ask("hello again", "kitchen")
    assert AREA.format("Bedroom") in sent_with(ollama, "hello again")
