"""What the probe puts on the wire, in which order, and what it does with the answers."""

import asyncio
from collections.abc import AsyncIterator
import json
from pathlib import Path
from typing import Any, override

import pytest

from ollama_warmer.errors import RefusedByOllama, WarmerError
from ollama_warmer.lab.probe.plan import PLAN, Phase
from ollama_warmer.lab.probe.prompts import SystemSource, digest, glossary
from ollama_warmer.lab.probe.record import Taken
from ollama_warmer.lab.probe.runner import Settings
from tests.warmer.support.probe_runs import Watcher, run, session_for
from tests.warmer.support.probe_server import MODEL, Anywhere, OnceEach, Rule, Server, serve


@pytest.fixture(name="server")
async def _server() -> AsyncIterator[Server]:
    """A server of an attention-only build."""
    async with serve(Server()) as server:
        yield server


async def nine_phases(server: Server, folder: Path, **order: Any) -> dict[str, Any]:  # noqa: ANN401
    """Run all phases, and return the object in the file."""
    return await run(server, await session_for(server, folder, **order))


async def test_order_on_the_wire(server: Server, tmp_path: Path) -> None:
    """All 39 calls are sent in the plan's order, between a warm-up and an unload."""
    await nine_phases(server, tmp_path)
    asked = [body for body in server.bodies if "messages" in body]
    assert [message["content"] for message in asked[0]["messages"]] == [
        "You are terse.",
        "Say OK.",
    ]
    assert server.questions == [call.question for call in PLAN]
    assert server.bodies[-1] == {"model": MODEL, "keep_alive": 0, "stream": False}
    assert len(server.bodies) == 1 + 39 + 1


async def test_body_of_every_call(server: Server, tmp_path: Path) -> None:
    """Every call has the published options, and thinking is switched off."""
    await nine_phases(server, tmp_path)
    for body in server.bodies[:-1]:
        assert {key: value for key, value in body.items() if key != "messages"} == {
            "model": MODEL,
            "stream": False,
            "think": False,
            "keep_alive": "10m",
            "options": {"temperature": 0, "num_ctx": 8192, "num_predict": 60},
        }
    system = {body["messages"][0]["content"] for body in server.bodies[1:-1]}
    assert system == {glossary(tag, 300) for tag in ("alpha", "bravo", "charlie", "delta", "echo")}


async def test_every_call_has_its_own_connection(server: Server, tmp_path: Path) -> None:
    """No connection is used for two calls."""
    await nine_phases(server, tmp_path)
    assert len(set(server.ports)) == len(server.ports) == 41


async def test_calls_come_one_after_the_other(server: Server, tmp_path: Path) -> None:
    """A turn replays the answer that came before it."""
    await nine_phases(server, tmp_path)
    third_turn = server.bodies[6]["messages"]
    assert [message["role"] for message in third_turn] == [
        *("system", "user", "assistant", "user", "assistant", "user"),
    ]
    assert third_turn[2]["content"] == "It means what it says. "


async def test_settings_are_the_published_ones() -> None:
    """A client gives up after 400 ms, and waits for 5 s."""
    settings = Settings(model=MODEL, source=SystemSource())
    assert (settings.abandon_after, settings.wait, settings.num_ctx) == (0.4, 5.0, 8192)


async def test_an_abandoned_call_goes_on(server: Server, tmp_path: Path) -> None:
    """The client leaves, the server goes on, and only the retry's whole time shows it."""
    server.slow["charlie"] = 0.5
    found = await nine_phases(server, tmp_path)
    aborted, retry = found["summary"]["retry-after-abort"]
    assert aborted == {"label": "aborted"} | dict.fromkeys(
        ("prompt", "cached", "prefillMs", "totalMs", "replyDigest", "replyChars")
    )
    assert retry["prompt"] - retry["cached"] == 1
    (row,) = found["tables"]["T5"]["rows"]
    assert row["abandoned"] is True
    assert row["prefillMs"] < 100
    assert row["waitMs"] > 300
    assert any("longer than a warm call" in sentence for sentence in found["verdict"])


async def test_a_quick_model_is_not_abandoned(server: Server, tmp_path: Path) -> None:
    """A call that is answered before the client gives up is said to be that."""
    found = await nine_phases(server, tmp_path)
    aborted = found["summary"]["retry-after-abort"][0]
    assert aborted["cached"] is not None
    assert [call["pass"] for call in found["calls"]] == [True] * 39
    assert any("was not measured" in sentence for sentence in found["verdict"])


@pytest.mark.parametrize(
    ("rule", "group", "first", "later"),
    [
        (Anywhere, "truncates anywhere", [8, 10], [8, 8]),
        (OnceEach, "once per system prompt", [2717, 2736], [8, 8]),
        (Rule, "no reuse", [2741, 2743], [2741, 2741]),
    ],
)
async def test_groups_of_builds(
    tmp_path: Path, rule: type[Rule], group: str, first: list[int], later: list[int]
) -> None:
    """A build is told by its counts, whatever it says of itself."""
    async with serve(Server(rule=rule(), make_rule=rule)) as server:
        found = await nine_phases(server, tmp_path)
    assert found["group"] == group
    rows = found["tables"]["T1"]["rows"]
    assert [rows[1]["reRead"], rows[2]["reRead"]] == [first, later]


async def test_mlx_rule_of_the_notebook(tmp_path: Path) -> None:
    """Repeat, first and later new conversations cost on both arms what the notebook shows."""
    async with serve(Server(rule=OnceEach(), make_rule=OnceEach)) as server:
        found = await nine_phases(server, tmp_path)
    costs = {row["call"]: row["reRead"] for row in found["tables"]["T3"]["rows"]}
    whole = [costs[f"{arm}-{role}"] for arm in ("delta", "echo") for role in ("cold", "fresh-1")]
    assert min(whole) > 2600
    assert costs["echo-exact"] == 5
    assert {costs[f"{arm}-fresh-{number}"] for arm in ("delta", "echo") for number in "23"} == {8}


async def test_result_is_written_after_every_call(server: Server, tmp_path: Path) -> None:
    """Whatever happens, the file holds what was measured until then."""
    session = await session_for(server, tmp_path, phases=(Phase.GROWING,))
    written: list[int] = []

    class Reader(Watcher):
        @override
        def answered(self, taken: Taken, seconds: float) -> None:
            super().answered(taken, seconds)
            written.append(len(json.loads(session.path.read_text())["calls"]))

    await run(server, session, Reader())
    assert written == [1, 2, 3, 4, 5, 6]


async def test_digest_of_the_answer_and_no_words(server: Server, tmp_path: Path) -> None:
    """The file has a digest of each answer, and neither its words nor the prompt's."""
    session = await session_for(server, tmp_path)
    found = await run(server, session)
    text = session.path.read_text()
    assert found["summary"]["identical-repeat"][0]["replyDigest"] == digest(
        "It means what it says. "
    )
    for words in ("It means what", "concept7", "Define alpha", "Say OK"):
        assert words not in text


async def test_a_failed_call_ends_the_run(server: Server, tmp_path: Path) -> None:
    """Its kind of error is kept, what came before stays, and the model is unloaded."""
    server.before = lambda body: (
        {"error": "out of memory"} if "bravo" in body["messages"][-1]["content"] else {}
    )
    session = await session_for(server, tmp_path)
    with pytest.raises(RefusedByOllama, match="out of memory"):
        await run(server, session)
    found = json.loads(session.path.read_text())
    assert found["complete"] is False
    assert (found["calls"][-1]["condition"], found["calls"][-1]["pass"]) == ("other", False)
    assert found["group"] == "truncates anywhere"
    assert "go on with it by --resume" in found["verdict"][1]
    assert not server.loaded


async def test_interruption_keeps_what_was_measured(server: Server, tmp_path: Path) -> None:
    """A run that is cancelled leaves its file and an unloaded model."""
    server.slow["bravo"] = 30.0
    session = await session_for(server, tmp_path)
    watcher = Watcher()
    running = asyncio.create_task(run(server, session, watcher))
    while "other" not in watcher.asked:  # noqa: ASYNC110 - an observer is no event
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    found = json.loads(session.path.read_text())
    assert [call["condition"] for call in found["calls"]][-1] == "turn-3"
    assert not server.loaded


async def test_a_smaller_window_is_said(server: Server, tmp_path: Path) -> None:
    """A model that has a smaller window than was asked for is not measured in it."""
    server.context = 4096
    with pytest.raises(WarmerError, match="Name 4096 with --num-ctx"):
        await nine_phases(server, tmp_path)


async def test_sweep_loads_anew_for_each_length(server: Server, tmp_path: Path) -> None:
    """No length finds another one's beginning in the cache."""
    session = await session_for(
        server, tmp_path, phases=(Phase.IDENTICAL_REPEAT,), lengths=(100, 150)
    )
    watcher = Watcher()
    found = await run(server, session, watcher)
    rows = found["tables"]["T6"]["rows"]
    assert [(row["entries"], row["reRead"], row["laterReRead"]) for row in rows] == [
        (100, 10, 8),
        (150, 10, 8),
    ]
    cold = [calls["calls"][0] for calls in found["sweep"]]
    assert max(row["cached"] for row in cold) < 10
    assert sum("messages" not in body for body in server.bodies) == 3
    assert watcher.plans == [8]
