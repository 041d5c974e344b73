"""The page of the bench: ours against core's, and every promise that was not kept."""

from pathlib import Path

from tests.rig.bench.page import write_bench_page
from tests.warmer.support.pages import Json, Page, page, sample


def read(bench: Json) -> str:
    """Return what can be read on a bench's page."""
    return " ".join(Page(page("bench", bench)).text.split())


def test_ours_against_core() -> None:
    """The worst question of both agents, for each kind of memory and path."""
    words = read(sample("bench"))
    assert "45 of 45 promised rows were reached." in words
    assert page("bench").count("<svg") == 3
    assert "Six rooms, one warm-up 6,389 → 54" in words
    assert "Six rooms, one warm-up 5,441 to 6,389 42 to 54" in words
    assert "Home Assistant 2026.11.0" in words


def test_a_promise_that_was_not_kept_is_named() -> None:
    """In the first place, and in its row."""
    bench = sample("bench")
    row = next(one for one in bench["rows"] if one["agent"] == "ollama_warm")
    row["missed"] = ["re-read 70 > 64"]
    words = read(bench)
    assert "44 of 45 promised rows were reached." in words
    assert "Six rooms, one warm-up, attention, native: re-read 70 > 64" in words


def test_other_ways_to_warm_stand_beside() -> None:
    """Several slots and a warm-up by chat are rows of their own."""
    words = read(sample("bench"))
    assert "Six rooms, one warm-up, by chat 1,007" in words
    assert "Straight after the wake word, 2 slots 53" in words


def test_a_row_without_questions_is_not_measured() -> None:
    """A scenario that failed has no counts; one that is new to the page keeps its name."""
    row = {"scenario": "a_new_one", "agent": "core", "memory": "attention", "path": "native"}
    bench = {"rows": [{**row, "re_read": [], "prompt": [None], "failures": ["no one answered"]}]}
    words = read(bench)
    assert "a new one not measured" in words
    assert "no one answered" in words
    assert "unknown" in words
    assert "Nothing that is promised was measured." in words


def test_nothing_at_all_is_a_page_too() -> None:
    """A bench that was ended at once."""
    assert "Nothing that is promised was measured." in read({"rows": [], "versions": {}})


def test_it_is_written(tmp_path: Path) -> None:
    """As the pages of the warmer are."""
    write_bench_page(tmp_path / "bench.html", sample("bench"))
    assert (tmp_path / "bench.html").read_text().startswith("<!DOCTYPE html>")
