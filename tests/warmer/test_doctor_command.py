"""The command `doctor`: options, lines, JSON and exit codes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, time
import json
from pathlib import Path

from click.testing import CliRunner, Result
import pytest

from ollama_warmer.cli import main
from ollama_warmer.config.run import RunConfig
from ollama_warmer.doctor.findings import many, span
from ollama_warmer.doctor.setup import longest_gap
from ollama_warmer.history.state import StateFile
from ollama_warmer.round.rounds import Round
from tests.warmer.support.doctor_server import MODEL, NUM_CTX, Server, open_server
from tests.warmer.support.house import AGENT, COLD, TOKEN, House, reply
from tests.warmer.test_doctor_house import tell
from tests.warmer.test_doctor_measurement import asked

Doctor = Callable[..., Awaitable[Result]]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Return a server with which all is well, until a test says otherwise."""
    async with open_server(Server()) as opened:
        yield opened


@pytest.fixture
def doctor(house: House, server: Server, tmp_path: Path) -> Doctor:
    """Return a way to run the command with a configuration for a house and a server."""
    tell(house)
    config = tmp_path / "home.toml"
    config.write_text(
        f'agent = "{AGENT}"\n[home_assistant]\nurl = "{house.url}"\n[ollama]\n'
        f'url = "{server.url}"\nmodel = "{MODEL}"\nnum_ctx = {NUM_CTX}\n'
        '[[targets]]\nname = "app"\n'
    )

    async def run_it(*options: str, token: str = TOKEN, bare: bool = False) -> Result:
        arguments = ["doctor", *([] if bare else ["--config", str(config)]), *options]
        environ = {"HA_TOKEN": token, "XDG_STATE_HOME": str(tmp_path)}
        result = await asyncio.to_thread(CliRunner().invoke, main, arguments, env=environ)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert TOKEN not in result.output
        return result

    return run_it


async def test_unknown_because_nobody_was_asked(doctor: Doctor) -> None:
    """Each finding that only a measurement could tell says so, and none does after one."""
    said = "not measured, as --measure was not given: "
    for options, expected in (((), True), (("--measure", "--pause", "0"), False)):
        findings = json.loads((await doctor("--json", *options)).stdout)["findings"]
        told = {it["id"] for it in findings if it["words"].startswith(said)}
        assert told == ({"measurement", "window", "new_conversation"} if expected else set())
        assert all("--measure" in it["advice"] for it in findings if it["id"] in told)


async def test_lines(doctor: Doctor) -> None:
    """A line for each finding that can be read without colours, and one that counts them."""
    result = await doctor()
    *lines, last = result.stdout.splitlines()
    assert result.exit_code == 0
    assert all(line.split()[0] in {"ok", "advice", "problem", "unknown"} for line in lines)
    assert f'ok       Ollama: the server has the model "{MODEL}".' in lines
    assert last.endswith(" ok")
    assert ", 0 problem, 0 advice, " in last


async def test_json(doctor: Doctor) -> None:
    """The same for programs."""
    result = await doctor("--json")
    report = json.loads(result.stdout)
    assert report["measured"] is False
    assert set(report["counts"]) == {"ok", "advice", "problem", "unknown"}
    assert sum(report["counts"].values()) == len(report["findings"])
    assert {
        "id": "model",
        "level": "ok",
        "subject": "Ollama",
        "words": f'the server has the model "{MODEL}"',
        "advice": None,
    } in report["findings"]


async def test_a_problem_is_exit_code_1(doctor: Doctor, server: Server) -> None:
    """Advice and unknown are not."""
    server.version = {"version": "0.33.2"}
    assert (await doctor()).exit_code == 0
    server.models = []
    result = await doctor()
    assert result.exit_code == 1
    assert f"Pull it (ollama pull {MODEL})" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--url", "ftp://x"), "--url is not an address with http or https"),
        (("--url", "http://127.0.0.1:1", "--model", "a b"), "--model is not an id"),
        (("--url", "http://127.0.0.1:1", "--measure"), "--measure asks Home Assistant's agents"),
        (("--config", "/no/such/file"), "cannot be read"),
        ((), "Nothing to look at"),
    ],
)
async def test_mistakes_are_exit_code_2(
    doctor: Doctor, options: tuple[str, ...], message: str
) -> None:
    """Said in a sentence, and nothing is looked at."""
    result = await doctor(*options, bare=True)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


async def test_a_server_alone(doctor: Doctor, server: Server) -> None:
    """Without a configuration nothing is said of Home Assistant."""
    result = await doctor("--url", server.url, "--model", MODEL, "--json", bare=True)
    findings = json.loads(result.stdout)["findings"]
    assert {it["subject"] for it in findings} == {"Ollama", "Router", "Model", "Log"}


async def test_options_stand_above_the_configuration(doctor: Doctor) -> None:
    """For another model, or a server on trial."""
    result = await doctor("--model", "nowhere")
    assert result.exit_code == 1
    assert 'no model "nowhere:latest"' in result.stdout


async def test_a_measurement(doctor: Doctor, house: House) -> None:
    """What is asked is said on standard error, and counts come from the agent's answer."""
    result = await doctor("--measure", "--pause", "0", "--json")
    assert len(house.questions) == 2
    assert result.stderr == f"Asking {AGENT} ...\n"
    report = json.loads(result.stdout)
    assert report["measured"] is True
    levels = {it["id"]: it["level"] for it in report["findings"]}
    assert levels.items() >= {"counts": "ok", "clock": "ok", "window": "ok"}.items()


async def test_a_measurement_that_finds_a_clock(doctor: Doctor, house: House) -> None:
    """The confirmation is cold."""
    house.answers = [reply(COLD) for _ in range(3)]
    result = await doctor("--measure", "--pause", "0")
    assert result.exit_code == 1
    assert "most likely a clock" in result.stdout


async def test_the_agent_uses_another_server(doctor: Doctor, server: Server) -> None:
    """It has answered, and its model is not loaded where the doctor looks."""
    server.loaded = []
    result = await doctor("--measure", "--pause", "0", "--json")
    levels = {it["id"]: it["level"] for it in json.loads(result.stdout)["findings"]}
    assert (levels["loaded"], levels["agent_model"]) == ("problem", "problem")


async def test_nobody_is_asked_by_a_token_that_is_refused(doctor: Doctor, house: House) -> None:
    """The measurement is a problem of its own, not unknown."""
    result = await doctor("--measure", token="another.token.of-nobody")
    assert result.exit_code == 1
    assert "no one could be asked: Home Assistant did not let us in" in result.stdout
    assert house.questions == []


async def test_the_last_round_tells_the_prompts_size(doctor: Doctor, tmp_path: Path) -> None:
    """Without a new question, and with the time of the old one."""
    state = StateFile(tmp_path / "rounds.json")
    at = datetime(2026, 8, 28, 15, 5, tzinfo=UTC)
    state.add(Round(results=asked((8000, 15)).results), at=at, occasion="command", seconds=1.0)
    result = await doctor("--state", str(state.path))
    assert "the prompt had 8,000 of 8,192 tokens in the round of 2026-08-28 15:05" in result.stdout
    (tmp_path / "rounds.json").write_text("garbage")
    result = await doctor("--state", str(state.path))
    assert "the last rounds are not known: " in result.stdout


@pytest.mark.parametrize(
    ("run", "seconds"),
    [
        (RunConfig(), 3600.0),
        (RunConfig(interval=600.0), 600.0),
        (RunConfig(interval=None, times=(time(6, 30),)), 86_400.0),
        (RunConfig(interval=None, times=(time(6), time(18, 30))), 45_000.0),
    ],
)
def test_the_longest_wait_for_a_warm_up(run: RunConfig, seconds: float) -> None:
    """The night counts, too."""
    assert longest_gap(run) == seconds


def test_words() -> None:
    """Spans and numbers as people write them."""
    assert [span(it) for it in (0, 1.2, 60, 3661, 90_000)] == [
        *("0 s", "1 s", "1 min", "1 h 1 min", "1 d 1 h")
    ]
    assert (many(1, "load"), many(2000, "load")) == ("1 load", "2,000 loads")
