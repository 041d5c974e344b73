"""What the doctor reads in a log: its end, from whatever source, and what it says of loads."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
import sys

import pytest

from ollama_warmer.config.config import CountsConfig, CountsSource
from ollama_warmer.doctor import log_tail
from ollama_warmer.doctor.checks.log import (
    check_clients,
    check_log,
    check_models,
    check_options,
    check_parallel,
    check_slots,
)
from ollama_warmer.doctor.findings import Finding, Level
from ollama_warmer.doctor.loads import Loads, others_options, overflows, path_by_log, sort_loads
from ollama_warmer.doctor.log_tail import Tail, read_tail
from ollama_warmer.doctor.server import Server
from ollama_warmer.ollama.facts import PromptPath, Version
from tests.warmer.support.doctor_server import MODEL, Json, shown

FIXTURE = Path(__file__).with_name("fixtures") / "loads_ollama.log"
NOW = datetime(2026, 8, 28, 15, 0, tzinfo=UTC)
BLOB = "sha256-aaaa0001"


def server(model: Json | None = None) -> Server:
    """Return a server with the agent's model."""
    described = shown("qwen35") if model is None else model
    return Server(
        url="", version=Version.read("0.35.1"), model="qwen3.5:9b", shown=described, at=NOW
    )


def starts(*loads: tuple[str, int, timedelta]) -> Tail:
    """Return a log in which models are started: file, window, and how long ago."""
    tail = Tail(name="the log x")
    for model, context, ago in loads:
        tail.found.feed(
            f'time={(NOW - ago).isoformat()} level=INFO msg="starting llama-server" '
            f'cmd="llama-server --model /m/{model} -c {context} -np 1 -ub 512"'
        )
        tail.found.feed("srv  llama_server: model loaded")
    return tail


def minutes(number: int) -> timedelta:
    """Return a span."""
    return timedelta(minutes=number)


def levels(*findings: Finding) -> dict[str, Level]:
    """Return the levels of findings."""
    return {it.id: it.level for it in findings}


async def test_a_file() -> None:
    """Read to its end, and kept apart."""
    tail = await read_tail(CountsConfig(source=CountsSource.FILE, path=FIXTURE))
    assert tail.trouble is None
    assert [it.model for it in tail.found.loads] == [BLOB, "sha256-bbbb0002"]
    assert check_log(tail).level is Level.OK


async def test_only_the_end_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of many gigabytes is not read as a whole."""
    path = tmp_path / "long.log"
    path.write_text("x\n" * 10_000 + FIXTURE.read_text())
    monkeypatch.setattr(log_tail, "_BYTES", FIXTURE.stat().st_size)
    tail = await read_tail(CountsConfig(source=CountsSource.FILE, path=path))
    assert tail.found.lines < 100
    assert len(tail.found.loads) == 2


@pytest.mark.parametrize(
    ("name", "words"), [("gone.log", "No such file"), (".", "it is not a file")]
)
async def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, words: str) -> None:
    """The reason, and what to do."""
    tail = await read_tail(CountsConfig(source=CountsSource.FILE, path=tmp_path / name))
    finding = check_log(tail)
    assert finding.level is Level.PROBLEM
    assert words in finding.words
    assert str(finding.advice).startswith("Correct `path` under [counts]")


async def test_a_program_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its old lines are what is wanted here; it is ended once it is silent."""
    monkeypatch.setattr(log_tail, "_QUIET", 0.2)
    script = f"import time; print(open({str(FIXTURE)!r}).read(), flush=True); time.sleep(60)"
    command = (sys.executable, "-c", script)
    tail = await read_tail(CountsConfig(source=CountsSource.COMMAND, command=command))
    assert tail.trouble is None
    assert len(tail.found.loads) == 2


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with exit code 3"),
        (("/no/such/program",), "cannot be started"),
    ],
)
async def test_a_program_that_fails(command: tuple[str, ...], words: str) -> None:
    """Whatever became of it is told."""
    tail = await read_tail(CountsConfig(source=CountsSource.COMMAND, command=command))
    assert check_log(tail).level is Level.PROBLEM
    assert words in check_log(tail).words


async def test_no_log_and_an_empty_one(tmp_path: Path) -> None:
    """Both leave everything unknown."""
    assert check_log(await read_tail(CountsConfig())).level is Level.UNKNOWN
    (tmp_path / "empty.log").touch()
    config = CountsConfig(source=CountsSource.FILE, path=tmp_path / "empty.log")
    assert check_log(await read_tail(config)).level is Level.UNKNOWN


async def test_everything_that_ollamas_log_says() -> None:
    """The agent's model is told by its file; what it has and lacks follows."""
    tail = await read_tail(CountsConfig(source=CountsSource.FILE, path=FIXTURE))
    loads = sort_loads(tail, server(), NOW)
    assert [it.model for it in loads.ours] == [BLOB]
    assert levels(
        *check_models(loads),
        *check_options(loads, 16_384),
        *check_slots(loads),
        *check_parallel(tail, server()),
        *check_clients(tail),
    ) == {
        "log_models": Level.ADVICE,
        "other_options": Level.OK,
        "slots": Level.OK,
        "batch": Level.OK,
        "prompt_cache": Level.ADVICE,
        "parallel": Level.ADVICE,
        "clients": Level.OK,
    }
    assert path_by_log(tail, "qwen3.5:9b") is PromptPath.RENDERED
    assert path_by_log(tail, MODEL) is None
    assert overflows(tail, 4096) == ["Ollama cut a prompt that did not fit"]
    assert overflows(tail, 16_384) == []


def test_two_slots() -> None:
    """The second one may be cold."""
    tail = starts((BLOB, 8192, minutes(1)))
    tail.found.loads[0].slots = 2
    slots, *_ = check_slots(sort_loads(tail, server(), NOW))
    assert (slots.id, slots.level) == ("slots", Level.ADVICE)


@pytest.mark.parametrize(
    ("windows", "found"),
    [
        ([16_384], None),
        ([16_384, 16_384], None),
        ([8192, 16_384], None),
        ([16_384, 8192], (16_384, 8192)),
        ([16_384, 8192, 16_384], (8192, 16_384)),
        ([8192, 16_384, 16_384, 8192], (16_384, 8192)),
        ([4096, 8192], None),
    ],
)
def test_who_takes_turns(windows: list[int], found: tuple[int, int] | None) -> None:
    """The agent's window is 16,384; one change to it may be the owner's own."""
    tail = starts(*((BLOB, window, minutes(9)) for window in windows))
    pair = others_options(sort_loads(tail, server(), NOW), 16_384)
    assert (pair and (pair[0].context, pair[1].context)) == found


def test_what_is_long_past_is_over() -> None:
    """Someone may have put it right."""
    old = timedelta(days=3)
    tail = starts(
        (BLOB, 16_384, old), (BLOB, 8192, old), ("sha256-bbbb0002", 4096, old), (BLOB, 16_384, old)
    )
    loads = sort_loads(tail, server(), NOW)
    assert len(loads.ours) == 3
    assert levels(*check_models(loads), *check_options(loads, 16_384)) == {
        "other_options": Level.OK
    }


def test_a_model_that_ollama_does_not_name_by_its_file() -> None:
    """Its architecture tells it; a file that is named and was not loaded is not guessed."""
    tail = starts(("model.gguf", 8192, minutes(1)))
    tail.found.loads[0].architecture = "qwen35"
    named = server(shown("qwen35", modelfile="FROM qwen3.5:9b\n"))
    assert len(sort_loads(tail, named, NOW).ours) == 1
    assert sort_loads(tail, server(), NOW).ours == ()
    assert sort_loads(tail, None, NOW).ours == ()
    assert levels(*check_options(Loads(), 1), *check_slots(Loads()), *check_models(Loads())) == {}
