"""What a state file may hold, and that nothing else does any harm."""

from collections.abc import Iterator
from datetime import UTC, datetime
import json
import logging
from pathlib import Path
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from ollama_warmer.config.config import Target
from ollama_warmer.errors import CannotConnect
from ollama_warmer.history.shape import DamagedError, NewerError, parse
from ollama_warmer.history.state import StateFile, unreached

AT = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
EMPTY = {"version": 1, "rounds": []}
APP = Target(name="app", agent="conversation.house", text="7 times 8?", confirm_text="{number}?")
ROUND = unreached((APP,), CannotConnect("Home Assistant is not there"))


def parses(content: bytes) -> bool:
    """Say whether the content is a state file; fail if that ends in any other way."""
    try:
        parse(content)
    except DamagedError, NewerError:
        return False
    return True


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return one place for all examples, as each has its own content; without a log of them."""
    logging.disable()
    yield tmp_path_factory.mktemp("any") / "home.json"
    logging.disable(logging.NOTSET)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
QUICK = settings(max_examples=300, deadline=None)


@QUICK
@given(content=st.binary())
def test_any_bytes_can_be_loaded(file: Path, content: bytes) -> None:
    """Whatever is in the file, load answers, and a round can be added."""
    file.write_bytes(content)
    state = StateFile(file)

    assert state.load() == EMPTY
    state.add(ROUND, at=AT, occasion="schedule", seconds=2)
    assert len(state.load()["rounds"]) == 1


@QUICK
@given(data=st.data())
def test_any_damage_can_be_loaded(file: Path, data: st.DataObject) -> None:
    """A value of a real file is replaced by anything, and load answers with the agreed shape."""
    good: dict[str, Any] = {
        "version": 1,
        "rounds": [
            {"at": AT.isoformat(), "occasion": "x", "seconds": 1, "verdict": "warm", "targets": []}
        ],
    }
    where = data.draw(st.sampled_from([good, good["rounds"][0]]))
    where[data.draw(st.sampled_from(sorted(where)))] = data.draw(ANYTHING)
    file.write_text(json.dumps(good))
    state = StateFile(file)

    loaded = state.load()

    assert loaded["version"] == 1
    assert state.problem or loaded["rounds"] == good["rounds"]
    state.add(ROUND, at=AT, occasion="schedule", seconds=2)


@pytest.mark.parametrize(
    "seconds",
    ["NaN", "1e999", "-1", "true", "1" + "0" * 400, "1" + "0" * 5000, '"1"', "null"],
    ids=lambda text: text[:8],
)
def test_a_time_is_a_number(seconds: str) -> None:
    """What Python's JSON lets through as a number is still checked."""
    start = f'{{"version": 1, "rounds": [{{"at": "{AT.isoformat()}", "occasion": "x", '
    end = '"verdict": "warm", "targets": []}]}'

    assert parses(f'{start}"seconds": 1.5, {end}'.encode())
    assert not parses(f'{start}"seconds": {seconds}, {end}'.encode())


@pytest.mark.parametrize(
    "content",
    [b"", b" \n", b"[" * 100_000, b"null", b"[]", b"{}", b'{"version": 1}', b'{"version": "1"}'],
)
def test_what_is_no_state_file(content: bytes) -> None:
    """Emptiness, depth and other shapes are damage."""
    assert not parses(content)


@pytest.mark.parametrize(
    "at", ["2026-11-20", "2026-11-20T14:05:00", "0001-01-01T00:00:00+23:59", "yesterday"]
)
def test_a_moment_has_a_zone(at: str) -> None:
    """A time that could mean several moments is damage."""
    entry = {"at": at, "occasion": "x", "seconds": 1, "verdict": "warm", "targets": []}

    assert not parses(json.dumps({"version": 1, "rounds": [entry]}).encode())
