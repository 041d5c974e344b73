"""How much a question looks at: what has changed, however big the house is, and all of that."""

from collections import Counter
from collections.abc import Callable
import random
from typing import Any

import pytest

from custom_components.ollama_warm.agent import messages, names, permits, tool_forms
from custom_components.ollama_warm.agent.permits import Exposure
from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er

from .support.house import House
from .support.scripts import says
from .support.server import Ollama

MANY = 300
LAMP = "light.lamp_1"
KETTLE = "switch.kettle"


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is asked of Home Assistant for each entity, and what is read of texts."""
    count: Counter[str] = Counter()

    def counted(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def one(*args: object, **more: object) -> object:
            count[name] += 1
            return real(*args, **more)

        monkeypatch.setattr(owner, name, one)

    counted(permits, "async_should_expose")
    counted(permits, "async_get_entity_aliases")
    counted(names, "fold")
    counted(messages, "fold")
    counted(tool_forms, "_wire_tool")
    return count


@pytest.fixture(name="big")
def big_house(house: House) -> House:
    """Return a house with hundreds of things, of which one has a device and some have no id."""
    hass = house.hass
    for number in range(MANY):
        hass.states.async_set(f"light.lamp_{number}", "on", {"friendly_name": f"Lamp {number}"})
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=house.owner.entry_id, identifiers={("kitchen", "kettle")}, name="Kettle"
    )
    er.async_get(hass).async_get_or_create(
        "switch",
        "kitchen",
        "kettle",
        suggested_object_id="kettle",
        config_entry=house.owner,
        device_id=device.id,
        has_entity_name=True,
        original_name="Power",
    )
    hass.states.async_set(KETTLE, "off", {"friendly_name": "Kettle Power"})
    house.expose(KETTLE)
    return house


@pytest.fixture(name="known")
async def known_agent(big: House, agent: ConfigEntry, ollama: Ollama) -> ConfigEntry:
    """Return an agent that was talked to, in a house from which something has gone."""
    ollama.stand_in.script = says("The Ceiling is on.")
    for _ in range(3):
        await big.ask("what is on", conversation_id="talk")
    big.expose("light.bedside", exposed=False)
    for _ in range(2):
        await big.ask("what is on", conversation_id="talk")
    return agent


def kettle(house: House) -> er.RegistryEntry:
    """Return what the registry says of the kettle, whatever its id is."""
    entities = er.async_get(house.hass)
    entry = entities.async_get(entities.async_get_entity_id("switch", "kitchen", "kettle") or "")
    assert entry
    return entry


def update(house: House, **changes: Any) -> None:  # noqa: ANN401 - as the registry takes it
    """Change what the registry says of it."""
    er.async_get(house.hass).async_update_entity(kettle(house).entity_id, **changes)


def update_device(house: House, **changes: Any) -> None:  # noqa: ANN401 - as the registry takes it
    """Change what the registry says of its device."""
    device = kettle(house).device_id
    assert device
    dr.async_get(house.hass).async_update_device(device, **changes)


def move(house: House) -> None:
    """Give it another id, as a platform does."""
    old = kettle(house).entity_id
    house.hass.states.async_remove(old)
    new = KETTLE if old != KETTLE else "switch.boiler"
    update(house, new_entity_id=new)
    set_state(house, new, "Kettle Power")


def remove(house: House) -> None:
    """Take a lamp out of the registry while it is still there."""
    entities = er.async_get(house.hass)
    if entities.async_get("light.porch"):
        entities.async_remove("light.porch")
        set_state(house, "light.porch", "Porch")


def set_state(house: House, entity_id: str, name: str, state: str = "on") -> None:
    """Let an entity say something."""
    house.hass.states.async_set(entity_id, state, {"friendly_name": name})


CHANGES: dict[str, Callable[[House], object]] = {
    "hidden": lambda house: house.expose(kettle(house).entity_id, exposed=False),
    "shown": lambda house: house.expose(kettle(house).entity_id),
    "hidden without an id": lambda house: house.expose(LAMP, exposed=False),
    "shown without an id": lambda house: house.expose(LAMP),
    "gone": lambda house: house.hass.states.async_remove("light.lamp_2"),
    "come": lambda house: set_state(house, "light.attic", "Attic"),
    "come again": lambda house: set_state(house, "light.lamp_2", "Lamp 2"),
    "called by its state": lambda house: set_state(house, "light.lamp_3", "Desk"),
    "called otherwise": lambda house: set_state(house, "light.lamp_3", "Table"),
    "hidden one called otherwise": lambda house: set_state(house, LAMP, "Secret"),
    "aliases": lambda house: update(house, aliases=["Cooker", "Hot water"]),
    "computed alias": lambda house: update(house, aliases=[er.COMPUTED_NAME]),
    "named": lambda house: update(house, name="Boiler"),
    "not named": lambda house: update(house, name=None),
    "device renamed": lambda house: update_device(house, name_by_user="Samovar"),
    "device renamed again": lambda house: update_device(house, name_by_user="Teapot"),
    "device moved": lambda house: update_device(house, area_id="kitchen"),
    "device moved away": lambda house: update_device(house, area_id=None),
    "area renamed": lambda house: ar.async_get(house.hass).async_update("kitchen", name="Galley"),
    "another id": move,
    "no longer registered": remove,
}


async def test_nothing_has_changed(big: House, known: ConfigEntry, work: Counter[str]) -> None:
    """No entity is asked for, no name is read, no tool described: a question reads its words."""
    for _ in range(3):
        await big.ask("what is on")
    assert work == {"fold": 3}
    for number in range(MANY):
        set_state(big, f"light.lamp_{number}", f"Lamp {number}", "off")
    await big.ask("what is on")
    assert work == {"fold": 4}


async def test_a_conversation_is_read_and_not_the_prompt(
    big: House, known: ConfigEntry, work: Counter[str]
) -> None:
    """Where something has gone, it is what was said that is looked through, once for each text."""
    await big.ask("what is on", conversation_id="talk")
    # Words, answer, thought and tail of each of five rounds, and the question.
    assert work.keys() == {"fold"}
    assert work["fold"] <= 5 * 4 + 1


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_one_change_is_one_look(
    big: House, known: ConfigEntry, work: Counter[str], change: Callable[[House], object]
) -> None:
    """Each entity is asked for once more at most, and only new names are read."""
    await big.hass.async_block_till_done()
    await big.ask("what is on")
    work.clear()
    change(big)
    await big.hass.async_block_till_done()
    for _ in range(3):
        await big.ask("what is on")
    assert work["async_should_expose"] <= 2 * (MANY + 10)
    assert work["fold"] <= 15


@pytest.mark.parametrize("seed", range(30))
async def test_no_change_is_missed(big: House, known: ConfigEntry, seed: int) -> None:
    """After whatever happens, what is known is what is found by looking for the first time."""
    picked = random.Random(seed)  # noqa: S311 - no secret
    agent = known.runtime_data.agents["agent"]
    hass = big.hass
    for _ in range(20):
        kind = picked.choice(sorted(CHANGES))
        CHANGES[kind](big)
        agent.permits.async_losses()
        first = Exposure(hass)
        first.async_look()
        now = hass.data[permits._EXPOSURE].things
        assert Counter(now.here()) == Counter(first.things.here()), kind
