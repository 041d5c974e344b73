"""`ollama-warmer discover` in a real house, by a user without administrator rights."""

import asyncio
from collections.abc import AsyncIterator
import os
from pathlib import Path
import sys

import pytest
import pytest_asyncio

from ollama_warmer.config import load_config
from tests.rig.home_assistant import DEMO_HOUSE, HomeAssistant

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
    """All six satellites on the preferred assistant; then two that talk to somebody else."""
    code, text, errors = await discover(house)
    assert code == 0
    assert errors == (
        f"Note: {BUILT_IN} is no language model: there is no prompt of it to keep warm\n"
        "Targets: 7. Satellites left out: 0\n"
    )
    assert house.warmer_token not in text

    await house.make_pipeline("Somebody else", OTHER)
    await house.make_pipeline("Built-in", BUILT_IN)
    kitchen, office, bedroom = (house.room(name) for name in ("Kitchen", "Office", "Bedroom"))
    await house.select_pipeline(kitchen, "Somebody else")
    await house.select_pipeline(office, "Somebody else")
    await house.select_pipeline(bedroom, "Built-in")
    output = tmp_path / "home.toml"
    code, _, errors = await discover(house, "--output", str(output))
    assert code == 0
    assert errors.endswith(f"Targets written to {output}: 5. Satellites left out: 2\n")

    config = load_config(output)
    assert config.home_assistant.url == house.url
    assert {target.agent for target in config.targets} == {BUILT_IN}
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

    code, _, errors = await discover(house, "--output", str(output))
    assert code == 2
    assert "is there already" in errors
    assert output.read_text() == written
