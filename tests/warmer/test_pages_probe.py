"""The page of a probe says what was counted, and nothing of a run in which something had a hand."""

import re

import pytest

from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.group import Group
from ollama_warmer.lab.probe.plan import Kind
from ollama_warmer.pages.probe_groups import group
from ollama_warmer.pages.probe_run import FIRST, LATER, Run
from tests.warmer.support.pages import Json, Page, page, sample
from tests.warmer.support.probe_runs import ANYWHERE, BATCH, record


def read(run: Json) -> str:
    """Return what can be read on a run's page."""
    return " ".join(Page(page("probe", run)).text.split())


def test_the_verdict_comes_first() -> None:
    """In words, with the group, and with the figures that the published run has."""
    words = read(sample("probe"))
    assert words.index("One batch back: the server can go on") < words.index("At a glance")
    assert "First new conversation 1,024 to 1,025 tokens re-read" in words
    assert "Later new conversations 1,024 to 1,025 tokens re-read" in words
    assert "Two people at once 1,019 to 1,080 tokens re-read at each turn" in words
    # 8.12 s for the retry, 2.63 s for an exact repeat.
    assert "A retry waits 5.49 s" in words
    assert "The group: one batch back" in words


def test_all_calls_are_there() -> None:
    """39 calls in nine phases, 15 of them new conversations; the aborted one is marked."""
    run = Run(sample("probe"))
    assert [len(calls) for _, calls in run.phases] == [2, 1, 3, 2, 2, 10, 9, 6, 4]
    assert (len(run.pick(FIRST)), len(run.pick(LATER))) == (3, 12)
    assert [call.role for call in run.calls if call.aborted] == ["aborted"]
    figures = page("probe").count("<svg")
    # Nine phases, the overview, and the lengths.
    assert figures == 11
    assert "aborted on purpose" in page("probe")


@pytest.mark.parametrize("name", [one for one in Group if one is not Group.UNKNOWN])
def test_each_group_is_explained(name: Group) -> None:
    """The names are those that the probe gives."""
    run = {**sample("probe"), "group": str(name)}
    known = group(str(name))
    assert known.title != group("unknown").title
    assert known.about in read(run)
    assert known.seen in read(run)


def test_an_unknown_count_is_no_zero() -> None:
    """A server that does not report what was cached leaves everything open."""
    run = sample("probe")
    for calls in run["summary"].values():
        for call in calls if isinstance(calls, list) else ():
            call["cached"] = None
    run |= {"tables": None, "group": "unknown", "verdict": "Unknown group."}
    words = read(run)
    assert "First new conversation unknown tokens re-read" in words
    assert "Later new conversations unknown tokens re-read" in words
    assert "cold 3,178 unknown unknown 8.93 s" in words
    assert not re.search(r"\b0 tokens|\b0 to\b", words)


def test_one_unknown_count_is_said() -> None:
    """The range of the others is told with it."""
    run = sample("probe")
    run["summary"]["new-question"][0]["cached"] = None
    assert "First new conversation 1,024 (1 unknown) tokens re-read" in read(run)


def test_a_disturbed_run_counts_nothing() -> None:
    """It says why; no verdict, no group, no figure and no table that draws on it."""
    run = sample("probe")
    run |= {"disturbed": ["another client asked the model in between", "and the window overflowed"]}
    words = read(run)
    assert "This run was disturbed: nothing of it counts another client asked" in words
    assert "and the window overflowed" in words
    assert "One batch back" not in words
    assert "The seven tables" not in words
    assert "tokens re-read" not in words
    assert "<svg" not in page("probe", run)
    assert "Recorded, and not to be counted" in words


def test_a_published_run_needs_nothing_of_ours() -> None:
    """A run file without our own keys is shown with its counts, and no verdict is made up."""
    run = sample("probe")
    for ours in ("group", "verdict", "tables", "disturbed", "memory", "runner", "sweep"):
        del run[ours]
    words = read(run)
    assert "No verdict was recorded with this run." in words
    assert "First new conversation 1,024 to 1,025" in words
    assert "The seven tables" not in words


def test_phases_that_were_left_out_are_named() -> None:
    """A selection of phases is no complete run."""
    run = sample("probe")
    del run["summary"]["retry-after-abort"]
    run["summary"]["ordering"] = []
    words = read(run)
    assert "Not measured in this run: A retry after giving up, What went before." in words
    assert "A retry waits" not in words


def test_nothing_at_all_is_a_page_too() -> None:
    """An empty object is a run of which nothing is known."""
    words = read({})
    assert "A model without a name" in words
    assert "at an unknown time" in words
    assert "No verdict was recorded" in words


def test_the_seven_tables() -> None:
    """Ranges as ranges, milliseconds as times, what is not known as unknown, and a bar a length."""
    run = sample("probe")
    run["tables"]["T6"]["rows"].append({"entries": 600, "fits": False, "prompt": None})
    run["tables"]["T5"]["rows"][0]["waitMs"] = -3
    words = read(run)
    assert "T1: What a new conversation costs" in words
    assert "cold 3 0 3,178 to 3,179 8.51 s to 9.12 s" in words
    assert "several branches 929 to 961 961, 929, 961, 961" in words
    assert "-3 ms" in words
    assert "600 no unknown" in words
    assert "600 entries" not in words
    assert "450 entries" in page("probe", run)


def test_an_answer_before_the_end_is_no_abort() -> None:
    """A model that answers within 0.4 s has counted, and no one waited for anything."""
    run = sample("probe")
    run["summary"]["retry-after-abort"][0] |= {"prompt": 3479, "cached": 0, "totalMs": 380}
    words = read(run)
    assert "aborted 3,479 0 3,479" in words
    assert "A retry waits" not in words


@pytest.mark.parametrize(("costs", "title"), [(ANYWHERE, "Truncates"), (BATCH, "One batch back")])
def test_what_the_probe_concludes_is_shown(costs: dict[Kind, int], title: str) -> None:
    """The command's own object has the shape of the sample, and every sentence is on the page."""
    run = conclude(record(costs))
    assert set(sample("probe")) - {"modelDigest"} <= set(run)
    words = read(run)
    assert f"The group: {title.lower()}" in words
    assert all(" ".join(sentence.split()) in words for sentence in run["verdict"])
