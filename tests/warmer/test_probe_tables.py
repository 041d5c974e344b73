"""The seven tables are made of a run's counts, and unknown stays unknown."""

from typing import Any

from rich.console import Console

from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.plan import SWEEP_CALLS, Kind
from ollama_warmer.lab.probe.record import Record, Taken
from ollama_warmer.lab.probe.report import print_run
from tests.warmer.support.probe_runs import BATCH, ONCE, PROMPT, record


def rows(name: str, of: Record) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    found: list[dict[str, Any]] = conclude(of)["tables"][name]["rows"]
    return found


def test_t1_counts_fifteen_new_conversations() -> None:
    """Three first ones and twelve later ones, beside three cold requests."""
    found = rows("T1", record(ONCE))
    assert [(row["conversation"], row["calls"], row["reRead"]) for row in found] == [
        ("cold", 3, [3150, 3150]),
        ("first new", 3, [3174, 3174]),
        ("later new", 12, [7, 7]),
    ]
    assert found[1]["cached"] == [4, 4]
    assert found[1]["prefillMs"] == [3174, 3174]


def test_t2_has_a_row_for_each_pattern() -> None:
    """Exact repeat, two turns, after another prompt, retry."""
    found = {row["call"]: row for row in rows("T2", record(BATCH))}
    assert found["exact repeat"]["cached"] == PROMPT - 1
    assert (found["turn 2"]["reRead"], found["turn 3"]["reRead"]) == (16, 16)
    assert found["after another prompt"]["reRead"] == 1024
    assert found["retry"]["totalMs"] == 101


def test_t3_shows_both_arms() -> None:
    """The arm with an exact repeat has one call more."""
    found = [(row["call"], row["reRead"]) for row in rows("T3", record(BATCH))]
    assert found[:2] == [("delta-cold", 3150), ("delta-fresh-1", 1025)]
    assert found[4:7] == [("echo-cold", 3150), ("echo-exact", 1), ("echo-fresh-1", 1025)]
    assert len(found) == 9


def test_t4_has_each_call() -> None:
    """Six alternating calls, four branches."""
    changed = {"b-turn-2": {"cached": PROMPT + 30 - 1080}}
    two, branches = rows("T4", record(changed=changed))
    assert (two["reRead"], two["each"]) == ([7, 1080], [7, 7, 7, 1080, 7, 7])
    assert (branches["reRead"], len(branches["each"])) == ([7, 7], 4)


def test_t5_is_the_wait_of_the_retry() -> None:
    """The wait is the retry's whole time less an exact repeat's: prefill does not show it."""
    (row,) = rows("T5", record(changed={"retry": {"total_ms": 35_910, "prefill_ms": 163}}))
    assert row["abandoned"] is True
    assert (row["prefillMs"], row["waitMs"]) == (163, 35_910 - 101)


def test_t5_without_an_abandoned_call() -> None:
    """A call that was answered before it was given up tells of no wait."""
    answered = {"aborted": {"prompt": PROMPT, "cached": 0, "total_ms": 200}}
    (row,) = rows("T5", record(changed=answered))
    assert (row["abandoned"], row["waitMs"]) == (False, None)


def test_t6_has_a_row_for_each_length() -> None:
    """A length that does not fit into the window has no counts."""
    made = record()
    made.lengths = (100, 600)
    for length, prompt in ((100, 1009), (600, 8190)):
        made.sweep[length] = [
            Taken(call=call, prompt=prompt, cached=0, prefill_ms=prompt, total_ms=1, passed=True)
            for call in SWEEP_CALLS
        ]
    short, long = rows("T6", made)
    assert (short["entries"], short["reRead"], short["coldPrefillMs"]) == (100, 1009, 1009)
    assert long == {
        "entries": 600,
        "fits": False,
        **dict.fromkeys(("prompt", "cached", "reRead", "prefillMs", "laterReRead")),
        "coldPrefillMs": None,
    }


def test_t7_names_kind_and_group() -> None:
    """Memory and runner as they were told, the group as it was counted."""
    assert rows("T7", record(BATCH)) == [
        {
            "memory": "attention-only",
            "runner": "llama-server",
            "group": "one batch back",
            "batch": 1024,
        }
    ]


def test_unknown_counts_make_unknown_ranges() -> None:
    """One missing count makes its range unknown; none of them is 0."""
    found = rows("T1", record(changed={"seed": {"cached": None}}))
    assert found[2]["reRead"] is None
    assert found[2]["prefillMs"] == [7, 7]
    assert rows("T4", record(dict.fromkeys(Kind)))[0]["each"] == [None] * 6


def test_disturbed_run_has_no_tables() -> None:
    """Nothing of it is counted."""
    made = record()
    made.disturbed.append("someone else uses the server")
    run = conclude(made)
    assert run["tables"] is None
    assert (run["group"], run["batch"]) == ("unknown", None)


def test_tables_are_printed() -> None:
    """People see headings, ranges and times in words, and unknown as a word."""
    console = Console(width=120)
    with console.capture() as printed:
        print_run(conclude(record(changed={"seed": {"cached": None}})), console)
    text = printed.get()
    for words in ("T1 What a new conversation costs", "re-read", "unknown", "3.15 s", "T7"):
        assert words in text
    assert "T6" not in text
