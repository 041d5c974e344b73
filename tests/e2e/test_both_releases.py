"""Both releases of Home Assistant that are promised: nothing deprecated in a whole visit."""

from collections.abc import Iterator
from pathlib import Path
import re

import pytest

from tests.rig.home_assistant import HomeAssistant
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, Scripted, ServedModel
from tests.rig.warmer import run_warmer

ROOT = Path(__file__).parents[2]
RELEASES = {"2026.10": ROOT / ".venv-unit" / "bin" / "hass", "2026.11": None}
MODEL = "tiny:latest"
# What Home Assistant writes about an integration that does something in an old way.
COMPLAINTS = re.compile(
    r"deprecat|will stop working|breaks in|custom integration '|report it", re.IGNORECASE
)


def complaints(house: HomeAssistant) -> Iterator[str]:
    """Yield what the log holds against us."""
    for level in ("WARNING", "ERROR"):
        for line in house.log_records(level):
            if "which has not been tested by Home Assistant" not in line and (
                "ollama_warm" in line or COMPLAINTS.search(line)
            ):
                yield line


@pytest.mark.parametrize("hass", RELEASES.values(), ids=RELEASES)
async def test_a_whole_visit(hass: Path | None, tmp_path: Path) -> None:
    """Set up, warm, ask, use a tool, change, restart and leave: the log has no complaint."""
    model = ServedModel("tiny", Memory.ATTENTION, tiny_model(Memory.ATTENTION))
    (tmp_path / "logs").mkdir()
    async with (
        OllamaStandIn([model], log_dir=tmp_path / "logs") as server,
        HomeAssistant(tmp_path / "house", hass_executable=hass) as house,
    ):
        agent = await house.add_ollama_warm(server.url, model=MODEL)
        assert (await run_warmer(house, agent, house.rooms[:1])).verdict == "warm"
        call = {"name": "ollama_warm__meteo", "arguments": {"when": "week"}}
        answers = iter([Scripted(tool_calls=[call]), Scripted("Rain.")])
        server.script = lambda _body: next(answers)
        await house.expose("weather.home", exposed=True)
        reply = await house.ask("Will it rain?", agent=agent, device=house.rooms[0])
        assert reply.speech == "Rain."
        turns = reply.extra_data["ollama_warm"]["turns"]
        assert [turn["verdict"] for turn in turns][-1] == "warm"
        server.script = None
        await house.command("conversation/prepare", agent_id=agent, language="en")
        data = {"entity_id": "button." + agent.partition(".")[2] + "_warm_now"}
        await house.call_action("button", "press", data)
        assert await house.command("ollama_warm/turns")
        assert await house.command("ollama_warm/agents")
        assert await house.command("ollama_warm/prefix", entity_id=agent)
        await house.restart()
        assert not (await house.ask("And now?", agent=agent)).error_code
        assert list(complaints(house)) == []
