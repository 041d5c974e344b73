"""`ollama-warmer clock`: what it asks and what it prints."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
import json
from pathlib import Path
import re

from click.testing import CliRunner
import pytest

from ollama_warmer.commands import clock as command, shared
from ollama_warmer.lab.clock.prompt import Placement
from tests.warmer.conftest import parsed
from tests.warmer.support.clock_server import MODEL, PROMPT, Body, Server, clocked, serving

CALLS = 4 + 5 + 5 + 2 * 5


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Return a server with the model in memory."""
    async with serving(Server()) as opened:
        yield opened


def shown_times(bodies: list[Body]) -> list[str]:
    """Return every time that was shown to the model, in order."""
    return [found for body in bodies for found in re.findall(r"\d\d:\d\d:\d\d", json.dumps(body))]


async def test_what_is_asked(server: Server) -> None:
    """One place after the other, with a time that moves and nothing else that does."""
    result = await clocked(server)

    assert result.exit_code == 0
    assert len(server.bodies) == CALLS
    for body in server.bodies:
        assert body["options"] == {"num_ctx": 8192, "num_predict": 1}
        assert (body["think"], body["stream"], body["truncate"]) == (False, False, False)
        assert "keep_alive" not in body
        assert body["tools"][0]["function"]["name"] == "GetDateTime"
    times = shown_times(server.bodies)
    # Every request shows another one; the question in front of a tool's answer shows none.
    assert len(times) == len(set(times)) == CALLS - 5
    without = {re.sub(r"\d\d:\d\d:\d\d", "", json.dumps(body)) for body in server.bodies}
    assert len(without) == len(Placement) + 1


async def test_the_time_stands_where_it_is_said_to(server: Server) -> None:
    """First and last words of the system text, first words of the question, a tool's answer."""
    await clocked(server)

    texts = [[message["content"] for message in body["messages"]] for body in server.bodies]
    clock = r"It is \d\d:\d\d:\d\d\."
    assert all(re.match(clock, system) for system, _ in texts[:4])
    assert all(re.search(f"{clock}$", system) for system, _ in texts[4:9])
    assert all(re.match(clock, question) for _, question in texts[9:14])
    for asked, told in zip(server.bodies[14::2], server.bodies[15::2], strict=True):
        assert told["messages"][:2] == asked["messages"]
        call, answer = told["messages"][2:]
        assert call["tool_calls"] == [{"function": {"name": "GetDateTime", "arguments": {}}}]
        assert re.fullmatch(r'\{"time": "\d\d:\d\d:\d\d"\}', answer["content"])


async def test_json(server: Server) -> None:
    """The agreed shape, with what was asked before the first sample beside it."""
    result = await clocked(server, "--json")

    run = parsed(result)
    assert (run["clock"], run["model"], run["ollama"]) == ("ollama_warm_clock", MODEL, "0.35.1")
    assert datetime.fromisoformat(run["measuredAt"]).tzinfo is not None
    assert run["options"]["num_ctx"] == 8192
    assert [one["placement"] for one in run["placements"]] == ["top", "end", "question", "tool"]
    assert [len(one["switch"]) for one in run["placements"]] == [1, 2, 2, 2]
    for one in run["placements"]:
        assert [sample["sample"] for sample in one["samples"]] == [1, 2, 3]
        for sample in one["samples"]:
            assert sample["re_read"] == sample["prompt"] - sample["cached"] == 20
            assert (sample["prefill_s"], sample["total_s"]) == (2, 3)
            assert ("asked" in sample) == (one["placement"] == "tool")
        assert one["pattern"] == "own words"
    assert run["restored"] is None
    assert "was not put back" in result.stderr


async def test_table(server: Server) -> None:
    """People see every question, and a sentence for each place."""
    server.cached = lambda body: 8 if body["messages"][0]["content"].startswith("It is") else 4780

    result = await clocked(server)

    lines = result.stdout.splitlines()
    assert sum("switch" in line for line in lines) == 1 + 2 + 2 + 2 * 2
    assert (
        "At the top of the system text: the whole prompt is re-read each time: "
        "4,792 of 4,800 tokens, 2.00 s at most" in lines
    )
    assert (
        "In a tool's answer: only its own words are read: 40 of 4,800 tokens, 4.00 s at most"
        in lines
    )
    assert any("was not put back" in line for line in lines)


async def test_unknown_counts(server: Server) -> None:
    """An old server says nothing, so nothing is called warm."""
    server.cached = lambda _: None

    result = await clocked(server, "--json")

    run = parsed(result)
    assert result.exit_code == 1
    assert {one["pattern"] for one in run["placements"]} == {"unknown"}
    sample = run["placements"][0]["samples"][0]
    assert (sample["prompt"], sample["cached"], sample["re_read"]) == (PROMPT, None, None)


async def test_a_model_without_tools(server: Server) -> None:
    """It is asked without them, and has no fourth place."""
    server.shown = {"capabilities": ["completion"]}

    result = await clocked(server, "--json")

    run = parsed(result)
    assert result.exit_code == 1
    assert len(server.bodies) == CALLS - 10
    assert not any("tools" in body for body in server.bodies)
    tool = run["placements"][-1]
    assert (tool["samples"], tool["pattern"]) == ([], "unknown")
    assert tool["words"] == f"{MODEL} takes no tools"


async def test_nobody_is_kept_waiting_unasked(server: Server) -> None:
    """A script has to say that it means it."""
    result = await clocked(server, yes=False)

    assert result.exit_code == 2
    assert "Questions that people ask meanwhile wait. Add --yes if that is meant" in result.stderr
    assert not server.bodies


@pytest.mark.parametrize(("words", "calls"), [("n\n", 0), ("y\n", CALLS)])
async def test_a_person_is_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch, words: str, calls: int
) -> None:
    """On a terminal, and before anything is replaced."""
    monkeypatch.setattr(shared, "_on_a_terminal", lambda: True)

    result = await clocked(server, yes=False, words=words)

    assert "Questions that people ask meanwhile wait. Go on? [y/N]" in result.stderr
    assert ("Nothing was measured" in result.stderr) == (calls == 0)
    assert len(server.bodies) == calls


async def test_a_prompt_of_ones_own(server: Server, tmp_path: Path) -> None:
    """The file's text is the system text."""
    text = tmp_path / "prompt.txt"
    text.write_text("You are a butler.\n" * 300)

    result = await clocked(server, "--json", "--prompt-file", str(text))

    assert parsed(result)["options"]["prompt"] == "prompt.txt"
    systems = [body["messages"][0]["content"] for body in server.bodies]
    assert all("You are a butler.\nYou are a butler." in system for system in systems)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"\xff", "is not text in UTF-8"), (b" \n", "is empty")],
)
async def test_a_prompt_that_is_none(
    server: Server, tmp_path: Path, content: bytes | None, words: str
) -> None:
    """Each mistake is a sentence."""
    path = tmp_path / "prompt.txt"
    if content is not None:
        path.write_bytes(content)

    result = await clocked(server, "--prompt-file", str(path))

    assert (result.exit_code, f"{path}: {words}" in result.stderr) == (2, True)


@pytest.mark.parametrize("prompt", [8000, 2000])
async def test_a_prompt_that_does_not_fit(server: Server, prompt: int) -> None:
    """Old servers cut it in silence, and a cut prompt looks as if it were never cached."""
    server.prompt = prompt

    result = await clocked(server)

    assert result.exit_code == 1
    assert "does not fit the window of 8,192 tokens, so nothing was counted" in result.stderr
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--url", "nowhere"), "--url is not an address"),
        (("--model", "two words"), "--model is not an id"),
        (("--num-ctx", "0"), "--num-ctx has to be a whole number"),
    ],
)
async def test_wrong_options(server: Server, options: tuple[str, str], words: str) -> None:
    """An option is called wrong by its name."""
    result = await asyncio.to_thread(CliRunner().invoke, command.clock, ["--yes", *options])

    assert (result.exit_code, words in result.stderr) == (2, True)


async def test_a_page(server: Server, tmp_path: Path) -> None:
    """`--report` writes a page with what was measured."""
    page = tmp_path / "clock.html"

    result = await clocked(server, "--report", str(page))

    assert result.exit_code == 0
    assert MODEL in page.read_text()


async def test_a_page_that_cannot_be_written(server: Server) -> None:
    """That is found before anyone has to wait."""
    result = await clocked(server, "--report", "/nowhere/clock.html")

    assert result.exit_code != 0
    assert "Error: " in result.stderr
    assert not server.bodies
