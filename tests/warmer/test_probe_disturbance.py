"""A run in which something else had a hand says so, and nothing of it is counted."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ollama_warmer.errors import WarmerError
from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.disturbance import found_in
from ollama_warmer.lab.probe.plan import Kind, Phase
from tests.warmer.support.probe_runs import (
    ANYWHERE,
    BATCH,
    ONCE,
    PROMPT,
    record,
    run,
    session_for,
    summary,
)
from tests.warmer.support.probe_server import Server, serve

Change = dict[str, dict[str, int | None]]


@pytest.mark.parametrize("costs", [ANYWHERE, BATCH, ONCE, dict.fromkeys(Kind)])
def test_clean_runs_are_clean(costs: dict[Kind, int | None]) -> None:
    """No group is taken for a disturbance, and neither is a server without counts."""
    assert found_in(summary(costs)) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"turn-3": {"prompt": 8140}}, "turn-3 has 8140 tokens"),
        ({"turn-2": {"prompt": PROMPT}}, "the context window overflowed: turn-2 has more history"),
        ({"b-turn-3": {"prompt": PROMPT}}, "the context window overflowed: b-turn-3"),
        ({"identical": {"prompt": 3, "cached": 0}}, "counted as 3 tokens instead of 3178"),
        ({"exact": {"cached": 28}}, "exact repeats the call before it"),
        ({"echo-cold": {"cached": PROMPT - 1}}, "echo-cold sends a prompt that this run never"),
        ({"other": {"cached": PROMPT - 1}}, "other sends a prompt that this run never"),
    ],
)
def test_counts_that_show_a_disturbance(changed: Change, words: str) -> None:
    """Each sign is found in the counts, and says what it is."""
    (sentence,) = found_in(summary(changed=changed))
    assert words in sentence


def test_overflow_from_the_beginning() -> None:
    """A prompt that is cut at every call has the same length however long its history is."""
    stuck = dict.fromkeys(Kind, 4000) | {Kind.ABANDONED: None}
    changed: Change = {
        role: {"prompt": 4096, "cached": 4}
        for role in ("turn-1", "turn-2", "turn-3", "extend-base", "extend")
    }
    found = found_in(summary(stuck, changed=changed))
    assert any("overflowed" in sentence for sentence in found)


def test_a_server_that_keeps_no_repeat_is_not_disturbed() -> None:
    """It has no cache: that is a result."""
    nothing = dict.fromkeys(Kind, PROMPT)
    made = record(nothing, phases=(Phase.IDENTICAL_REPEAT, Phase.NEW_QUESTION))
    assert found_in(made.as_json()["summary"]) == []


def test_disturbed_run_says_nothing_else() -> None:
    """Neither group nor costs nor advice."""
    made = record()
    made.disturbed.append("someone else uses the server")
    assert conclude(made)["verdict"] == [
        "Disturbed, and therefore nothing is counted: someone else uses the server."
    ]


def at(words: str, change: Callable[[], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what changes something when a question with these words is answered."""

    def before(body: dict[str, Any]) -> dict[str, Any]:
        if words in body["messages"][-1]["content"]:
            found = change()
            return found if isinstance(found, dict) else {}
        return {}

    return before


async def disturbed(server: Server, folder: Path) -> dict[str, Any]:
    """Run the probe on a server, and return the object in the file."""
    async with serve(server):
        return await run(server, await session_for(server, folder))


@pytest.mark.parametrize(
    ("answer", "words", "unloaded"),
    [
        ({"load_duration": 1_200_000_000}, "loaded again in the middle", False),
        ({"total_duration": 9_000_000_000}, "waited 9.0 s for its turn", False),
        ({"prompt_eval_cached_count": 3}, "exact repeats the call before it", True),
    ],
)
async def test_answers_that_show_another_client(
    tmp_path: Path, answer: dict[str, Any], words: str, *, unloaded: bool
) -> None:
    """The run ends at once; a model that someone needs is not unloaded under them."""
    server = Server()
    seen: list[int] = []

    def second() -> dict[str, Any]:
        seen.append(1)
        return answer if len(seen) == 2 else {}

    server.before = at("Define alpha-term20.", second)
    found = await disturbed(server, tmp_path)
    assert words in found["disturbed"][0]
    assert (found["tables"], found["group"]) == (None, "unknown")
    assert server.questions[-1] == "Define alpha-term20."
    assert server.loaded is not unloaded


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"others": ["embedder:latest"]}, '"embedder:latest" was loaded meanwhile'),
        ({"loaded": False}, "the model was unloaded in the middle"),
        ({"context": 16384}, "a window of 16384 tokens instead of 8192"),
        ({"keep_alive": timedelta(minutes=5)}, "the model expires was moved"),
        ({"keep_alive": timedelta(days=90_000)}, "the model expires was moved"),
    ],
)
async def test_loaded_models_that_show_another_client(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """Another model, another window, or a stay that another request set."""
    server = Server()

    def happen() -> None:
        for name, value in change.items():
            setattr(server, name, value)

    server.before = at("And alpha-term18?", happen)
    # The stay that an answer sets is set before it is sent; so the change shows one call later.
    found = await disturbed(server, tmp_path)
    assert words in found["disturbed"][0]
    assert found["complete"] is False


async def test_calls_that_go_to_two_machines(tmp_path: Path) -> None:
    """A router that spreads the calls is no server to be measured."""
    server = Server()
    nodes = iter(["gpu-1", "gpu-1", "gpu-2"])
    server.before = lambda _: {"headers": {"X-Fleet-Node": next(nodes, "gpu-2")}}
    found = await disturbed(server, tmp_path)
    assert "a router sent identical to another machine" in found["disturbed"][0]


async def test_another_model_that_stays(tmp_path: Path) -> None:
    """A run beside another model is not begun."""
    server = Server(others=["embedder:latest"], loaded=True)
    with pytest.raises(WarmerError, match=r"embedder:latest.*ollama stop"):
        await disturbed(server, tmp_path)
    assert server.bodies == []
    assert server.loaded


async def test_a_model_on_its_way_out_is_waited_for(tmp_path: Path) -> None:
    """What is still being unloaded is waited for, and so is the model itself."""
    server = Server(loaded=True)
    found = await disturbed(server, tmp_path)
    assert "messages" not in server.bodies[0]
    assert found["disturbed"] == []


async def test_clocks_may_differ(tmp_path: Path) -> None:
    """A server whose clock is wrong by hours is not taken for one that someone else uses."""
    server = Server(keep_alive=timedelta(hours=-3))
    assert (await disturbed(server, tmp_path))["disturbed"] == []


async def test_without_counts_nothing_is_claimed(tmp_path: Path) -> None:
    """An old server's run is complete, and of an unknown group."""
    found = await disturbed(Server(counts=False, version="0.33.2"), tmp_path)
    assert (found["complete"], found["group"]) == (True, "unknown")
    assert "Update it" in found["verdict"][0]
    assert found["tables"]["T1"]["rows"][0]["reRead"] is None
