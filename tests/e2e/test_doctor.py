"""The doctor in a real house: each of fifteen planted faults is found, and nothing else."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
import json
import os
from pathlib import Path
import sys
from typing import Any

import aiohttp
import pytest

from tests.rig.demo import demonstration
from tests.rig.herd import open_herd
from tests.rig.home_assistant import HomeAssistant, Room
from tests.rig.models import CHAT_TEMPLATE, Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, ServedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

NUM_CTX = 16_384
SMALL = 4_096
HOUSE, OURS, RENDERED, DATED, OTHER = (
    f"{name}:latest" for name in ("house", "ours", "rendered", "dated", "other")
)
CLOCK = "You are a voice assistant. It is {{ now().strftime('%H:%M:%S') }}.\nBe brief."
DATE = "{{- '<|im_start|>system\\nToday Date: ' + strftime_now('%d %B %Y') + '<|im_end|>\\n' }}\n"
MEASURE = ("--measure", "--pause", "1.1")


@dataclass
class DatedModel(ServedModel):
    """A model whose template, with today's date in it, is shown."""

    @property
    def template(self) -> str:  # type: ignore[explicit-override]
        """The template that llama.cpp really uses."""
        return self.chat_template


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What the doctor is sent to look at; the defaults are a house in which all is well."""

    agent: str
    model: str = HOUSE
    num_ctx: int = NUM_CTX
    url: str
    log: Path | None
    token: str
    rooms: tuple[Room, ...] = ()
    options: tuple[str, ...] = ()

    def configuration(self, house: HomeAssistant) -> str:
        """Return the configuration."""
        lines = [f'agent = "{self.agent}"', "[home_assistant]", f'url = "{house.url}"']
        lines += ["[ollama]", f'url = "{self.url}"', f'model = "{self.model}"']
        lines += [f"num_ctx = {self.num_ctx}"]
        lines += ["[counts]", 'source = "file"', f'path = "{self.log}"'] if self.log else []
        lines += ["[[targets]]", 'name = "app"']
        for room in self.rooms:
            lines += ["[[targets]]", f'name = "{room.name}"', f'device = "{room.device_id}"']
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A house with agents of every kind, and the server with their models."""

    house: HomeAssistant
    server: OllamaStandIn
    folder: Path
    core: str
    clock: str
    short: str
    small: str
    ours: str

    def healthy(self) -> Visit:
        """Return a visit to core's agent, which keeps the app and the kitchen warm."""
        return Visit(
            agent=self.core,
            url=self.server.url,
            log=self.server.log_path(HOUSE),
            token=self.house.warmer_token,
            rooms=(self.house.room("Kitchen"),),
        )

    async def examine(self, visit: Visit) -> tuple[int | None, dict[str, Any]]:
        """Run the doctor as somebody would, and return its exit code and what it found."""
        config = self.folder / "doctor.toml"
        config.write_text(visit.configuration(self.house))
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("ollama-warmer")),
            *("doctor", "--config", str(config), "--json", *visit.options),
            env={**os.environ, "HA_TOKEN": visit.token, "XDG_STATE_HOME": str(self.folder)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, errors = await process.communicate()
        assert visit.token not in (out + errors).decode()
        return process.returncode, json.loads(out)

    async def load(self, model: str, num_ctx: int = NUM_CTX) -> None:
        """Ask a model something over the API, as any other client would."""
        body = {
            "model": model,
            "messages": [{"role": "user", "content": "Say OK."}],
            "options": {"num_ctx": num_ctx, "num_predict": 1},
            "keep_alive": -1,
            "stream": False,
        }
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.server.url}/api/chat", json=body) as response,
        ):
            response.raise_for_status()

    async def tidy(self) -> None:
        """Begin the log anew, with the model loaded by core's agent."""
        await self.server.unload(HOUSE)
        self.server.log_path(HOUSE).unlink(missing_ok=True)
        await self.house.ask("Is anything still on?", agent=self.core)


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house and a model server for all tests of this file."""
    folder = tmp_path_factory.mktemp("doctor")
    gguf = tiny_model(Memory.ATTENTION)
    models = [
        ServedModel(HOUSE, Memory.ATTENTION, gguf),
        ServedModel(OURS, Memory.ATTENTION, gguf),
        ServedModel(RENDERED, Memory.ATTENTION, gguf, "rendered"),
        DatedModel(DATED, Memory.ATTENTION, gguf, chat_template=DATE + CHAT_TEMPLATE),
        ServedModel(OTHER, Memory.RECURRENT, tiny_model(Memory.RECURRENT)),
    ]
    async with demonstration(folder, models) as (house, server):
        core = await house.add_core_ollama(server.url, model=HOUSE, name="Core")
        await house.make_pipeline("Home", core)
        await house.make_pipeline("Built-in", "conversation.home_assistant")
        await house.select_pipeline(house.room("Kitchen"), "Home")
        stage = Stage(
            house=house,
            server=server,
            folder=folder,
            core=core,
            clock=await house.add_core_ollama(server.url, model=HOUSE, name="Clock", prompt=CLOCK),
            short=await house.add_core_ollama(
                server.url, model=HOUSE, name="Short", keep_alive=300
            ),
            small=await house.add_core_ollama(
                server.url, model=RENDERED, name="Small", num_ctx=SMALL
            ),
            ours=await house.add_ollama_warm(server.url, model=OURS, name="Ours"),
        )
        await stage.tidy()
        yield stage


def found(report: dict[str, Any], *levels: str) -> set[str]:
    """Return the ids of the findings of these levels."""
    return {it["id"] for it in report["findings"] if it["level"] in levels}


async def test_nothing_is_wrong_in_a_healthy_house(stage: Stage) -> None:
    """No problem, no advice, and with a measurement nothing unknown."""
    code, report = await stage.examine(replace(stage.healthy(), options=MEASURE))
    assert found(report, "advice", "problem", "unknown") == set()
    assert code == 0
    assert report["measured"] is True

    code, report = await stage.examine(stage.healthy())
    assert found(report, "advice", "problem") == set()
    assert found(report, "unknown") == {"measurement", "window", "new_conversation"}
    assert code == 0


async def test_nothing_is_wrong_with_our_agent(stage: Stage) -> None:
    """Counts come with its answers, and one target is enough for all rooms."""
    visit = replace(stage.healthy(), agent=stage.ours, model=OURS, log=None, rooms=())
    await stage.house.ask("Is anything still on?", agent=stage.ours)

    code, report = await stage.examine(replace(visit, options=MEASURE))

    assert found(report, "advice", "problem") == set()
    assert found(report, "unknown") == {"log"}
    assert code == 0


type Plant = Callable[[Stage], AbstractAsyncContextManager[Visit]]


def plant(function: Callable[[Stage], AsyncGenerator[Visit]]) -> Plant:
    """Make a fault of a generator that plants it, yields the visit, and puts it right."""
    return asynccontextmanager(function)


@plant
async def wrong_num_ctx(stage: Stage) -> AsyncGenerator[Visit]:
    """The configuration has another window than the agent."""
    yield replace(stage.healthy(), num_ctx=NUM_CTX // 2)


@plant
async def short_keep_alive(stage: Stage) -> AsyncGenerator[Visit]:
    """The agent lets the model go after five minutes."""
    yield replace(stage.healthy(), agent=stage.short, rooms=(), options=MEASURE)
    await stage.tidy()


@plant
async def old_version(stage: Stage) -> AsyncGenerator[Visit]:
    """The last release without the cached count."""
    now, stage.server.version = stage.server.version, "0.33.2"
    yield stage.healthy()
    stage.server.version = now


@plant
async def no_count(stage: Stage) -> AsyncGenerator[Visit]:
    """A server that tells none, and our agent, which has no other source."""
    stage.server.reports_cached = False
    yield replace(
        stage.healthy(), agent=stage.ours, model=OURS, log=None, rooms=(), options=MEASURE
    )
    stage.server.reports_cached = None


@plant
async def clock_in_the_prompt(stage: Stage) -> AsyncGenerator[Visit]:
    """Core's agent with the time in its first line."""
    yield replace(stage.healthy(), agent=stage.clock, rooms=(), options=MEASURE)


@plant
async def prompt_larger_than_the_window(stage: Stage) -> AsyncGenerator[Visit]:
    """Some 8,000 tokens in a window of 4,096."""
    await stage.load(RENDERED, SMALL)
    yield replace(
        stage.healthy(),
        agent=stage.small,
        model=RENDERED,
        num_ctx=SMALL,
        log=stage.server.log_path(RENDERED),
        rooms=(),
        options=MEASURE,
    )


@plant
async def second_client(stage: Stage) -> AsyncGenerator[Visit]:
    """Somebody else takes the model with another window, and the agent takes it back."""
    await stage.load(HOUSE, SMALL)
    await stage.house.ask("Is anything still on?", agent=stage.core)
    yield stage.healthy()
    await stage.tidy()


@plant
async def model_missing(stage: Stage) -> AsyncGenerator[Visit]:
    """A model that nobody has pulled."""
    yield replace(stage.healthy(), model="nowhere")


@plant
async def not_loaded(stage: Stage) -> AsyncGenerator[Visit]:
    """The model was unloaded."""
    await stage.server.unload(HOUSE)
    yield stage.healthy()
    await stage.tidy()


@plant
async def administrators_token(stage: Stage) -> AsyncGenerator[Visit]:
    """The owner's own token."""
    yield replace(stage.healthy(), token=stage.house.admin_token)


@plant
async def satellite_elsewhere(stage: Stage) -> AsyncGenerator[Visit]:
    """The kitchen talks to the built-in agent now."""
    await stage.house.select_pipeline(stage.house.room("Kitchen"), "Built-in")
    yield stage.healthy()
    await stage.house.select_pipeline(stage.house.room("Kitchen"), "Home")


@plant
async def unreadable_log(stage: Stage) -> AsyncGenerator[Visit]:
    """A folder where the log should be, which not even root can read."""
    yield replace(stage.healthy(), log=stage.folder)


@plant
async def two_models_in_one_log(stage: Stage) -> AsyncGenerator[Visit]:
    """As in Ollama's own log, once somebody uses a second model."""
    other = stage.server.runner(OTHER)
    own, other.log_path = other.log_path, stage.server.log_path(HOUSE)
    await stage.load(OTHER)
    yield stage.healthy()
    await stage.server.unload(OTHER)
    other.log_path = own
    await stage.tidy()


@plant
async def date_in_the_template(stage: Stage) -> AsyncGenerator[Visit]:
    """A template with today's date in front of everything."""
    await stage.load(DATED)
    record = stage.server.records[-1]
    assert record.prompt is not None
    assert "Today Date: " in record.prompt
    yield replace(stage.healthy(), model=DATED, log=stage.server.log_path(DATED))


@plant
async def herd_in_front(stage: Stage) -> AsyncGenerator[Visit]:
    """A router between the agent and the model server."""
    async with open_herd(stage.server.url) as herd:
        yield replace(stage.healthy(), url=herd.url, options=("--interval", "600"))


FAULTS = (
    (wrong_num_ctx, "num_ctx"),
    (short_keep_alive, "keep_alive"),
    (old_version, "version_counts"),
    (no_count, "counts"),
    (clock_in_the_prompt, "clock"),
    (prompt_larger_than_the_window, "window"),
    (second_client, "other_options"),
    (model_missing, "model"),
    (not_loaded, "loaded"),
    (administrators_token, "administrator"),
    (satellite_elsewhere, "satellite_agent"),
    (unreadable_log, "log"),
    (two_models_in_one_log, "log_models"),
    (date_in_the_template, "template_date"),
    (herd_in_front, "router"),
)


@pytest.mark.parametrize(("fault", "finding"), FAULTS, ids=[it.__name__ for it, _ in FAULTS])
async def test_each_fault_is_found_and_no_other(stage: Stage, fault: Plant, finding: str) -> None:
    """One fault at a time in a house in which all else is well."""
    async with fault(stage) as visit:
        code, report = await stage.examine(visit)

    assert found(report, "advice", "problem") == {finding}, report
    assert code == (1 if found(report, "problem") else 0)
    (line,) = (it for it in report["findings"] if it["id"] == finding)
    assert line["advice"]
