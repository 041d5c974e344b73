"""The rig's Home Assistant is a real one, and the demonstration house is a real house in it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web
import pytest
import pytest_asyncio

from tests.rig.custom_components.demo_house.house import EXPOSED_COUNT, ROOMS, THINGS
from tests.rig.hass_config import free_port
from tests.rig.home_assistant import DEMO_HOUSE, CommandError, HassError, HomeAssistant, Json
from tests.rig.house_scripts import SCRIPTS

pytestmark = pytest.mark.asyncio(loop_scope="session")

BUILT_IN = "conversation.home_assistant"
LAMP = "light.kitchen_ceiling_light"


@pytest_asyncio.fixture(scope="module", loop_scope="session", name="house")
async def running_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HomeAssistant]:
    """Give the demonstration house alone: our integration has its own tests."""
    folder = tmp_path_factory.mktemp("house")
    async with HomeAssistant(folder, components=(DEMO_HOUSE,)) as house:
        yield house
        assert house.unexpected_errors() == []


@pytest_asyncio.fixture(loop_scope="session", name="model_server")
async def fake_model_server() -> AsyncIterator[str]:
    """Give a server that says what core's Ollama integration asks for at set-up."""
    asked: list[Json] = []

    async def tags(_: web.Request) -> web.Response:
        return web.json_response({"models": [{"model": "tiny:latest", "name": "tiny:latest"}]})

    async def chat(request: web.Request) -> web.Response:
        asked.append(await request.json())
        answer = {"role": "assistant", "content": "Certainly."}
        return web.json_response({"model": "tiny", "message": answer, "done": True})

    app = web.Application()
    app.router.add_get("/api/tags", tags)
    app.router.add_post("/api/chat", chat)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()
    assert asked, "the agent never asked"


async def test_every_room_has_a_real_satellite(house: HomeAssistant) -> None:
    """A satellite has a state, an area on a floor, a pipeline select and an agent behind it."""
    states = await house.states()
    devices = {
        device["id"]: device for device in await house.command("config/device_registry/list")
    }
    areas = {area["area_id"]: area for area in await house.command("config/area_registry/list")}
    assert {room.name for room in house.rooms} == {room.name for room in ROOMS}
    for room in house.rooms:
        assert states[room.satellite_entity_id]["state"] == "idle"
        assert states[room.pipeline_entity_id]["state"] == "preferred"
        area = areas[devices[room.device_id]["area_id"]]
        assert area["name"] == room.name
        assert area["floor_id"] in ("ground_floor", "upper_floor")


async def test_five_of_six_rooms_keep_timers(house: HomeAssistant) -> None:
    """Home Assistant's own intents set a timer everywhere but in the office."""
    refused = []
    for room in house.rooms:
        reply = await house.ask("set a timer for 5 minutes", agent=BUILT_IN, device=room)
        if reply.error_code:
            refused.append(room.name)
        else:
            state = (await house.states())[room.satellite_entity_id]
            assert state["attributes"]["timers"] == ["300 s"]
            await house.ask("cancel all timers", agent=BUILT_IN, device=room)
    assert refused == ["Office"]
    assert [room.name for room in house.rooms if not room.keeps_timers] == refused


async def test_the_exposed_entities_are_the_planned_ones(house: HomeAssistant) -> None:
    """Neither more nor fewer entities are exposed than the plan says, and none is missing."""
    exposed = await house.exposed()
    assert len(exposed) == EXPOSED_COUNT == 105
    assert {f"script.{script}" for script in SCRIPTS} < exposed
    assert exposed < (await house.states()).keys()
    assert "sensor.kitchen_power" not in exposed
    unavailable = [
        entity
        for entity, state in (await house.states()).items()
        if entity in exposed and state["state"] in ("unavailable", "unknown")
    ]
    # A script that never ran is off; everything else has something to tell.
    assert unavailable == []
    assert {thing.platform for thing in THINGS} <= {entity.partition(".")[0] for entity in exposed}


async def test_things_do_what_they_are_told(house: HomeAssistant) -> None:
    """A sentence flips a real state, and the weather can be foretold."""
    room = house.room("Kitchen")
    reply = await house.ask("turn on the ceiling light", agent=BUILT_IN, device=room)
    assert reply.error_code is None
    assert (await house.states())[LAMP]["state"] == "on"
    await house.call_action("light", "turn_off", {"entity_id": LAMP})
    assert (await house.states())[LAMP]["state"] == "off"
    for kind, least in (("hourly", 24), ("daily", 5)):
        data = {"entity_id": "weather.home", "type": kind}
        answer = await house.call_action("weather", "get_forecasts", data, return_response=True)
        assert len(answer["weather.home"]["forecast"]) >= least


async def test_a_conversation_goes_on(house: HomeAssistant) -> None:
    """A reply carries what a next question needs, and how long it took."""
    first = await house.ask("turn off the bedroom ceiling light", agent=BUILT_IN)
    assert first.speech
    assert first.seconds > 0
    assert first.extra_data == {}
    second = await house.ask(
        "turn it off", agent=BUILT_IN, conversation_id=first.conversation_id, language="en"
    )
    assert second.conversation_id == first.conversation_id


async def test_a_satellite_hears_wake_word_and_words(house: HomeAssistant) -> None:
    """The whole pipeline runs: wake word, speech-to-text, the agent that the select names."""
    room = house.room("Dining Room")
    await house.make_pipeline("Built-in", BUILT_IN)
    await house.select_pipeline(room, "Built-in")
    heard = asyncio.create_task(house.say(room, "turn on the dining room chandelier", seconds=0.5))
    await asyncio.sleep(0.25)
    assert (await house.states())[room.satellite_entity_id]["state"] == "listening"
    outcome = await heard
    assert outcome["reply"]["response"]["response_type"] == "action_done"
    states = await house.states()
    assert states["light.dining_room_chandelier"]["state"] == "on"
    assert states[room.satellite_entity_id]["state"] == "idle"


async def test_the_second_user_may_talk_and_nothing_else(house: HomeAssistant) -> None:
    """The warmer's token asks questions; what belongs to administrators is closed to it."""
    reply = await house.ask("what time is it", agent=BUILT_IN, token=house.warmer_token)
    assert reply.speech
    with pytest.raises(CommandError) as refused:
        await house.command("llm/api/list", token=house.warmer_token)
    assert refused.value.code == "unauthorized"
    apis = await house.command("llm/api/list")
    assert "assist" in {api["id"] for api in apis["apis"]}


async def test_a_house_changes(house: HomeAssistant) -> None:
    """Lights come, are renamed and hidden, and go."""
    before = await house.exposed()
    data = {"name": "Kitchen Novelty", "area": "Kitchen"}
    answer = await house.call_action("demo_house", "add_light", data, return_response=True)
    novelty: str = answer["entity_id"]
    assert await house.exposed() == before | {novelty}
    data = {"entity_id": novelty, "name": "Kitchen Antique"}
    await house.call_action("demo_house", "rename", data)
    assert (await house.states())[novelty]["attributes"]["friendly_name"] == "Kitchen Antique"
    await house.expose(novelty, exposed=False)
    assert await house.exposed() == before
    await house.call_action("demo_house", "remove", {"entity_id": novelty})
    assert novelty not in await house.states()
    with pytest.raises(CommandError, match="no thing of this house"):
        await house.call_action("demo_house", "remove", {"entity_id": novelty})


async def test_core_agents_are_set_up_as_by_hand(house: HomeAssistant, model_server: str) -> None:
    """Two agents of one server share its entry, and both answer at once."""
    first = await house.add_core_ollama(model_server, model="tiny:latest", name="One")
    second = await house.add_core_ollama(model_server, model="tiny:latest", name="Two")
    assert first != second
    for agent in (first, second):
        assert (await house.ask("Do you hear me?", agent=agent)).speech == "Certainly."
    entries = await house.command("config_entries/get", domain="ollama")
    assert len(entries) == 1


async def test_flows_say_why_they_failed(house: HomeAssistant) -> None:
    """A flow that ends otherwise than expected is an error with Home Assistant's own words."""
    with pytest.raises(HassError, match="cannot_connect"):
        await house.config_flow("ollama", {"url": f"http://127.0.0.1:{free_port()}"})
    with pytest.raises(CommandError) as refused:
        await house.command("no/such/command")
    assert refused.value.code == "unknown_command"


async def test_a_restart_changes_nothing(house: HomeAssistant) -> None:
    """Tokens, port, devices, exposure and what was added are the same afterwards."""
    data = {"name": "Office Novelty", "area": "Office"}
    await house.call_action("demo_house", "add_light", data, return_response=True)
    await house.call_action("demo_house", "remove", {"entity_id": "light.office_desk_lamp"})
    before = house.rooms, house.admin_token, house.warmer_token, await house.exposed()
    await house.restart()
    assert (house.rooms, house.admin_token, house.warmer_token, await house.exposed()) == before
    assert (await house.states())["light.office_novelty"]["state"] == "off"
    assert (await house.ask("what time is it", agent=BUILT_IN, token=house.warmer_token)).speech
    assert house.unexpected_errors() == []


async def test_a_power_cut_is_survived(house: HomeAssistant) -> None:
    """After a kill the same house starts again."""
    await house.kill()
    with pytest.raises((aiohttp.ClientError, HassError)):
        await house.states()
    await house.start()
    assert len(house.rooms) == len(ROOMS)


async def test_nobody_else_hears_it(house: HomeAssistant) -> None:
    """The port is the chosen one, on this machine only, and no trial configuration waits."""
    config = await house.command("http/config")
    assert config["stable"]["server_host"] == ["127.0.0.1"]
    assert config["pending"] is None


async def test_a_house_of_five_hundred_entities(tmp_path: Path) -> None:
    """A house can be as large as a test wants it to be."""
    async with HomeAssistant(tmp_path, components=(DEMO_HOUSE,), extra_entities=400) as large:
        assert len(await large.exposed()) == EXPOSED_COUNT + 400
        assert large.unexpected_errors() == []


async def test_a_failed_start_tells_the_end_of_the_log(tmp_path: Path) -> None:
    """Whoever started it need not look for the log."""
    broken = tmp_path / "hass"
    broken.write_text("#!/bin/sh\necho the roof fell in\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(HassError, match=r"(?s)exit status 3.*the roof fell in"):
        async with HomeAssistant(tmp_path / "house", components=(), hass_executable=broken):
            pytest.fail("it started")
