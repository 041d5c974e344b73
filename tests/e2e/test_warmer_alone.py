"""Without our component at all: core's agent, six satellites, one round of the warmer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rig.demo import served_models
from tests.rig.home_assistant import DEMO_HOUSE, HomeAssistant, Room
from tests.rig.ollama import OllamaStandIn
from tests.rig.warmer import run_warmer

pytestmark = pytest.mark.asyncio(loop_scope="module")

type Stage = tuple[HomeAssistant, OllamaStandIn]

# What a person asks; none of it was ever asked before.
NEW_QUESTIONS = (
    "Is the door open?",
    "Which lights are on?",
    "How warm is it here?",
    "Is anybody at home?",
)
AT_MOST = {"attention": 20, "recurrent": 40}


@pytest.fixture(scope="module", name="stage")
async def _stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A house without our component, and a model server."""
    folder: Path = tmp_path_factory.mktemp("warmer_alone")
    async with (
        OllamaStandIn(served_models("tiny"), log_dir=folder / "logs") as server,
        HomeAssistant(folder / "house", components=(DEMO_HOUSE,)) as house,
    ):
        yield house, server


async def re_read(stage: Stage, question: str, agent: str, room: Room | None) -> int:
    """Ask a question and return what llama.cpp had to read again for it."""
    house, server = stage
    start = len(server.records)
    await house.ask(question, agent=agent, device=room)
    (record,) = [one for one in server.records[start:] if one.kind == "answer"]
    return record.re_read_tokens


@pytest.mark.parametrize("memory", AT_MOST)
async def test_new_question_from_each_satellite(stage: Stage, memory: str) -> None:
    """After one round every satellite is warm by the log, and any new question shows it."""
    house, server = stage
    model = f"tiny-{memory}:latest"
    core = await house.add_core_ollama(server.url, model=model, name=f"Core {memory}")
    log = server.log_path(model)

    found = await run_warmer(house, core, house.rooms, log=log)

    assert "ollama_warm" not in (await house.command("get_config"))["components"]
    assert (found.exit_code, found.errors) == (0, "")
    assert len(house.rooms) == 6
    assert [target["name"] for target in found.report["targets"]] == [
        "app",
        *(room.name for room in house.rooms),
    ]
    for target in found.report["targets"]:
        assert target["verdict"] == "warm"
        assert target["reason"].startswith(f"the log {log} says that the confirmation re-read ")
        assert target["steps"][1]["re_read"] <= AT_MOST[memory]
    asked = {
        (place.name if place else "app", question): await re_read(stage, question, core, place)
        for question in NEW_QUESTIONS
        for place in (*house.rooms, None)
    }
    assert {one: tokens for one, tokens in asked.items() if tokens > AT_MOST[memory]} == {}
