"""A run that was interrupted is gone on with: nothing is measured twice, and nothing is mixed."""

from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import pytest

from ollama_warmer.errors import ConfigError, RefusedByOllama
from ollama_warmer.lab.probe.files import read_result, write_result
from ollama_warmer.lab.probe.plan import Phase
from ollama_warmer.lab.probe.prompts import SystemSource, from_file
from ollama_warmer.lab.probe.session import Session, resumed_session
from ollama_warmer.lab.probe.survey import Survey
from tests.warmer.support.probe_runs import Watcher, record, run, session_for
from tests.warmer.support.probe_server import MODEL, Anywhere, OnceEach, Server, serve

SURVEY = Survey(version="0.35.1", model=MODEL, digest="d1", memory=None, runner=None, loaded={})


async def broken_off(server: Server, folder: Path, words: str, **order: Any) -> Session:  # noqa: ANN401
    """Run until a question with these words fails."""
    session = await session_for(server, folder, **order)
    server.before = lambda body: (
        {"error": "gone"} if words in body["messages"][-1]["content"] else {}
    )
    with pytest.raises(RefusedByOllama):
        await run(server, session)
    server.before = lambda _: {}
    return session


async def test_goes_on_where_it_ended(tmp_path: Path) -> None:
    """A phase that was broken off is begun again, after what it needs; the others are kept."""
    async with serve(Server()) as server:
        session = await broken_off(server, tmp_path, "Now define alpha-term311.")
        before = json.loads(session.path.read_text())["summary"]
        server.bodies.clear()
        watcher = Watcher()
        found = await run(server, resumed_session(session.path, None, SURVEY), watcher)
    assert watcher.asked[:4] == ["cold", "identical", "new-question", "a-turn-1"]
    assert len(watcher.asked) == 3 + 6 + 4
    assert watcher.plans == [13]
    assert found["complete"] is True
    assert [call["pass"] for call in found["calls"]] == [True] * 39
    kept = [phase for phase in Phase if phase not in {Phase.TWO_CONVERSATIONS, Phase.SECOND_BRANCH}]
    assert {phase: found["summary"][phase] for phase in kept} == {
        phase: before[phase] for phase in kept
    }


async def test_what_a_phase_needs_is_run_again(tmp_path: Path) -> None:
    """Going back to a prompt needs the conversation that was had before."""
    async with serve(Server()) as server:
        session = await broken_off(server, tmp_path, "Define bravo-term7.")
        watcher = Watcher()
        await run(server, resumed_session(session.path, None, SURVEY), watcher)
    assert watcher.asked[:8] == [
        *("cold", "identical", "new-question", "turn-1", "turn-2", "turn-3"),
        *("other", "back-to-a"),
    ]


async def test_another_batch_is_never_mixed_in(tmp_path: Path) -> None:
    """A model that counts differently after it was loaded again is measured from the beginning."""
    async with serve(Server()) as server:
        session = await broken_off(server, tmp_path, "Define delta-term7.")
        server.make_rule = OnceEach
        server.rule = OnceEach()
        watcher = Watcher()
        found = await run(server, resumed_session(session.path, None, SURVEY), watcher)
    assert "nothing of the file is kept" in watcher.notes[1]
    assert len(watcher.asked) == 3 + 39
    assert found["group"] == "once per system prompt"
    assert found["tables"]["T1"]["rows"][2]["calls"] == 12


async def test_a_sweep_goes_on_with_its_lengths(tmp_path: Path) -> None:
    """Each length is measured by itself, so only those that are missing are run."""
    order = {"phases": (Phase.IDENTICAL_REPEAT,), "lengths": (100, 150)}
    async with serve(Server()) as server:
        session = await session_for(server, tmp_path, **order)
        found = await run(server, session)
        found["sweep"] = found["sweep"][:1]
        found["complete"] = False
        write_result(session.path, found)
        watcher = Watcher()
        again = await run(server, resumed_session(session.path, None, SURVEY), watcher)
    assert watcher.asked == ["cold", "new-question", "turn-1"]
    assert [row["entries"] for row in again["tables"]["T6"]["rows"]] == [100, 150]


async def test_a_complete_run_asks_nothing(tmp_path: Path) -> None:
    """There is nothing to go on with."""
    path = tmp_path / "run.json"
    write_result(path, record().as_json())
    async with serve(Server(rule=Anywhere())) as server:
        found = await run(server, resumed_session(path, None, SURVEY))
    assert server.bodies == []
    assert found["group"] == "truncates anywhere"


async def test_a_disturbed_run_begins_anew(tmp_path: Path) -> None:
    """Nothing is kept of it."""
    made = record()
    made.disturbed.append("someone else uses the server")
    path = tmp_path / "run.json"
    write_result(path, made.as_json())
    async with serve(Server()) as server:
        watcher = Watcher()
        found = await run(server, resumed_session(path, None, SURVEY), watcher)
    assert "begins again" in watcher.notes[0]
    assert (len(watcher.asked), found["disturbed"]) == (39, [])


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"version": "0.36.0"}, "Ollama's version was 0.35.1 and is 0.36.0"),
        ({"model": "other:latest"}, "the model was tiny:latest and is other:latest"),
        ({"digest": "d2"}, "model's build was d1 and is d2"),
    ],
)
def test_other_conditions_are_refused(tmp_path: Path, now: dict[str, Any], words: str) -> None:
    """Counts of two servers, models or builds are never put together."""
    path = tmp_path / "run.json"
    write_result(path, record().as_json())
    with pytest.raises(ConfigError, match=words):
        resumed_session(path, None, replace(SURVEY, **now))


def test_file_mode_needs_its_file_again(tmp_path: Path) -> None:
    """The prompt's text is not kept, and another one is not taken for it."""
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("You are a house.")
    source = from_file(prompt)
    made = record()
    made.conditions = replace(
        made.conditions,
        variant=source.variant,
        entries=None,
        system_source="prompt.txt",
        assets=source.assets,
    )
    path = tmp_path / "run.json"
    write_result(path, made.as_json())
    with pytest.raises(ConfigError, match="name that file again"):
        resumed_session(path, None, SURVEY)
    assert resumed_session(path, source, SURVEY).settings.source == source
    prompt.write_text("You are a boat.")
    with pytest.raises(ConfigError, match="the prompt file was"):
        resumed_session(path, from_file(prompt), SURVEY)
    with pytest.raises(ConfigError, match="the system text was cardprompt and is entries300"):
        resumed_session(path, SystemSource(), SURVEY)


def test_a_written_run_is_read_as_it_was(tmp_path: Path) -> None:
    """Nothing gets lost between writing and reading."""
    path = tmp_path / "run.json"
    made = record(changed={"seed": {"cached": None}})
    write_result(path, made.as_json())
    assert read_result(path).as_json() == made.as_json()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"probe": "another"}', '{"probe": "prefill_cache_probe"}']
)
def test_a_file_that_is_none(tmp_path: Path, text: str) -> None:
    """What is no run of the probe is refused in a sentence."""
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="Begin a new run"):
        read_result(path)
    with pytest.raises(ConfigError, match="--resume"):
        read_result(tmp_path / "missing.json")
