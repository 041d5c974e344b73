"""The daemon with a real Home Assistant and a real llama.cpp, while people live in the house."""

import asyncio
from collections.abc import AsyncIterator
import signal

import pytest

from ollama_warmer.daemon.house_events import EVENTS, changes_prompts
from ollama_warmer.daemon.live import connect_live
from ollama_warmer.house.credentials import Token
from tests.e2e.daemon_scene import OWN_WORDS, Scene, open_scene
from tests.warmer.support.live_house import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]


@pytest.fixture(scope="module", name="scene")
async def _scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """One daemon for all tests of this file, which are the story of its life."""
    async with open_scene(tmp_path_factory.mktemp("daemon")) as scene:
        yield scene


async def test_start(scene: Scene) -> None:
    """It warms at once, tells systemd so, and a room's next question re-reads its own words."""
    first = scene.daemon.rounds[0]
    assert [it["name"] for it in first["targets"]] == ["app", "Kitchen", "Office"]
    assert {it["verdict"] for it in first["targets"]} == {"warm"}
    for room in scene.rooms:
        record = await scene.ask(room, "Is anything still on?")
        assert record.re_read_tokens <= OWN_WORDS
    assert scene.systemd.heard("READY=1") == 1
    assert scene.systemd.heard("(start): warm, 3 of 3 targets warm; next round ") >= 1
    assert scene.systemd.heard("WATCHDOG=1") >= 1


async def test_house_changes(scene: Scene) -> None:
    """After a new name the prompts are read again, before anybody asks."""
    light = min(it for it in await scene.house.exposed() if it.startswith("light.kitchen"))
    async with scene.leads_to("house changed"):
        await scene.house.command(
            "config/entity_registry/update", entity_id=light, name="Lantern of the Cook"
        )

    assert scene.daemon.rounds[-1]["targets"][0]["steps"][0]["re_read"] > 500
    record = await scene.ask(scene.rooms[0], "Did the name change?")
    assert record.re_read_tokens <= OWN_WORDS


async def test_what_a_plain_user_is_told(scene: Scene) -> None:
    """Names, areas, exposure and new entities reach a user without administrator rights."""
    house = scene.house
    heard: list[object] = []
    light = min(it for it in await house.exposed() if it.startswith("light.office"))
    (area, *_) = await house.command("config/area_registry/list")
    async with connect_live(house.url, Token(house.warmer_token)) as home:
        for event_type in EVENTS:
            await home.subscribe("subscribe_events", {"event_type": event_type}, heard.append)
        for change in (
            house.command("config/entity_registry/update", entity_id=light, name="Beacon"),
            house.command("config/area_registry/update", area_id=area["area_id"], name="Grove"),
            house.expose(light, exposed=False),
            house.call_action("demo_house", "add_light", {"name": "Torch", "area": "Kitchen"}),
        ):
            heard.clear()
            await change
            await until(lambda: any(map(changes_prompts, heard)))


async def test_agent_is_set_up_anew(scene: Scene) -> None:
    """Who changes an agent's options, or reloads it, gets a round."""
    entities = await scene.house.command("config/entity_registry/list")
    entry = next(it["config_entry_id"] for it in entities if it["entity_id"] == scene.agent)
    async with scene.leads_to("agent set up again"):
        await scene.house.rest("POST", f"/api/config/config_entries/entry/{entry}/reload")

    assert (await scene.ask(scene.rooms[0], "Still there?")).re_read_tokens <= OWN_WORDS


async def test_person_first(scene: Scene) -> None:
    """While somebody talks to a satellite nothing else is asked."""
    room, start = scene.rooms[0], len(scene.server.records)
    await scene.house.make_pipeline("Core", scene.agent)
    await scene.house.select_pipeline(room, "Core")
    async with scene.leads_to("configuration read again"):
        heard = asyncio.create_task(scene.house.say(room, "Is it raining?", seconds=3))
        await asyncio.sleep(0.5)
        scene.daemon.signal(signal.SIGHUP)
        assert "reply" in await heard

    answers = [it for it in scene.server.records[start:] if it.kind == "answer"]
    spoken = next(n for n, it in enumerate(answers) if "Is it raining?" in it.raw)
    assert spoken == 0
    assert answers[0].ended is not None
    assert answers[1].started - answers[0].ended >= 3
