"""Formats of logs: one file each, found by themselves, and no two of them claim a line."""

from collections.abc import Iterator
from pathlib import Path
import sys

import pytest

from ollama_warmer.counts import formats
from ollama_warmer.counts.lines import Window, progress
from ollama_warmer.counts.loads import loaded, start
from ollama_warmer.counts.register import all_formats
from ollama_warmer.counts.requests import Requests
from ollama_warmer.counts.wrapping import Unwrapping
from ollama_warmer.doctor.load_lines import LoadLog
from ollama_warmer.ollama.facts import Runner

FIXTURES = Path(__file__).parent / "fixtures"
ADDED = r"""
import re

from ollama_warmer.counts.register import LogFormat, starting
from ollama_warmer.counts.requests import Requests, WholeLine
from ollama_warmer.ollama.facts import Runner

_REQUEST = WholeLine("engine: done", prompt="all", cached="kept", re_read="new")


class Added(LogFormat):
    runner = Runner.GO
    starting = starting("engine")
    loaded = re.compile("engine: ready")

    def take(self, line: str, found: Requests) -> bool:
        return _REQUEST.take(line, found, self.runner)

    def progress(self, line: str) -> float | None:
        return 0.5 if "engine: half" in line else None
"""
LOG = (
    'time=2026-09-01T10:00:00.000Z level=INFO msg="starting engine" cmd="/engine --model /m.gguf"',
    "engine: ready",
    "engine: half",
    "engine: done all=3000 kept=2990 new=10",
)


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a file of a format that no one knows into the folder of formats."""
    (tmp_path / "added.py").write_text(ADDED)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    all_formats.cache_clear()
    yield
    all_formats.cache_clear()
    sys.modules.pop(f"{formats.__name__}.added", None)


@pytest.mark.usefixtures("added")
def test_a_new_format_is_one_file() -> None:
    """Its counts, its loads and its progress are known, to rounds and to the doctor."""
    window, doctor = Window(), LoadLog()
    for line in LOG:
        window.feed(line)
        doctor.feed(line)
    assert (window.starts, [load.model for load in doctor.loads]) == (1, ["m.gguf"])
    window = Window()
    window.feed(LOG[-1])
    counts = window.counts()
    assert counts.as_object() == {"prompt": 3000, "cached": 2990, "re_read": 10}
    assert counts.facts.runner is Runner.GO
    assert progress(LOG[2]) == 0.5


def test_without_the_file_it_is_not_known() -> None:
    """So that the test above proves what it says."""
    window = Window()
    for line in LOG:
        window.feed(line)
    assert (window.empty, window.starts, progress(LOG[2])) == (True, 0, None)


@pytest.mark.parametrize("path", sorted(FIXTURES.rglob("*.log")), ids=lambda path: path.name)
def test_no_line_belongs_to_two_formats(path: Path) -> None:
    """So that the order of files says nothing."""
    unwrapping = Unwrapping()
    for wrapped in path.read_text(errors="replace").splitlines():
        for line in unwrapping.lines(wrapped):
            taken = [it for it in all_formats() if it.take(line, Requests())]
            begun = [it for it in all_formats() if it.start(line)]
            assert len(taken) <= 1, line
            assert len(begun) <= 1, line
            assert not taken or not (start(line) or loaded(line)), line
