"""The warmer takes from a server's answers what the table says, from its own copy of the facts."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ollama_warmer.doctor.checks.versions import check_versions
from ollama_warmer.doctor.findings import Level
from ollama_warmer.doctor.server import Server
from ollama_warmer.lab.probe.survey import memory_of, runner_of
from ollama_warmer.ollama import facts

from .facts_table import IDS, ROWS, Row, examples


def server_of(row: Row) -> Server:
    """Return a server as the doctor sees it."""
    return Server(
        url="http://127.0.0.1:11434",
        version=facts.Version.read(row.version),
        shown=row.shown,
        at=datetime.now(UTC),
    )


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_the_doctor_sees(row: Row) -> None:
    """Memory, path and runner; what runs a model of an unknown release is guessed to be today's."""
    server = server_of(row)
    assert server.memory == row.memory
    assert server.path == row.path
    assert server.runner == (row.runner or facts.Runner.LLAMA_SERVER)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_the_doctor_says_of_the_release(row: Row) -> None:
    """An update is advised where the counts are known to be missing, and only there."""
    server = server_of(row)
    findings = {
        found.id: found.level
        for found in check_versions(
            server.version, memory=server.memory, runner=server.runner, path=server.path
        )
    }
    assert ("version_counts" in findings) is (row.counts is False)
    assert (findings["ollama_version"] is Level.UNKNOWN) is (row.counts is None)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_the_probe_writes_down(row: Row) -> None:
    """The same memory in the words of what is published, or none where nothing is said."""
    memory = {"attention": "attention-only"}.get(row.memory, row.memory)
    assert memory_of(row.shown) == (memory if row.shown.get("model_info") else None)
    details = row.shown.get("details")
    form = details.get("format") if isinstance(details, dict) else None
    named = row.runner if row.runner != "Ollama's own" else None
    assert runner_of(form, row.version) == (named if form else None)


@pytest.mark.parametrize("architecture", facts.RECURRENT)
def test_each_architecture_has_an_example(architecture: str) -> None:
    """A row that is taken out of the module is missed by both programs."""
    assert {row.memory for row in examples(architecture)} == {"recurrent"}


def test_it_is_the_same_file() -> None:
    """In a checkout the warmer reads the integration's file."""
    root = Path(__file__).parents[2]
    ours = root / "custom_components/ollama_warm/ollama/facts.py"
    assert Path(str(facts.__file__)).resolve() == ours.resolve()
