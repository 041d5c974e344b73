"""The integration takes from a server's answers what the table says."""

from collections.abc import Mapping
from typing import Any

import pytest

from custom_components.ollama_warm.ollama import facts
from custom_components.ollama_warm.ollama.ways import Chosen, Way, async_choose

from .facts_table import IDS, ROWS, Row, examples

BODY: dict[str, Any] = {
    "model": "a model",
    "messages": [{"role": "system", "content": "You are brief."}],
    "tools": [],
}


class Server:
    """Says of its model what a row says, and renders when it is asked."""

    def __init__(self, shown: dict[str, Any]) -> None:
        """Take what it says."""
        self._shown = shown
        self.rendered = 0

    async def show(self, _model: str) -> dict[str, Any]:
        """Return what is known of a model."""
        return self._shown

    async def render(self, body: Mapping[str, Any]) -> str:
        """Return the prompt of a chat."""
        self.rendered += 1
        return "".join(message["content"] for message in body["messages"])


@pytest.mark.parametrize("row", ROWS, ids=IDS)
async def test_the_way(row: Row) -> None:
    """How a prefix is warmed follows from the model's memory, who renders, and the release."""
    server: Any = Server(row.shown)
    mlx = row.runner == "MLX"
    raw = row.renders and row.path == "rendered" and (mlx or row.memory != "attention")
    way = Way.RAW if raw else Way.TWO_QUESTIONS if mlx else Way.CHAT
    assert await async_choose(server, BODY, row.version) == Chosen(way, row.version)
    # An older server would take the render for a question and answer it.
    assert bool(server.rendered) is raw


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_each_fact(row: Row) -> None:
    """Each column of the table."""
    version = facts.Version.read(row.version)
    assert facts.memory_of(row.shown) == row.memory
    assert facts.path_of(row.shown) == row.path
    assert facts.runner_of(row.shown, version) == row.runner
    assert version.since(*facts.RENDER_ONLY) is row.renders
    assert version.since(*facts.CACHED_COUNT) is bool(row.counts)
    assert (version.numbers is None) is (row.counts is None)


@pytest.mark.parametrize("architecture", facts.RECURRENT)
def test_each_architecture_has_an_example(architecture: str) -> None:
    """A row that is taken out of the module is missed by both programs."""
    rows = examples(architecture)
    assert rows
    assert {row.memory for row in rows} == {"recurrent"}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("qwen3", "qwen3:latest"),
        ("qwen3:8b", "qwen3:8b"),
        ("hf.co/a/b", "hf.co/a/b:latest"),
        ("registry:5000/me/model", "registry:5000/me/model:latest"),
        ("registry:5000/me/model:q4", "registry:5000/me/model:q4"),
    ],
)
def test_full_names(model: str, name: str) -> None:
    """A name without a tag is the latest's; a port is no tag."""
    assert facts.full_name(model) == name
