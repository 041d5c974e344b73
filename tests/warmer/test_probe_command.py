"""The command `probe`: options, questions before it begins, output and exit codes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import json
from pathlib import Path

from click.testing import CliRunner, Result
import pytest

from ollama_warmer.cli import main
from ollama_warmer.commands import shared
from ollama_warmer.lab.probe.files import log_path, write_result
from tests.warmer.support.probe_runs import record
from tests.warmer.support.probe_server import MODEL, Server, serve

type Probe = Callable[..., Awaitable[Result]]

# Phases that need no wait.
QUICK = ("--phase", "growing-conversation")


@pytest.fixture(name="server")
async def _server() -> AsyncIterator[Server]:
    """A server of an attention-only build."""
    async with serve(Server()) as server:
        yield server


@pytest.fixture(name="probe")
def _probe(server: Server, tmp_path: Path) -> Probe:
    """Return a way to run the command against the server."""

    async def run_it(*options: str, said: str | None = None, alone: bool = False) -> Result:
        common = () if alone else ("--url", server.url, "--model", MODEL, "--output", str(tmp_path))
        arguments = ["probe", *common, *options]
        result = await asyncio.to_thread(CliRunner().invoke, main, arguments, input=said)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert "Traceback" not in result.output
        return result

    return run_it


def results(folder: Path) -> list[Path]:
    """Return the result files in a folder."""
    return list(folder.rglob("prefill_cache_probe-*.json"))


async def test_prints_tables_and_verdict(probe: Probe, tmp_path: Path) -> None:
    """People see every call, the tables and the verdict; the result lies in its folder."""
    result = await probe("--yes", *QUICK)
    assert result.exit_code == 0
    assert "  turn-3: prompt=" in result.stderr
    assert "T1 What a new conversation costs" in result.stdout
    assert "Truncates anywhere:" in result.stdout
    assert "run `ollama-warmer warm`" in result.stderr
    (file,) = results(tmp_path)
    assert file.name == "prefill_cache_probe-entries300-3phases.json"
    assert file.parent.name == "tiny_latest"


async def test_json_is_the_file(probe: Probe, tmp_path: Path) -> None:
    """Programs get what the file holds, and nothing else."""
    result = await probe("--yes", "--json", *QUICK)
    (file,) = results(tmp_path)
    assert json.loads(result.stdout) == json.loads(file.read_text())


async def test_asks_before_it_begins(
    probe: Probe, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal a person is asked, and told what is loaded; a no changes nothing."""
    monkeypatch.setattr(shared, "_on_a_terminal", lambda: True)
    server.loaded = True
    result = await probe(*QUICK, said="n\n")
    assert result.exit_code == 2
    assert "people ask meanwhile wait. Loaded now: tiny:latest. Go on?" in result.stderr
    assert server.bodies == []
    assert (await probe(*QUICK, said="y\n")).exit_code == 0


async def test_does_not_begin_by_itself(probe: Probe, server: Server) -> None:
    """Without a terminal it takes an option to keep a house's server busy."""
    result = await probe(*QUICK)
    assert result.exit_code == 2
    assert "Add --yes if that is meant" in result.stderr
    assert server.bodies == []


async def test_result_that_is_there(probe: Probe, server: Server) -> None:
    """It is not measured in vain: the second run is refused before it begins, unless forced."""
    await probe("--yes", *QUICK)
    asked = len(server.bodies)
    result = await probe("--yes", *QUICK)
    assert (result.exit_code, len(server.bodies)) == (2, asked)
    assert "--force" in result.stderr
    assert (await probe("--yes", "--force", *QUICK)).exit_code == 0


async def test_a_failure_says_how_to_go_on(probe: Probe, server: Server, tmp_path: Path) -> None:
    """The file is named, and the run can be gone on with."""
    server.before = lambda body: (
        {"error": "gone"} if "term12" in body["messages"][-1]["content"] else {}
    )
    result = await probe("--yes", *QUICK)
    (file,) = results(tmp_path)
    assert result.exit_code == 1
    assert f"ollama-warmer probe --url {server.url} --resume {file}" in result.stderr
    server.before = lambda _: {}
    again = await probe("--url", server.url, "--resume", str(file), "--yes", alone=True)
    assert again.exit_code == 0
    assert "Kept of the earlier run: identical-repeat, new-question." in again.stderr


async def test_interruption(probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the command with 130, the file's name and the way to go on."""

    def interrupted(coroutine: object) -> object:
        if "_run" in repr(coroutine):
            coroutine.close()  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return run(coroutine)  # type: ignore[arg-type]

    run = asyncio.run
    monkeypatch.setattr("ollama_warmer.commands.probe.asyncio.run", interrupted)
    result = await probe("--yes", *QUICK)
    assert result.exit_code == 130
    assert f"Interrupted. What was measured is in {tmp_path}" in result.stderr
    assert "--resume" in result.stderr


async def test_disturbed_run(probe: Probe, server: Server) -> None:
    """It says so and exits with 1."""
    server.before = lambda body: (
        {"load_duration": 2 * 10**9} if "term9" in body["messages"][-1]["content"] else {}
    )
    result = await probe("--yes", *QUICK)
    assert result.exit_code == 1
    assert "Disturbed, and therefore nothing is counted: the model was loaded" in " ".join(
        result.stdout.split()
    )
    assert "T1" not in result.stdout


async def test_a_finished_file_is_shown_without_a_server(probe: Probe, tmp_path: Path) -> None:
    """Tables and page can be made of a file at any time."""
    file, page = tmp_path / "run.json", tmp_path / "page.html"
    write_result(file, record().as_json())
    result = await probe("--resume", str(file), "--report", str(page), alone=True)
    assert result.exit_code == 0
    assert "Truncates anywhere:" in result.stdout
    assert page.read_text().startswith("<!DOCTYPE html>")


async def test_own_prompt(probe: Probe, server: Server, tmp_path: Path) -> None:
    """The text of a file is sent behind its tag, and not kept."""
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("You are the voice of a house. " * 60)
    result = await probe("--yes", "--json", "--file", str(prompt), *QUICK)
    run = json.loads(result.stdout)
    assert (run["variant"], run["summary"]["systemSource"]) == ("cardprompt", "prompt.txt")
    assert server.bodies[1]["messages"][0]["content"].startswith("Session tag: alpha.\n\nYou are")
    assert "voice of a house" not in result.stdout


async def test_log_beside_the_result(probe: Probe, server: Server, tmp_path: Path) -> None:
    """The log's known lines go beside the result, and tell what the model is."""
    log = tmp_path / "server.log"
    log.touch()

    def write(body: dict[str, object]) -> dict[str, object]:
        with log.open("a") as file:
            file.write(f"gpu-01: print_info: n_swa   = 128 and {body['messages']}\n")
        return {}

    server.before = write
    result = await probe("--yes", "--json", "--log", str(log), *QUICK)
    assert json.loads(result.stdout)["memory"] == "sliding window"
    (file,) = results(tmp_path)
    assert log_path(file).name == "server-log-entries300-3phases.txt"
    assert set(log_path(file).read_text().splitlines()) == {"print_info: n_swa   = 128"}


async def test_configuration_names_server_and_model(
    probe: Probe, server: Server, tmp_path: Path
) -> None:
    """Address and model come from [ollama] where no option names them."""
    config = tmp_path / "home.toml"
    config.write_text(
        'agent = "conversation.a"\n[home_assistant]\nurl = "http://h:8123"\n'
        f'[ollama]\nurl = "{server.url}"\nmodel = "{MODEL}"\nnum_ctx = 16384\n'
        '[[targets]]\nname = "app"\n'
    )
    options = ("--config", str(config), "--output", str(tmp_path), "--yes", *QUICK)
    result = await probe(*options, alone=True)
    assert result.exit_code == 0
    assert "the agent has a window of 16384 tokens" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sweep", "100,x"), "write numbers with commas"),
        (("--sweep", "0,100"), "from 1 to 600"),
        (("--entries", "601"), "601"),
        (("--phase", "everything"), "everything"),
        (("--file", "p.txt", "--entries", "3"), "Leave out --entries: --file takes the place"),
        (("--resume", "run.json"), "Leave out --model, --output: --resume takes them"),
        (("--url", "ftp://x"), "--url is not an address"),
        (("--model", "two words"), "--model is not an id"),
        (("--model", "missing"), 'has no model "missing", it has "tiny:latest"'),
        (("--log", "/missing.log"), "cannot be read"),
        (("--report", "/missing/page.html"), "/missing"),
    ],
)
async def test_wrong_options(
    probe: Probe, server: Server, options: tuple[str, ...], words: str
) -> None:
    """What is wrong is said before anything is asked."""
    result = await probe("--yes", *options)
    assert result.exit_code in {1, 2}
    assert words in " ".join(result.stderr.split())
    assert server.bodies == []


async def test_no_model_is_named(probe: Probe) -> None:
    """Without a model there is nothing to measure."""
    result = await probe("--yes", alone=True)
    assert (result.exit_code, "--model" in result.stderr) == (2, True)


async def test_server_that_is_not_there(probe: Probe) -> None:
    """An address where no one answers is said."""
    options = ("--yes", "--url", "http://127.0.0.1:1", "--model", MODEL)
    result = await probe(*options, alone=True)
    assert result.exit_code == 1
    assert "cannot be reached" in result.stderr
