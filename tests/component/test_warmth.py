"""Occasions on which agents are warmed that lie in Home Assistant: changes, and the time."""

import asyncio
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    async_fire_time_changed,
)

from custom_components.ollama_warm.turns.turns import Turn
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
)

from .support.house import House, add_server, later
from .support.server import Ollama
from .support.warmed import Watch, turn, watched

type Change = Callable[[House], object]


@pytest.fixture
def watch() -> Generator[Watch]:
    """Have warm-ups counted only."""
    with watched() as watch:
        yield watch


@pytest.fixture
async def entry(house: House, watch: Watch, ollama: Ollama) -> ConfigEntry:
    """Return the entry of a server whose agent is warmed by itself."""
    return await house.set_up(add_server(house.hass, ollama.url, auto_warm=True))


@pytest.fixture
async def quiet(
    house: House, watch: Watch, entry: ConfigEntry, freezer: FrozenDateTimeFactory
) -> House:
    """Return a house whose agent has been warmed as Home Assistant started."""
    assert await watch.count(house.hass, freezer) == 1
    await later(house.hass, freezer, 60)
    return house


async def tick(house: House, freezer: FrozenDateTimeFactory, seconds: float) -> None:
    """Let time pass, but wait for no warm-up."""
    freezer.tick(timedelta(seconds=seconds))
    async_fire_time_changed(house.hass)
    await house.hass.async_block_till_done()


def rename_device(house: House) -> None:
    """Give a satellite another name."""
    dr.async_get(house.hass).async_update_device(
        house.satellites["kitchen"], name_by_user="Cooking"
    )


CHANGES: dict[str, Change] = {
    "exposed": lambda house: house.expose("light.porch"),
    "un-exposed": lambda house: house.expose("light.ceiling", exposed=False),
    "entity renamed": lambda house: er.async_get(house.hass).async_update_entity(
        "light.ceiling", name="Lamp"
    ),
    "entity removed": lambda house: er.async_get(house.hass).async_remove("light.ceiling"),
    "device renamed": rename_device,
    "satellite added": lambda house: house.add_satellite("Hall"),
    "area added": lambda house: ar.async_get(house.hass).async_create("Attic"),
    "floor added": lambda house: fr.async_get(house.hass).async_create("Upstairs"),
    "script added": lambda house: house.hass.services.async_register(
        "script", "party", lambda _: None
    ),
    "entity appears": lambda house: house.hass.states.async_set("sensor.new", "on"),
}
NO_CHANGES: dict[str, Change] = {
    "state": lambda house: house.hass.states.async_set("light.ceiling", "on"),
    "service": lambda house: house.hass.services.async_register("mqtt", "publish", lambda _: None),
    "event": lambda house: house.hass.bus.async_fire("something_else"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_the_prompt_may_have_changed(
    quiet: House, watch: Watch, freezer: FrozenDateTimeFactory, change: Change
) -> None:
    """Whatever may change the prompt is followed by one warm-up, after a moment of calm."""
    change(quiet)
    await later(quiet.hass, freezer, 5)
    watch.warm_up.assert_not_called()
    assert await watch.count(quiet.hass, freezer) == 1
    await later(quiet.hass, freezer, 60)
    assert await watch.count(quiet.hass, freezer) == 0


@pytest.mark.parametrize("change", NO_CHANGES.values(), ids=NO_CHANGES)
async def test_nothing_that_matters(
    quiet: House, watch: Watch, freezer: FrozenDateTimeFactory, change: Change
) -> None:
    """What happens in a house all day is no occasion."""
    change(quiet)
    assert await watch.count(quiet.hass, freezer) == 0


async def test_what_goes_away(quiet: House, watch: Watch, freezer: FrozenDateTimeFactory) -> None:
    """An entity that disappears, and a script, are occasions as when they came."""
    quiet.hass.states.async_set("sensor.new", "on")
    quiet.hass.services.async_register("script", "party", lambda _: None)
    assert await watch.count(quiet.hass, freezer) == 1
    quiet.hass.states.async_remove("sensor.new")
    assert await watch.count(quiet.hass, freezer) == 1
    quiet.hass.services.async_remove("script", "party")
    assert await watch.count(quiet.hass, freezer) == 1


async def test_many_changes(quiet: House, watch: Watch, freezer: FrozenDateTimeFactory) -> None:
    """A hundred changes within seconds are one warm-up."""
    for number in range(100):
        quiet.hass.states.async_set(f"sensor.new_{number}", "on")
        if not number % 25:
            await later(quiet.hass, freezer, 1)
    assert await watch.count(quiet.hass, freezer) == 1
    await later(quiet.hass, freezer, 120)
    assert await watch.count(quiet.hass, freezer) == 0


async def test_a_change_while_it_is_warmed(
    quiet: House, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """Changes that a long warm-up cannot have seen are followed by one more, when it is over."""
    over = asyncio.Event()

    async def long(*_: object) -> Turn:
        await over.wait()
        return turn()

    watch.take(long)
    for number in range(4):
        quiet.hass.states.async_set(f"sensor.new_{number}", "on")
        await tick(quiet, freezer, 15)
        assert watch.warm_up.call_count == 1
    over.set()
    assert await watch.count(quiet.hass, freezer) == 2


async def test_home_assistant_starts(
    house: House, ollama: Ollama, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """While Home Assistant starts nothing is warmed: half of the house is not there yet."""
    house.hass.set_state(CoreState.starting)
    await house.set_up(add_server(house.hass, ollama.url, auto_warm=True))
    house.expose("light.porch")
    assert await watch.count(house.hass, freezer) == 0
    await later(house.hass, freezer, 300)
    house.hass.set_state(CoreState.running)
    assert await watch.count(house.hass, freezer) == 0
    house.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    assert await watch.count(house.hass, freezer) == 1


async def test_the_entry_is_loaded_again(
    quiet: House, entry: ConfigEntry, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """A reload, and other options, are followed by a warm-up with what is true then."""
    await quiet.hass.config_entries.async_reload(entry.entry_id)
    assert await watch.count(quiet.hass, freezer) == 1
    subentry = entry.subentries["agent"]
    quiet.hass.config_entries.async_update_subentry(
        entry, subentry, data={**subentry.data, "prompt": "Sing."}
    )
    await quiet.hass.async_block_till_done()
    await later(quiet.hass, freezer, 10)
    ((warm_up, language),) = (call.args for call in watch.warm_up.call_args_list)
    assert (warm_up.agent.options.prompt, language) == ("Sing.", "en")


@pytest.mark.parametrize(("minutes", "expected"), [(60, 1), (7, 8), (0, 0)])
async def test_regularly(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    watch: Watch,
    freezer: FrozenDateTimeFactory,
    minutes: int,
    expected: int,
) -> None:
    """An agent is warmed at its interval, unless that is 0."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    await house.set_up(add_server(house.hass, ollama.url, auto_warm=True, warm_interval=minutes))
    assert await watch.count(house.hass, freezer) == 1
    for _ in range(60):
        await later(house.hass, freezer, 60)
    assert await watch.count(house.hass, freezer) == expected


async def test_not_by_itself(
    house: House, ollama: Ollama, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """An agent that is not to be warmed by itself is left alone on every occasion."""
    await house.set_up(add_server(house.hass, ollama.url, warm_interval=60))
    assert await watch.count(house.hass, freezer) == 0
    for change in CHANGES.values():
        change(house)
    assert await watch.count(house.hass, freezer) == 0
    ollama.stand_in.version = "0.36.0"
    await later(house.hass, freezer, 24 * 3600)
    await later(house.hass, freezer, 60)
    assert await watch.count(house.hass, freezer) == 0


# Two midnights that follow each other, with the clocks changed in the first of these nights or,
# where they change at midnight itself, at that very moment.
NIGHTS = {
    "Europe/Paris in spring": ("2026-03-28 23:00", "2026-03-29 22:00"),
    "Europe/Paris in autumn": ("2026-10-24 22:00", "2026-10-25 23:00"),
    "America/Santiago in spring": ("2026-09-06 04:00", "2026-09-07 03:00"),
    "America/Santiago in autumn": ("2026-04-05 04:00", "2026-04-06 04:00"),
    "Asia/Beirut in spring": ("2026-03-28 22:00", "2026-03-29 21:00"),
    "America/Havana in spring": ("2026-03-08 05:00", "2026-03-09 04:00"),
    "America/Havana in autumn": ("2026-11-01 04:00", "2026-11-02 05:00"),
}


@pytest.mark.parametrize(("zone", "midnights"), NIGHTS.items(), ids=NIGHTS)
async def test_midnight(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    ollama: Ollama,
    watch: Watch,
    freezer: FrozenDateTimeFactory,
    zone: str,
    midnights: tuple[str, str],
) -> None:
    """Agents are warmed right after each local midnight, as the date in a prompt changes then."""
    await house.hass.config.async_set_time_zone(zone.partition(" ")[0])
    first, second = (datetime.fromisoformat(night).replace(tzinfo=UTC) for night in midnights)
    freezer.move_to(first - timedelta(hours=3))
    await house.set_up(add_server(house.hass, ollama.url, auto_warm=True))
    assert await watch.count(house.hass, freezer) == 1
    for midnight in (first, second):
        freezer.move_to(midnight - timedelta(seconds=20))
        await later(house.hass, freezer, 0)
        assert await watch.count(house.hass, freezer) == 0
        freezer.move_to(midnight + timedelta(seconds=1))
        await later(house.hass, freezer, 0)
        watch.warm_up.assert_not_called()
        assert await watch.count(house.hass, freezer) == 1


async def test_another_time_zone(
    house: House, ollama: Ollama, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """Agents are warmed when it is chosen, and at its midnight instead of the old one."""
    await house.hass.config.async_update(time_zone="Europe/Paris")
    freezer.move_to("2026-06-10 12:00")
    await house.set_up(add_server(house.hass, ollama.url, auto_warm=True))
    assert await watch.count(house.hass, freezer) == 1
    await house.hass.config.async_update(time_zone="America/New_York")
    assert await watch.count(house.hass, freezer) == 1
    for moment, count in (("2026-06-10 22:00:02", 0), ("2026-06-11 04:00:02", 1)):
        freezer.move_to(moment)
        await later(house.hass, freezer, 0)
        assert await watch.count(house.hass, freezer) == count


async def test_the_entry_is_unloaded(
    quiet: House, entry: ConfigEntry, watch: Watch, freezer: FrozenDateTimeFactory
) -> None:
    """The warm-up that is going on ends, and nothing is an occasion any longer."""
    ended: list[str] = []

    async def long(*_: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    watch.take(long)
    quiet.expose("light.porch")
    await tick(quiet, freezer, 11)
    assert (watch.warm_up.call_count, ended) == (1, [])
    await quiet.hass.config_entries.async_unload(entry.entry_id)
    await quiet.hass.async_block_till_done()
    assert ended == ["ended"]
    watch.warm_up.reset_mock()
    for change in CHANGES.values():
        change(quiet)
    for _ in range(3):
        await later(quiet.hass, freezer, 24 * 3600)
    assert await watch.count(quiet.hass, freezer) == 0
