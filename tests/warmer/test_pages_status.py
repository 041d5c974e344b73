"""The page of the status: what was seen, when it was seen, and never more than that."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from ollama_warmer.history.status import status_of
from ollama_warmer.history.status_report import as_object
from ollama_warmer.pages import write_status_page
from ollama_warmer.pages.status import status_page
from tests.warmer.support.pages import NOW, Json, Page, sample


def read(state: Json, now: datetime = NOW) -> str:
    """Return what can be read on a state's page."""
    return " ".join(Page(status_page(state, now)).text.split())


def test_each_target_as_it_was_last_seen() -> None:
    """The verdict, the reason, the age; and a figure over its rounds."""
    words = read(sample("status"))
    assert "3 of 5 prompts were warm." in words
    assert "The worst of the others: unknown" in words
    assert "Last asked 2026-10-14 20:37 UTC, 24 minutes ago" in words
    assert "app warm the log of ollama.service says that the confirmation re-read 22" in words
    assert "bedroom partly warm" in words
    assert "living room unknown the log of ollama.service shows two requests" in words
    assert status_page(sample("status"), NOW).count("<svg") == 5
    assert "old" not in words.replace("cold", "")


def test_what_the_rounds_were() -> None:
    """Newest first, with what they were made for; numbers of each step under the figure."""
    words = read(sample("status"))
    assert words.index("Ollama restarted") < words.index("midnight")
    assert "Ollama restarted 4 of 5 14.5 s partly warm" in words
    assert "14 Oct 19:05 not answered unknown unknown unknown unknown failed" in words
    assert "14 Oct 20:37 confirmation 5,195 unknown unknown 420 ms unknown" in words


def test_an_old_result_is_called_old() -> None:
    """A page must not say of yesterday's proof that it holds today."""
    words = read(sample("status"), NOW + timedelta(days=2))
    assert "All of this is old" in words
    assert "not how they stand now" in words
    assert "2 days ago · old" in words


def test_the_command_decides_what_is_old_and_who_is_there() -> None:
    """Its object is believed: a target that was never asked, and one that is no target any more."""
    state = sample("status")
    shown = as_object(status_of(state, None, (), NOW), state)
    shown["targets"][0]["old"] = True
    shown["targets"].append(
        {"name": "attic", "agent": "a", "device": None, "verdict": "unknown", "old": True}
        | {"reason": "it was not asked in any round that is kept", "at": None}
    )
    shown["gone"] = ["cellar"]
    words = read(shown)
    assert "2 of these results are old" in words
    assert "attic unknown it was not asked in any round that is kept never asked" in words
    assert "The configuration has them no more: cellar." in words
    assert "3 of 6 prompts were warm." in words


@pytest.mark.parametrize("state", [{"version": 1, "rounds": []}, {"rounds": [], "targets": []}])
def test_an_empty_history_calls_nothing_warm(state: Json) -> None:
    """There is no figure and no verdict, but what to do."""
    words = read(state)
    assert "No round has been made yet Run ollama-warmer warm" in words
    assert "were warm" not in words
    assert "Last asked never" in words
    assert "<svg" not in status_page(state, NOW)


def test_times_are_those_of_the_reader() -> None:
    """In the zone in which the page is made, which is said."""
    here = NOW.astimezone(timezone(timedelta(hours=2)))
    words = read(sample("status"), here)
    assert "2026-10-14 22:37 UTC+02:00" in words
    assert "14 Oct 22:37" in words


def test_ages_are_those_of_the_command(tmp_path: Path) -> None:
    """The object says when it was made; otherwise it is the present."""
    state = sample("status")
    shown = as_object(status_of(state, None, (), NOW), state)
    write_status_page(tmp_path / "then.html", shown)
    assert "24 minutes ago" in (tmp_path / "then.html").read_text()
    write_status_page(tmp_path / "now.html", state)
    assert "24 minutes ago" not in (tmp_path / "now.html").read_text()
