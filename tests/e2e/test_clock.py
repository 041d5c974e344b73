"""The clock demonstration on the real thing: exact counts, and the house's prompt comes back."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
import json
import os
from pathlib import Path
import sys
from typing import Any

import aiohttp
import pytest

from ollama_warmer.lab.clock.clock import Clock, Outcome, Placed, demonstrate
from ollama_warmer.lab.clock.options import Production
from ollama_warmer.lab.clock.patterns import Pattern, Sample
from ollama_warmer.lab.clock.prompt import Placement, demonstration as house_prompt
from ollama_warmer.ollama.client import Ollama
from tests.rig.demo import demonstration
from tests.rig.home_assistant import HomeAssistant
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, ServedModel
from tests.rig.warmer import configuration

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]
type Counts = list[tuple[int | None, int | None]]
type Clocks = dict[str, dict[Placement, Placed]]

START = datetime(2026, 11, 30, 14, 3, 22)  # noqa: DTZ001 - only its hours and minutes are shown
NUM_CTX = 16_384
WHOLE, BATCH, OWN, BEHIND = Pattern.WHOLE, Pattern.BATCH, Pattern.OWN, Pattern.BEHIND
MODELS = [
    ServedModel(f"{memory}-{path}", memory, tiny_model(memory), path)
    for memory in Memory
    for path in ("native", "rendered")
]
# Of one sequence of times: prompt and re-read tokens of each call. The tools stand behind the
# system text here, so only a recurrent model goes back further than them for a time at its end.
# A sliding-window model has one token more, in front of all others.
TOP = {
    Memory.ATTENTION: [(4856, 4847), (4856, 4847), (4855, 4846)],
    Memory.RECURRENT: [(4856, 4856), (4856, 4856), (4855, 4855)],
    Memory.SLIDING: [(4857, 4857), (4857, 4857), (4856, 4856)],
}
END = {
    Memory.ATTENTION: [(4854, 674), (4855, 675), (4854, 674)],
    Memory.RECURRENT: [(4854, 1023), (4855, 1024), (4854, 1023)],
    Memory.SLIDING: [(4855, 674), (4856, 675), (4855, 674)],
}
QUESTION = {
    "attention-native": [(4853, 17), (4853, 17), (4854, 18)],
    "attention-rendered": [(4853, 17), (4853, 17), (4854, 18)],
    "recurrent-native": [(4853, 25), (4853, 25), (4854, 26)],
    "recurrent-rendered": [(4853, 1022), (4853, 1022), (4854, 1023)],
    "sliding-native": [(4854, 17), (4854, 17), (4855, 18)],
    "sliding-rendered": [(4854, 17), (4854, 17), (4855, 18)],
}


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house and a model server for all tests of this file."""
    folder: Path = tmp_path_factory.mktemp("clock")
    async with demonstration(folder, MODELS) as stage:
        yield stage


@pytest.fixture(scope="module", name="clocks")
async def _clocks(stage: Stage) -> Clocks:
    """What each place costs in each model, which knows nothing before."""
    _, server = stage
    return {model.name: await clocked(server, model.name) for model in MODELS}


async def clocked(server: OllamaStandIn, model: str) -> dict[Placement, Placed]:
    """Run the demonstration, and check that its counts are the server's own of every request."""
    start = len(server.records)
    async with aiohttp.ClientSession() as session:
        lab = Clock(
            ollama=Ollama(session, server.url),
            production=Production(
                model=model,
                version="0.35.1",
                num_ctx=NUM_CTX,
                keep_alive=None,
                think=False,
                loaded=False,
                takes_tools=True,
            ),
            prompt=house_prompt(),
            watch=lambda _: None,
        )
        outcome: Outcome = await demonstrate(lab, None, START)
    told = [
        (call.prompt_tokens, call.cached_tokens)
        for one in outcome.placed
        for sample in (*one.switch, *one.samples)
        for call in sample.calls
    ]
    assert told == [(one.prompt_tokens, one.cached_tokens) for one in server.records[start:]]
    assert not outcome.errors
    return {one.placement: one for one in outcome.placed}


def counts(samples: tuple[Sample, ...]) -> Counts:
    """Return prompt and re-read tokens of the calls that were sent the time."""
    return [(one.answer.prompt_tokens, one.answer.re_read_tokens) for one in samples]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
async def test_claim_079_the_time_costs_by_its_place(clocks: Clocks, model: ServedModel) -> None:
    """At the top the whole prompt, at the end a batch, in the question and in a tool itself.

    A batch in the question, too, where only Ollama knows where a user message begins.
    """
    found = clocks[model.name]

    assert counts(found[Placement.TOP].samples) == TOP[model.memory]
    assert counts(found[Placement.END].samples) == END[model.memory]
    assert counts(found[Placement.QUESTION].samples) == QUESTION[model.name]
    recurrent = model.memory is Memory.RECURRENT
    assert [one.pattern for one in found.values()] == [
        WHOLE,
        BATCH if recurrent else BEHIND,
        BATCH if model.name == "recurrent-rendered" else OWN,
        OWN,
    ]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
async def test_claim_111_the_time_in_a_tools_answer_costs_only_itself(
    clocks: Clocks, model: ServedModel
) -> None:
    """The call of the tool and its answer are read, and nothing in front of them."""
    samples = clocks[model.name][Placement.TOOL].samples

    first = model.memory is Memory.SLIDING
    assert counts(samples) == [(4899 + first, 56), (4899 + first, 56), (4900 + first, 57)]
    # The question in front of it is an exact repeat here.
    asked = {one.asked.re_read_tokens for one in samples if one.asked}
    assert asked == {4 if model.memory is Memory.RECURRENT else 1}


async def test_claim_080_the_switch_is_paid_once(clocks: Clocks) -> None:
    """The first request in another place pays for it, and is told apart from the samples."""
    found = clocks["recurrent-native"]

    assert counts(found[Placement.END].switch) == [(4854, 4854), (4855, 1025)]
    assert counts(found[Placement.QUESTION].switch) == [(4853, 1022), (4853, 25)]
    assert max(read or 0 for _, read in counts(found[Placement.QUESTION].samples)) <= 40


async def command(url: str, model: str, *options: str, token: str) -> tuple[int, Any, str]:
    """Run the command and return exit code, what it printed as JSON, and its errors."""
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("ollama-warmer")),
        *("clock", "--url", url, "--model", model, "--yes", "--json", *options),
        env={**os.environ, "HA_TOKEN": token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    return process.returncode or 0, json.loads(out), errors.decode()


async def test_the_house_is_as_warm_as_before(stage: Stage, tmp_path: Path) -> None:
    """With the loaded model's window nothing is loaded anew, and every room is warm again."""
    house, server = stage
    model = "recurrent-rendered"
    agent = await house.add_ollama_warm(server.url, model=f"{model}:latest", num_ctx=NUM_CTX)
    await house.ask("Hello", agent=agent)
    loads = server.runner(model).loads
    config = tmp_path / "home.toml"
    config.write_text(configuration(house.url, agent, house.rooms[:1]))

    code, run, errors = await command(
        server.url, model, "--config", str(config), token=house.warmer_token
    )

    assert (code, run["restored"]["verdict"]) == (0, "warm"), errors
    assert run["options"]["num_ctx"] == NUM_CTX
    assert server.runner(model).loads == loads
    patterns = [one["pattern"] for one in run["placements"]]
    assert patterns == [WHOLE, BATCH, BATCH, OWN]
    start = len(server.records)
    await house.ask("Is the window open?", agent=agent, device=house.rooms[1])
    first = next(one for one in server.records[start:] if one.kind == "answer")
    assert first.re_read_tokens <= 64


async def test_without_a_house_it_is_said_that_nothing_was_put_back(stage: Stage) -> None:
    """Plainly, on standard error; in the JSON it is null."""
    house, server = stage
    await server.unload("attention-native")

    options = ("--num-ctx", str(NUM_CTX))
    code, run, errors = await command(
        server.url, "attention-native", *options, token=house.warmer_token
    )

    assert (code, run["restored"]) == (0, None)
    assert "The prompt that was warm before was not put back" in errors
