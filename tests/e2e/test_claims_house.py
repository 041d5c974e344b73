"""What the clock article says of Home Assistant, claim by claim, with its own Ollama agent."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
import re
from zoneinfo import ZoneInfo

import aiohttp
import pytest

from tests.rig.bench.stage import TIMEZONE, TOOLS
from tests.rig.home_assistant import DEMO_HOUSE, CommandError, HomeAssistant, Room
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, Record, ServedModel
from tests.rig.ollama_engine import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODELS = [
    ServedModel(memory.value, memory, tiny_model(memory))
    for memory in (Memory.ATTENTION, Memory.RECURRENT)
]
AREA = "You are in area Dining Room"
NO_TIMERS = "This device is not able to start timers."
TIME = "Current time is"
DATE = "You are a voice assistant.\nToday is {{ now().strftime('%A, %-d %B %Y') }}.\nBe brief."


class Stage:
    """A house that runs, and what its agent asks the model server."""

    def __init__(self, house: HomeAssistant, server: OllamaStandIn) -> None:
        """Take both; agents are added by the tests."""
        self.house = house
        self.server = server
        self.agents: dict[str, str] = {}

    @property
    def dining_room(self) -> Room:
        """The room of the article's satellite."""
        return self.house.room("Dining Room")

    async def agent(self, model: str, **options: str) -> str:
        """Return core's agent with this model, added on first use."""
        key = f"{model} {options}"
        if key not in self.agents:
            url = self.server.url
            name = f"Core {len(self.agents)}"
            added = await self.house.add_core_ollama(
                url, model=f"{model}:latest", name=name, prompt=options.get("prompt")
            )
            self.agents[key] = added
        return self.agents[key]

    async def ask(self, agent: str, text: str, device: Room | str | None = None) -> Record:
        """Ask in a conversation of its own, and return the first call of the model."""
        start = len(self.server.records)
        reply = await self.house.ask(text, agent=agent, device=device)
        assert reply.error_code is None, reply.speech
        return self.server.records[start]

    async def forget(self, model: str) -> None:
        """Let the model server lose everything."""
        await self.server.restart_backend(model)


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house for all tests of this file."""
    folder: Path = tmp_path_factory.mktemp("claims")
    async with (
        OllamaStandIn(MODELS, log_dir=folder / "logs") as server,
        HomeAssistant(folder / "house", components=(DEMO_HOUSE, TOOLS), timezone=TIMEZONE) as house,
    ):
        await house.config_flow("bench_tools")
        yield Stage(house, server)


def system(record: Record) -> str:
    """Return the system text of a request."""
    return str(record.body["messages"][0]["content"])


def tools(record: Record) -> set[str]:
    """Return the names of the tools of a request."""
    return {str(tool["function"]["name"]) for tool in record.body["tools"]}


async def test_claim_095_what_a_device_changes(stage: Stage) -> None:
    """A sentence about its area, no line about timers any more, and seven tools for them."""
    agent = await stage.agent("attention")
    app = await stage.ask(agent, "hello")
    device = await stage.ask(agent, "hello", stage.dining_room)

    assert (AREA in system(device), AREA in system(app)) == (True, False)
    assert (NO_TIMERS in system(device), NO_TIMERS in system(app)) == (False, True)
    assert tools(app) < tools(device)
    more = tools(device) - tools(app)
    assert len(more) == 7
    assert all("Timer" in name for name in more)


async def test_claim_096_pieces_stand_in_the_order_of_their_integrations(stage: Stage) -> None:
    """The devices are `homeassistant`'s, the sentence about the area is `intent`'s: behind them."""
    record = await stage.ask(await stage.agent("attention"), "hello", stage.dining_room)

    assert 0 < system(record).rindex("- names:") < system(record).index(AREA)


async def test_claim_090_the_first_difference_lies_behind_the_devices(stage: Stage) -> None:
    """A device's prompt is longer, and shares the list of devices with the app's, but no more."""
    agent = await stage.agent("attention")
    await stage.forget("attention")
    app, device = [await stage.ask(agent, "hello", where) for where in (None, stage.dining_room)]

    server = stage.server.runner("attention").server
    assert server is not None
    async with aiohttp.ClientSession() as session:
        engine = Engine(session, server.url)
        texts = [app.prompt or "", device.prompt or ""]
        one, other = [await engine.tokenize(text) for text in texts]
        listed = await engine.tokenize(texts[0][: texts[0].rindex("- names:")])
    shared = [mine != yours for mine, yours in zip(one, other, strict=False)].index(True)
    assert len(other) > len(one) + 500
    assert len(listed) < shared < len(one)
    assert device.cached_tokens == shared


async def test_claim_091_every_checkpoint_lies_behind_it(stage: Stage) -> None:
    """So a recurrent model reads everything again when somebody asks in the room."""
    agent = await stage.agent("recurrent")
    await stage.ask(agent, "hello")
    device = await stage.ask(agent, "hello", stage.dining_room)

    assert device.re_read_tokens == device.prompt_tokens
    await stage.server.unload("recurrent")
    log = stage.server.log_path("recurrent").read_text(errors="replace")
    assert len(re.findall("erased invalidated context checkpoint", log)) >= 3


async def test_claim_092_the_test_of_three(stage: Stage) -> None:
    """Without a device warm, with it for the first time cold, with it again and new words warm."""
    agent = await stage.agent("recurrent")
    await stage.ask(agent, "good morning")

    app = await stage.ask(agent, "hello")
    first = await stage.ask(agent, "hello", stage.dining_room)
    second = await stage.ask(agent, "is the window open", stage.dining_room)

    assert app.re_read_tokens <= 17
    assert first.re_read_tokens == first.prompt_tokens
    assert second.re_read_tokens <= 20


async def test_claim_093_the_action_takes_no_device(stage: Stage) -> None:
    """It is refused with one, so an automation cannot warm the prompt of a device."""
    data = {
        "text": "hello",
        "agent_id": await stage.agent("attention"),
        "language": "en",
        "conversation_id": "x",
    }
    answer = await stage.house.call_action("conversation", "process", data, return_response=True)
    assert answer["response"]["response_type"] != "error"

    with pytest.raises(CommandError) as refused:
        await stage.house.call_action(
            "conversation",
            "process",
            data | {"device_id": stage.dining_room.device_id},
            return_response=True,
        )
    assert refused.value.code == "invalid_format"


async def test_claim_094_the_websocket_takes_a_device(stage: Stage) -> None:
    """What is asked there is asked as the satellite would ask, without administrator's rights."""
    start = len(stage.server.records)
    reply = await stage.house.ask(
        "hello",
        agent=await stage.agent("attention"),
        device=stage.dining_room,
        token=stage.house.warmer_token,
    )

    assert reply.error_code is None
    assert AREA in system(stage.server.records[start])


async def test_claim_100_101_a_warm_up_that_misses_makes_no_error(stage: Stage) -> None:
    """Home Assistant takes any device for one: the warm-up works, and warms another prompt."""
    agent = await stage.agent("recurrent")
    await stage.forget("recurrent")

    await stage.ask(agent, "hello", "a-device-that-is-gone")
    missed = await stage.ask(agent, "good evening", stage.dining_room)

    assert missed.re_read_tokens == missed.prompt_tokens


async def test_claim_102_the_dining_room_pays_for_the_morning(stage: Stage) -> None:
    """The automation's warm-up keeps the app's prompt warm, and nobody else's."""
    agent = await stage.agent("recurrent")
    await stage.forget("recurrent")
    data = {"text": "good morning", "agent_id": agent}
    await stage.house.call_action("conversation", "process", data, return_response=True)

    app = await stage.ask(agent, "hello")
    dining_room = await stage.ask(agent, "hello", stage.dining_room)

    assert app.re_read_tokens <= 17
    assert dining_room.re_read_tokens == dining_room.prompt_tokens


async def test_claim_103_the_date_costs_one_read_after_midnight(stage: Stage) -> None:
    """The first question of a day reads it all, the second one its own words."""
    agent = await stage.agent("recurrent", prompt=DATE)
    await stage.ask(agent, "good evening")
    evening = await stage.ask(agent, "hello")
    now = datetime.now(ZoneInfo(TIMEZONE))
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=1, microsecond=0)
    left = (midnight.astimezone(UTC) - now.astimezone(UTC)).total_seconds()
    await stage.house.call_action("bench_tools", "set_clock", {"seconds": left})
    try:
        first, second = [await stage.ask(agent, words) for words in ("hello", "good night")]
    finally:
        await stage.house.call_action("bench_tools", "set_clock", {"seconds": 0})

    assert f"{midnight:%A, %-d %B %Y}" in system(first)
    assert evening.re_read_tokens <= 17
    assert first.re_read_tokens == first.prompt_tokens
    assert second.re_read_tokens <= 17


async def test_claim_075_the_time_stands_in_the_prompt_without_its_tool(stage: Stage) -> None:
    """With the tool there is none; without, it is written behind everything else."""
    with_tool = await stage.ask(await stage.agent("attention"), "hello")
    agent = await stage.house.add_core_ollama(
        stage.server.url, model="attention:latest", name="Toolless", apis=[]
    )
    without = await stage.ask(agent, "hello")

    assert any(name.endswith("GetDateTime") for name in tools(with_tool))
    assert TIME not in system(with_tool)
    assert TIME in system(without).splitlines()[-1]


async def test_claim_104_tools_stand_at_the_top_and_their_answers_after_the_question(
    stage: Stage,
) -> None:
    """In the order of most templates: system text, tools, question, call and answer."""
    record = await stage.ask(await stage.agent("attention"), "hello")
    messages = [
        *record.body["messages"],
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "Clock"}}]},
        {"role": "tool", "tool_name": "Clock", "content": "fourteen hours"},
    ]
    body = record.body | {"messages": messages, "stream": False, "_debug_render_only": True}
    url = f"{stage.server.url}/api/chat"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        prompt = (await answer.json())["_debug_info"]["rendered_template"]

    places = [prompt.index(words) for words in ("<tools>", ">user\nhello", "fourteen hours")]
    assert places == sorted(places)
