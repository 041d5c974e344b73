"""What is in the file: nothing that no prompt still holds, and no one's sentence.

Each test looks for words in the whole file, wherever they might be kept there.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.warming.warmth import COOLDOWN_S
from homeassistant.config_entries import ConfigEntry, ConfigEntryDisabler, ConfigEntryState
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.setup import async_setup_component

from .support.house import House, add_server, how_it_is, later, turns
from .support.server import Ollama

STORED = "ollama_warm.server"
CANARY = "Quillfeather"

type Storage = dict[str, Any]
type Change = Callable[[House], Awaitable[None]]


def file(storage: Storage) -> str:
    """Return all that is in the file."""
    return str(storage[STORED])


async def shown(house: House) -> None:
    """Name several things in the prompt, all by the same word."""
    hass = house.hass
    registry = er.async_get(hass)
    registry.async_update_entity("light.ceiling", name=CANARY)
    registry.async_update_entity("light.bedside", aliases=["Lamp", f"Old {CANARY}"])
    script = {"sequence": [], "alias": CANARY, "description": f"Does {CANARY}"}
    assert await async_setup_component(hass, "script", {"script": {"dance": script}})
    await hass.async_block_till_done()
    house.expose("script.dance")


async def hidden(house: House) -> None:
    """Expose nothing of it any longer."""
    for entity_id in ("light.ceiling", "light.bedside", "script.dance"):
        house.expose(entity_id, exposed=False)


async def deleted(house: House) -> None:
    """Delete all of it."""
    for entity_id in ("light.ceiling", "light.bedside", "script.dance"):
        er.async_get(house.hass).async_remove(entity_id)
        house.hass.states.async_remove(entity_id)
        house.hass.services.async_remove("script", "dance")


async def renamed(house: House) -> None:
    """Give other names to all of it."""
    registry = er.async_get(house.hass)
    registry.async_update_entity("light.ceiling", name="Lamp")
    registry.async_update_entity("light.bedside", aliases=["Lamp"])
    house.expose("script.dance", exposed=False)


CHANGES: dict[str, Change] = {"hidden": hidden, "deleted": deleted, "renamed": renamed}


@pytest.mark.parametrize("away", [False, True], ids=["server there", "server away"])
@pytest.mark.parametrize("auto_warm", [False, True], ids=["warmed from outside", "warmed by us"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_what_is_named_no_longer(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: Storage,
    change: Change,
    auto_warm: bool,  # noqa: FBT001 - a parameter of the test
    away: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """It leaves the file soon after, without any question, and nothing joins the prefix for it."""
    await shown(house)
    await house.set_up(add_server(house.hass, ollama.url, auto_warm=auto_warm))
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, COOLDOWN_S)
    await later(house.hass, freezer, COOLDOWN_S)
    assert file(hass_storage).count(CANARY) >= 3
    if away:
        await ollama.run(ollama.stand_in.stop())
    asked = len(ollama.records)
    house.expose("light.porch")
    await change(house)
    await later(house.hass, freezer, COOLDOWN_S)
    await later(house.hass, freezer, COOLDOWN_S)
    assert CANARY not in file(hass_storage)
    if away:
        await ollama.run(ollama.stand_in.start())
    if not auto_warm:
        assert len(ollama.records) == asked
        assert "Porch" not in file(hass_storage)


async def test_a_room(
    house: House, agent: ConfigEntry, freezer: FrozenDateTimeFactory, hass_storage: Storage
) -> None:
    """A room's name is nothing else."""
    areas = ar.async_get(house.hass)
    room = areas.async_create(CANARY)
    er.async_get(house.hass).async_update_entity("light.ceiling", area_id=room.id)
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, COOLDOWN_S)
    assert CANARY in file(hass_storage)
    areas.async_update(room.id, name="Study")
    await later(house.hass, freezer, COOLDOWN_S)
    await later(house.hass, freezer, COOLDOWN_S)
    assert CANARY not in file(hass_storage)


async def test_hidden_just_before_it_is_set_up_again(
    house: House, agent: ConfigEntry, freezer: FrozenDateTimeFactory, hass_storage: Storage
) -> None:
    """What there was no time for is done afterwards."""
    await shown(house)
    await house.ask("hello", "kitchen")
    await hidden(house)
    await house.hass.config_entries.async_reload(agent.entry_id)
    await later(house.hass, freezer, COOLDOWN_S)
    await later(house.hass, freezer, COOLDOWN_S)
    assert "Porch" not in file(hass_storage)
    assert CANARY not in file(hass_storage)


@pytest.mark.parametrize("first", [True, False])
async def test_hidden_around_a_disabled_entry(  # noqa: PLR0913 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: Storage,
    *,
    first: bool,
) -> None:
    """An entry that is disabled keeps nothing, as no one looks through it; it is learned again."""
    await shown(house)
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, COOLDOWN_S)
    if first:
        await hidden(house)
    by_a_person = ConfigEntryDisabler.USER
    await house.hass.config_entries.async_set_disabled_by(agent.entry_id, by_a_person)
    if not first:
        await hidden(house)
    await later(house.hass, freezer, COOLDOWN_S)
    assert STORED not in hass_storage
    await house.hass.config_entries.async_set_disabled_by(agent.entry_id, None)
    await house.ask("hello", "kitchen")
    await later(house.hass, freezer, COOLDOWN_S)
    assert "You are the voice of a small house." in file(hass_storage)
    assert CANARY not in file(hass_storage)


async def test_hidden_while_the_server_is_away_at_set_up(
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: Storage,
) -> None:
    """As often as it is tried again, what is hidden leaves the file."""
    await shown(house)
    await house.ask("hello", "kitchen")
    await ollama.run(ollama.stand_in.stop())
    await house.hass.config_entries.async_reload(agent.entry_id)
    assert how_it_is(agent) is ConfigEntryState.SETUP_RETRY
    assert CANARY in file(hass_storage)
    await hidden(house)
    await later(house.hass, freezer, 10 * COOLDOWN_S)
    assert how_it_is(agent) is ConfigEntryState.SETUP_RETRY
    assert CANARY not in file(hass_storage)
    await ollama.run(ollama.stand_in.start())


MOVES = {
    "a list of what is on": "On: {{ states.light | map(attribute='name') | join(', ') }}",
    "a sentence with a number": "{{ states('sensor.words') }} {{ states('sensor.number') }}",
    "an item": "- names: {{ states('sensor.words') }} {{ states('sensor.number') }}",
    "between two lines": "One\n{{ states('sensor.words') }}\nTwo",
}


@pytest.mark.parametrize("moving", MOVES.values(), ids=MOVES)
async def test_what_moves(
    house: House,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: Storage,
    moving: str,
) -> None:
    """What was learned as moving says nothing of what it once said."""
    await house.set_up(add_server(house.hass, ollama.url, prompt=moving))
    for number, words in enumerate((CANARY, f"{CANARY} and more", "Calm", "Quiet", "Calm")):
        house.hass.states.async_set("sensor.words", words)
        house.hass.states.async_set("sensor.number", str(number))
        state = house.hass.states.get("light.porch")
        assert state is not None
        name = {"friendly_name": words}
        house.hass.states.async_set("light.porch", state.state, {**state.attributes, **name})
        await house.ask("hello", "kitchen")
        await house.ask("ping", conversation_id="ollama_warm.x")
        await later(house.hass, freezer, COOLDOWN_S)
    assert CANARY not in file(hass_storage)


EXTRAS = {
    "a sentence": f"Speak of {CANARY}.",
    "as the instructions begin": f"You are the voice of a small house.\n{CANARY}",
    "several lines": f"One\n\n- names: {CANARY}\n  domain: light\nTwo",
    "an empty line before it": f"\n{CANARY}\n",
}


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=EXTRAS)
async def test_a_sentence_for_one_question(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    freezer: FrozenDateTimeFactory,
    hass_storage: Storage,
    extra: str,
) -> None:
    """It rides with that question, each time it is said; it is not stored and not learned."""
    for conversation_id in (None, "ollama_warm.x", None, "ollama_warm.x", None):
        more = {"conversation_id": conversation_id, "extra_system_prompt": extra}
        await house.ask("hello", "kitchen", **more)
        assert CANARY in ollama.messages[-1]["content"]
        assert CANARY not in ollama.messages[0]["content"]
    await later(house.hass, freezer, COOLDOWN_S)
    assert CANARY not in file(hass_storage)
    assert CANARY not in repr(agent.runtime_data.agents["agent"].prompts.prefix)
    (turn,) = turns(await house.ask("hello", "bedroom"))
    assert turn["verdict"] == "warm"
    assert CANARY not in str(ollama.messages)


async def test_a_sentence_that_is_in_the_prompt(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """It is said once more with the question, and the prefix is as it was."""
    same = "You are the voice of a small house."
    await house.ask("ping", conversation_id="ollama_warm.x")
    before = ollama.messages[0]["content"]
    assert same in before
    for _ in range(3):
        (turn,) = turns(await house.ask("hello", extra_system_prompt=same))
        assert ollama.messages[0]["content"] == before
        assert same in ollama.messages[-1]["content"]
        assert turn["verdict"] == "warm"
    (turn,) = turns(await house.ask("hello"))
    assert (turn["verdict"], ollama.messages[0]["content"]) == ("warm", before)


async def test_words_are_not_kept(
    house: House, agent: ConfigEntry, ollama: Ollama, hass_storage: Storage
) -> None:
    """Once a question is answered, what the server was sent is remembered by digests only."""
    await house.ask(f"Is {CANARY} there?", "kitchen", extra_system_prompt=f"Be {CANARY}.")
    assert CANARY not in repr(agent.runtime_data.agents["agent"]._last)


async def test_known_after_a_restart(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A digest is enough to know that the server has been sent just this."""
    await house.ask("ping", conversation_id="ollama_warm.x")
    await house.hass.config_entries.async_reload(agent.entry_id)
    (turn,) = turns(await house.ask("hello", "kitchen"))
    assert (turn["verdict"], turn["reason"]) == ("warm", None)
