"""Rounds whose counts come from a log."""

import asyncio
from collections.abc import Callable
import os
from pathlib import Path
from typing import override

import pytest

from ollama_warmer.config.config import Target, load_config
from ollama_warmer.counts import from_file as log_file
from ollama_warmer.house.credentials import Token
from ollama_warmer.round.rounds import Observer, run_round
from ollama_warmer.round.verdicts import Verdict
from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import AGENT, TOKEN, House, Message, counts, error_reply, reply
from tests.warmer.support.log_writer import APP, add, file_counts, writes
from tests.warmer.test_lines import LOADED, STARTING, request
from tests.warmer.test_loads import LOADS

OLD, NEW = request(5000, 0, task=1), request(5104, 5080, task=7)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often enough to see a file that is there only for a moment."""
    monkeypatch.setattr(log_file, "_POLL", 0.01)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "ollama.log"
    add(path, OLD)
    return path


async def test_round_with_another_agent(house: House, run: Run, path: Path) -> None:
    """An agent that counts nothing is warm by its server's log, which the reason names."""
    house.overrides["conversation/process"] = writes(path, request(5104, 0), NEW)

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    (target,) = parsed(result)["targets"]
    assert result.exit_code == 0
    assert target["verdict"] == "warm"
    assert target["reason"].startswith(
        f"the log {path} says that the confirmation re-read 24 of 5104 tokens"
    )
    assert [step["cached"] for step in target["steps"]] == [0, 5080]


async def test_round_with_a_cold_confirmation(house: House, run: Run, path: Path) -> None:
    """A confirmation that reads everything is cold."""
    house.overrides["conversation/process"] = writes(path, NEW, request(5104, 12))

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    assert (result.exit_code, parsed(result)["verdict"]) == (1, "cold")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([*NEW[:2], NEW[3]], "was given up, was no question (an embedding, for example)"),
        (["Suppressed 99 messages from ollama.service", *NEW], "lines are missing there"),
        ([LOADS["0.11.4"][0], LOADS["0.11.4"][0], *NEW], "several model processes wrote there"),
    ],
)
async def test_round_with_what_only_looks_warm(
    house: House, run: Run, path: Path, lines: list[str], reason: str
) -> None:
    """Lines that may not be the question's, or not all of them, never make a target warm."""
    house.overrides["conversation/process"] = writes(path, NEW, lines)

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    (target,) = parsed(result)["targets"]
    assert (result.exit_code, target["verdict"]) == (1, "unknown")
    assert reason in target["reason"]
    step = target["steps"][1]
    assert (step["prompt"], step["cached"], step["re_read"]) == (None, None, None)


async def test_reply_comes_first(house: House, run: Run, path: Path) -> None:
    """Our agent's own counts are taken where it has them, and its objections always."""
    table = file_counts(path) + APP
    for block, verdict in (
        (counts(5104, 5080, verdict="warm"), "warm"),
        (counts(5104, None, verdict="unknown"), "warm"),
        (counts(5104, None, verdict="prompt changed"), "partly warm"),
    ):
        house.overrides["conversation/process"] = writes(path, NEW, NEW, block=block)
        (target,) = parsed(await run(house.url, "--json", targets=table))["targets"]
        assert target["verdict"] == verdict
        assert ("the log" in target["reason"]) == (block["turns"][0]["cached_tokens"] is None)


async def test_nobody_counts(house: House, run: Run) -> None:
    """Whoever says so gets warm-ups without a verdict."""
    result = await run(house.url, "--json", targets=f'[counts]\nsource="none"\n{APP}')

    (target,) = parsed(result)["targets"]
    assert (result.exit_code, target["verdict"]) == (1, "unknown")
    assert 'source = "none"' in target["reason"]


async def test_prompt_that_is_refused(house: House, run: Run, path: Path) -> None:
    """A failed question whose prompt was larger than the window says so."""
    new, *_, release = request(20_000, 0)

    def answer(_: Message) -> Message:
        add(path, [new.replace("n_ctx_slot = 9,", "n_ctx_slot = 16384,"), release])
        return error_reply("unknown", "Sorry")

    house.overrides["conversation/process"] = answer

    (target,) = parsed(await run(house.url, "--json", targets=file_counts(path) + APP))["targets"]

    assert target["reason"] == (
        'the agent answered the warm-up with the error "unknown": the log '
        f"{path} shows a prompt of 20000 tokens for a context window of 16384: raise the agent's "
        "num_ctx or expose less"
    )


def rename(path: Path) -> None:
    """Rotate as logrotate does, before the server has been told of it."""
    os.rename(path, f"{path}.1")  # noqa: PTH104


def copy_and_empty(path: Path) -> None:
    """Rotate with copytruncate."""
    Path(f"{path}.1").write_bytes(path.read_bytes())
    os.truncate(path, 0)


@pytest.mark.parametrize("rotate", [rename, copy_and_empty])
async def test_log_is_rotated_while_a_question_runs(
    house: House, run: Run, path: Path, rotate: Callable[[Path], None]
) -> None:
    """What was written before and after is put together, for both questions."""
    tasks = iter((1, 9))

    def answer(_: Message) -> object:
        new, cached, *rest = request(5104, 5080, task=next(tasks))
        loop = asyncio.get_running_loop()
        add(path, [new, cached])
        loop.call_later(0.1, rotate, path)
        loop.call_later(0.2, add, path, rest)
        return 0.25, reply(None)

    house.overrides["conversation/process"] = answer

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    (target,) = parsed(result)["targets"]
    assert (result.exit_code, target["verdict"]) == (0, "warm")
    assert [step["cached"] for step in target["steps"]] == [5080, 5080]


class Meanwhile(Observer):
    """Lets lines be written while the second question waits for its turn."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        """Take the log and the lines."""
        self._path = path
        self._lists = iter(([], lines))

    @override
    async def ready(self, target: Target) -> None:
        """Write what is due."""
        add(self._path, next(self._lists))


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        *(
            (lines, "the log shows that the model was reloaded in between")
            for lines in ([STARTING, LOADED], *LOADS.values())
        ),
        (
            ['{"log":"srv  llama_server: model loaded\\n","stream":"stderr"}'],
            "the log shows that the model was reloaded in between",
        ),
        (
            ['{"MESSAGE":' + str(list(b"\x1b[0msrv  llama_server: model loaded")) + "}"],
            "the log shows that the model was reloaded in between",
        ),
        (
            ["systemd-journald[312]: Suppressed 99 messages from ollama.service"],
            "lines are missing in the log since the question before: whether the model was",
        ),
        (request(900, 0, task=2), "the log shows another request in between"),
        ([], "likely something at the top of the prompt changes with every question"),
    ],
)
async def test_what_happened_between_the_questions(
    house: House, tmp_path: Path, path: Path, between: list[str], reason: str
) -> None:
    """What is written after one question was counted and before the next is not lost."""
    house.overrides["conversation/process"] = writes(
        path, request(5104, 0, task=1), request(5104, 12, task=9)
    )
    file = tmp_path / "home.toml"
    file.write_text(
        f'agent = "{AGENT}"\n[home_assistant]\nurl = "{house.url}"\n{file_counts(path)}{APP}'
    )
    config = load_config(file)

    outcome = await run_round(
        config, Token(TOKEN), config.targets, observer=Meanwhile(path, between)
    )

    assert outcome.verdict is Verdict.COLD
    assert reason in outcome.results[0].reason
