"""The zip of a release, unpacked as HACS does it, in a new house: it starts and answers."""

from pathlib import Path
import zipfile

from script.lib.artifacts import component_zip
from tests.rig.home_assistant import DEMO_HOUSE, HomeAssistant
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, Scripted, ServedModel
from tests.rig.warmer import run_warmer

ROOT = Path(__file__).parents[2]
MODEL = "tiny:latest"


async def test_the_zip_of_a_release_starts_and_answers(tmp_path: Path) -> None:
    """It is set up, warmed and asked; no other copy of the component is in reach."""
    unpacked = tmp_path / "unpacked" / "ollama_warm"
    with zipfile.ZipFile(component_zip(ROOT, tmp_path / "ollama_warm.zip")) as archive:
        archive.extractall(unpacked)
    model = ServedModel("tiny", Memory.ATTENTION, tiny_model(Memory.ATTENTION))
    (tmp_path / "logs").mkdir()
    async with (
        OllamaStandIn([model], log_dir=tmp_path / "logs") as server,
        HomeAssistant(tmp_path / "house", components=(unpacked, DEMO_HOUSE)) as house,
    ):
        agent = await house.add_ollama_warm(server.url, model=MODEL)
        assert (await run_warmer(house, agent, house.rooms[:1])).verdict == "warm"
        server.script = lambda _body: Scripted("It is warm.")
        reply = await house.ask("Is it warm?", agent=agent, device=house.rooms[0])
        assert reply.speech == "It is warm."
        assert reply.extra_data["ollama_warm"]["turns"][-1]["verdict"] == "warm"
        assert house.unexpected_errors() == []
