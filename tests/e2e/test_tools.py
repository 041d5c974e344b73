"""The tools on the real thing: the same in every room, small in the prompt, short in answers."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
import json
from pathlib import Path
import re

import aiohttp
import pytest

from custom_components.ollama_warm.tools.words import LANGUAGES
from tests.e2e.stand_in_client import Client, Json
from tests.rig.demo import demonstration, served_models
from tests.rig.home_assistant import HomeAssistant
from tests.rig.ollama import OllamaStandIn
from tests.rig.ollama_shapes import Scripted

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = "tiny-attention:latest"
METEO = "ollama_warm__meteo"
CLOCK = "ollama_warm__GetDateTime"
CORE_CLOCK = "llm__GetDateTime"
CLOCK_LINE = "Current time is"


@dataclass
class Stage:
    """A house with an exposed weather entity, and the model server that it asks."""

    house: HomeAssistant
    server: OllamaStandIn
    client: Client
    agent: str
    """Our agent on Assist."""

    @property
    def body(self) -> Json:
        """The body of the last chat request."""
        return self.server.records[-1].body

    @property
    def system(self) -> str:
        """The system text of the last chat request."""
        return str(self.body["messages"][0]["content"])

    @property
    def tools(self) -> dict[str, Json]:
        """The tools of the last chat request."""
        return {str(tool["function"]["name"]): tool for tool in self.body["tools"]}

    def ours(self) -> list[str]:
        """Return the names of our tools and of clocks in the last chat request."""
        return [name for name in self.tools if METEO in name or name.endswith("GetDateTime")]

    async def call(self, tool: str, arguments: Json, *, agent: str, language: str) -> str:
        """Let the model call a tool, and return what it is told."""
        calls: list[Json] = [{"function": {"name": tool, "arguments": arguments}}]
        answers = iter([Scripted(tool_calls=calls), Scripted(content="Very well.")])
        self.server.script = lambda _: next(answers)
        await self.house.ask("How is it outside?", agent=agent, language=language)
        self.server.script = None
        message = self.body["messages"][-1]
        assert (message["role"], message["tool_name"]) == ("tool", tool)
        return str(message["content"])

    async def prompt_tokens(self, body: Json, tools: Sequence[Json]) -> int:
        """Return how long a prompt is with these tools."""
        more = {"tools": list(tools), "stream": False}
        return int((await self.client.last("/api/chat", body | more))["prompt_eval_count"])


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Give a house for all tests of this file."""
    folder: Path = tmp_path_factory.mktemp("tools")
    async with (
        demonstration(folder, served_models("tiny")) as (house, server),
        aiohttp.ClientSession() as session,
    ):
        await house.expose("weather.home", exposed=True)
        agent = await house.add_ollama_warm(server.url, model=MODEL, name="Assist")
        yield Stage(house, server, Client(server, session), agent)


async def test_the_same_in_every_room(stage: Stage) -> None:
    """The weather is one of Assist's tools, and the prefix is one in the app and every room."""
    prefixes = set()
    for room in (None, *stage.house.rooms):
        await stage.house.ask("hello", agent=stage.agent, device=room)
        assert stage.ours() == [CORE_CLOCK, METEO]
        assert CLOCK_LINE not in stage.system
        prefixes.add((stage.system, json.dumps(stage.body["tools"])))
    assert len(prefixes) == 1


async def test_small_in_the_prompt(stage: Stage) -> None:
    """Both tools together add no more than 260 tokens."""
    own = await stage.house.add_ollama_warm(
        stage.server.url, model=MODEL, name="Tools", apis=["ollama_warm"]
    )
    await stage.house.ask("hello", agent=own)
    ours = stage.tools
    assert sorted(ours) == [CLOCK, METEO]
    assert CLOCK_LINE not in stage.system
    await stage.house.ask("hello", agent=stage.agent)
    body = stage.body
    others = [tool for name, tool in stage.tools.items() if name != METEO]
    without = await stage.prompt_tokens(body, others)
    assert await stage.prompt_tokens(body, [*others, ours[METEO]]) - without <= 170
    assert await stage.prompt_tokens(body, [*others, *ours.values()]) - without <= 260


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_week_is_short(stage: Stage, language: str) -> None:
    """A week is told in at most 350 tokens in every language, the time in its last line."""
    answer = await stage.call(METEO, {"when": "week"}, agent=stage.agent, language=language)
    assert await stage.server.count_tokens(MODEL, answer) <= 350
    lines = json.loads(answer)["weather"].splitlines()
    assert len(lines) == 1 + 7 + 1
    assert re.search(r" 20\d\d, .*\d\d:\d\d", lines[-1])


async def test_everything_is_not_long(stage: Stage) -> None:
    """What a model is told that asks for nothing in particular is a prompt of a second's read."""
    answer = await stage.call(METEO, {}, agent=stage.agent, language="en")
    assert await stage.server.count_tokens(MODEL, answer) <= 450


async def test_the_date_when_asked(stage: Stage) -> None:
    """An agent without Assist learns the time from our tool."""
    own = await stage.house.add_ollama_warm(
        stage.server.url, model=MODEL, name="Clock", apis=["ollama_warm"]
    )
    answer = json.loads(await stage.call(CLOCK, {}, agent=own, language="fr"))
    assert answer["timezone"] == "Europe/Paris"
    assert re.fullmatch(r"\w+ \w+ \S+ 20\d\d", answer["date"])


async def test_nothing_twice(stage: Stage) -> None:
    """An agent that is given Assist and our API, ours or another one, has each tool once."""
    apis = ["assist", "ollama_warm"]
    url = stage.server.url
    for agent in (
        await stage.house.add_ollama_warm(url, model=MODEL, name="Both", apis=apis),
        await stage.house.add_core_ollama(url, model=MODEL, name="Core", apis=apis),
    ):
        await stage.house.ask("hello", agent=agent)
        assert sorted(stage.ours()) == [CORE_CLOCK, METEO]
        assert CLOCK_LINE not in stage.system


async def test_nothing_is_complained_about(stage: Stage) -> None:
    """Home Assistant has no word to say against the tools."""
    records = [*stage.house.log_records(), *stage.house.log_records("WARNING")]
    about_us = [line for line in records if "ollama_warm" in line]
    assert [line for line in about_us if "custom integration" not in line] == []
