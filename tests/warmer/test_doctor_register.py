"""The doctor's checks: found by themselves, each at its place in the report."""

import json
from pathlib import Path
import sys

import pytest

from ollama_warmer.doctor import checks
from ollama_warmer.doctor.register import all_checks
from tests.warmer.test_doctor_command import Doctor, doctor, server

__all__ = ["doctor", "server"]

LOG = Path(__file__).parent / "fixtures/ollama_journal.log"
ADDED = """
from ollama_warmer.doctor.findings import OLLAMA
from ollama_warmer.doctor.register import Part, check

@check(Part.SERVER, 25)
def added(seen):
    yield OLLAMA.ok("added", f"looked at {seen.server.version.text}")
"""


async def ids(doctor: Doctor, *options: str) -> list[str]:
    """Return what the doctor reports, in its order; the rights that are missing as one."""
    found = json.loads((await doctor("--json", *options)).stdout)["findings"]
    return [it["id"] for it in found if not it["id"].startswith("rights_")]


async def test_order_of_the_report(doctor: Doctor, tmp_path: Path) -> None:
    """It goes from the house to the server, the model, its log and what answers cost."""
    config = tmp_path / "home.toml"
    config.write_text(f'{config.read_text()}\n[counts]\nsource = "file"\npath = "{LOG}"\n')
    assert await ids(doctor, "--measure", "--pause", "0") == [
        *("encryption", "token", "home_assistant", "home_assistant_version", "administrator"),
        *("agents", "devices", "satellites"),
        *("ollama", "ollama_version", "router", "model", "loaded", "keep_alive", "num_ctx"),
        *("processor", "memory", "path", "runner", "template_date", "modelfile"),
        *("log", "clients", "measurement", "window", "counts", "clock", "new_conversation"),
    ]


async def test_a_new_check_is_one_file(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in the folder of checks is all that it takes, and it stands where it says."""
    before = await ids(doctor)
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "added.py").write_text(ADDED)
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(folder)])
    monkeypatch.delitem(sys.modules, f"{checks.__name__}.added", raising=False)
    after = await ids(doctor)
    assert after.index("added") == before.index("ollama_version") + 1
    assert [it for it in after if it != "added"] == before
    monkeypatch.delitem(sys.modules, f"{checks.__name__}.added")


def test_each_check_has_a_place_of_its_own() -> None:
    """So that no report depends on how files are called."""
    places = [(it.part, it.place) for it in all_checks()]
    assert places
    assert len(places) == len(set(places))
