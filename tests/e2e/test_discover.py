"""`ollama-warmer discover` in a real house, by a user without administrator rights."""

import asyncio
from collections.abc import AsyncIterator
import os
from pathlib import Path
import sys

import pytest
import pytest_asyncio

from ollama_warmer.config.config import load_config
from tests.rig.home_assistant import DEMO_HOUSE, HomeAssistant
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, ServedModel

pytestmark = pytest.mark.asyncio(loop_scope="session")

BUILT_IN = "conversation.home_assistant"
# An assistant may name an agent that is gone.
OTHER = "conversation.elsewhere"


@pytest_asyncio.fixture(scope="module", loop_scope="session", name="house")
async def running_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HomeAssistant]:
    """Give the demonstration house alone."""
    folder = tmp_path_factory.mktemp("house")
    async with HomeAssistant(folder, components=(DEMO_HOUSE,)) as house:
        yield house


async def discover(house: HomeAssistant, *options: str) -> tuple[int | None, str, str]:
    """Run the command and return exit code, standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("ollama-warmer")),
        *("discover", "--url", house.url, *options),
        env={**os.environ, "HA_TOKEN": house.warmer_token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    return process.returncode, out.decode(), errors.decode()


async def test_the_house_is_found(house: HomeAssistant, tmp_path: Path) -> None:
    """A house as it comes is refused; then two satellites talk to somebody else."""
    output = tmp_path / "home.toml"
    code, text, errors = await discover(house, "--output", str(output))
    assert code == 2
    assert f"talks to {BUILT_IN}. {BUILT_IN} asks no model" in errors
    assert errors.endswith("Devices & services, Add integration\n")
    assert not output.exists()

    model = ServedModel("tiny", Memory.ATTENTION, tiny_model(Memory.ATTENTION))
    async with OllamaStandIn([model], log_dir=tmp_path) as server:
        agent = await house.add_core_ollama(server.url, model=model.full_name, name="Model")
    code, text, errors = await discover(house, "--output", str(output))
    assert code == 2
    assert errors.endswith(f'Name an agent that asks a model with --agent: there are "{agent}"\n')
    assert not output.exists()

    code, text, errors = await discover(house, "--agent", agent)
    assert code == 0
    assert house.warmer_token not in text
    assert errors.endswith("Targets: 1. Satellites left out: 6\n")
    assert errors.count("Left out: ") == 6

    await house.make_pipeline("Somebody else", OTHER)
    await house.make_pipeline("Model", agent)
    kitchen, office = (house.room(name) for name in ("Kitchen", "Office"))
    for room in house.rooms:
        elsewhere = room in (kitchen, office)
        await house.select_pipeline(room, "Somebody else" if elsewhere else "Model")
    code, _, errors = await discover(house, "--agent", agent, "--output", str(output))
    assert code == 0
    assert errors.endswith(f"Targets written to {output}: 5. Satellites left out: 2\n")

    config = load_config(output)
    assert config.home_assistant.url == house.url
    assert {target.agent for target in config.targets} == {agent}
    assert {target.language for target in config.targets} == {"en"}
    expected = {room.device_id for room in house.rooms if room not in (kitchen, office)}
    assert {target.device for target in config.targets} == {None, *expected}
    written = output.read_text()
    for room in (kitchen, office):
        left_out = next(
            line for line in written.splitlines() if f"{room.satellite_entity_id}," in line
        )
        assert left_out.endswith(f'assistant "Somebody else", which talks to {OTHER}')
        assert f", {room.name})" in left_out

    code, _, errors = await discover(house, "--agent", agent, "--output", str(output))
    assert code == 2
    assert "is there already" in errors
    assert output.read_text() == written
