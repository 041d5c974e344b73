"""Results have the published names and shape, and are whole at every moment."""

from dataclasses import replace
import json
from pathlib import Path

import pytest

from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.lab.probe.files import log_path, result_path, write_result
from ollama_warmer.lab.probe.machine import machine, place, settings
from ollama_warmer.lab.probe.plan import Phase
from ollama_warmer.lab.probe.survey import memory_of, runner_of
from tests.warmer.support.probe_runs import record, session_for
from tests.warmer.support.probe_server import Server, serve


def test_published_shape() -> None:
    """The keys are the published ones; ours stand beside them."""
    run = record().as_json()
    assert list(run)[:12] == [
        *("probe", "model", "variant", "measuredAt", "machine", "ollama", "samples"),
        *("temperature", "assets", "summary", "notes", "calls"),
    ]
    assert (run["probe"], run["variant"]) == ("prefill_cache_probe", "entries300")
    summary = run["summary"]
    assert list(summary)[:5] == [
        *("glossaryEntries", "systemSource", "numCtx", "numPredict", "environment"),
    ]
    assert list(summary)[5:] == list(Phase)
    assert summary["identical-repeat"][1] == {
        "label": "identical",
        "prompt": 3178,
        "cached": 3177,
        "prefillMs": 1,
        "totalMs": 101,
        "replyDigest": "0123456789ab",
        "replyChars": 20,
    }
    assert run["calls"][1] == {
        "case": "identical-repeat",
        "sample": 1,
        "pass": True,
        "label": "identical: prompt=3178 cached=3177 prefill=1ms total=101ms",
        "condition": "identical",
        "ms": 101,
    }
    aborted = run["calls"][8]
    assert (aborted["pass"], aborted["ms"]) == (False, None)
    assert aborted["label"] == "aborted: prompt=null cached=null prefill=nullms total=nullms"


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        (tuple(Phase), "prefill_cache_probe-entries300-ninephase.json"),
        ((Phase.IDENTICAL_REPEAT,), "prefill_cache_probe-entries300-1phases.json"),
    ],
)
def test_published_names(tmp_path: Path, wanted: tuple[Phase, ...], name: str) -> None:
    """Folder and file are called as in the published results."""
    made = record()
    made.wanted = wanted
    made.conditions = replace(made.conditions, model="library/qwen3.5:9b")
    path = result_path(tmp_path, made, "m1max-64gb")
    folder = tmp_path / "results-m1max-64gb-ollama0351" / "library_qwen3.5_9b"
    assert path == folder / name
    assert result_path(tmp_path / "mine.json", made, "x") == tmp_path / "mine.json"


def test_log_lies_beside_the_result() -> None:
    """The log's lines have the published name, too."""
    path = Path("prefill_cache_probe-entries300-ninephase.json")
    assert log_path(path).name == "server-log-entries300-ninephase.txt"


def test_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    """Folders are made, the file is replaced, and no other file stays."""
    path = tmp_path / "a" / "b" / "run.json"
    for number in range(2):
        write_result(path, {"number": number})
    assert json.loads(path.read_text()) == {"number": 1}
    assert [file.name for file in path.parent.iterdir()] == ["run.json"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """The sentence names the place and the option."""
    (tmp_path / "file").touch()
    with pytest.raises(WarmerError, match="--output"):
        write_result(tmp_path / "file" / "run.json", {})


async def test_a_result_is_not_overwritten(tmp_path: Path) -> None:
    """Measurements take long: one that is there stays unless it is said."""
    async with serve(Server()) as server:
        session = await session_for(server, tmp_path)
        write_result(session.path, {})
        with pytest.raises(ConfigError, match="--force"):
            await session_for(server, tmp_path)
        assert (await session_for(server, tmp_path, overwrite=True)).path == session.path


def test_machine_of_another_address_is_unknown() -> None:
    """The probe cannot see what the server runs on, unless it is the same machine."""
    assert machine("http://192.0.2.7:11434") == "unknown"
    assert place("http://gpu-01:11434") == "gpu-01"
    assert machine("http://127.0.0.1:11434") != "unknown"
    assert "/" not in place("http://localhost:11434")


def test_environment_is_recorded() -> None:
    """A setting that is not there is said to be unset."""
    found = settings({"OLLAMA_NUM_PARALLEL": "2", "OLLAMA_API_KEY": "secret"})
    assert found == {
        "OLLAMA_NUM_PARALLEL": "2",
        "OLLAMA_KV_CACHE_TYPE": "unset",
        "OLLAMA_MAX_LOADED_MODELS": "unset",
        "OLLAMA_CONTEXT_LENGTH": "unset",
    }


@pytest.mark.parametrize(
    ("info", "memory"),
    [
        ({"general.architecture": "llama"}, "attention-only"),
        ({"general.architecture": "mamba2", "mamba2.ssm.state_size": 16}, "recurrent"),
        ({"general.architecture": "qwen35"}, "recurrent"),
        (
            {"general.architecture": "gemma3", "gemma3.attention.sliding_window": 512},
            "sliding window",
        ),
        ({}, None),
        (None, None),
    ],
)
def test_memory_by_description(info: object, memory: str | None) -> None:
    """A description that is missing makes the memory unknown."""
    assert memory_of({"model_info": info}) == memory


@pytest.mark.parametrize(
    ("form", "version", "runner"),
    [
        ("gguf", "0.35.1", "llama-server"),
        ("gguf", "0.30.0-rc1", "llama-server"),
        ("gguf", "0.24.0", None),
        ("safetensors", "0.35.1", "MLX"),
        (None, "0.35.1", None),
    ],
)
def test_runner_by_format(form: object, version: str, runner: str | None) -> None:
    """Format and version tell the runner, or it is unknown."""
    assert runner_of(form, version) == runner
