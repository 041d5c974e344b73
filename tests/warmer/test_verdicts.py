"""Verdicts: the allowance comes from what was sent, and unknown is never warm."""

from hypothesis import given, strategies as st
import pytest

from ollama_warmer.counts.counts import Counts
from ollama_warmer.round.verdicts import SURROUNDINGS, Verdict, allowance, judge

QUESTION = "482113 minus 207351, how much is that?"
ALLOWED = len(QUESTION) + SURROUNDINGS


def verdict(
    prompt: int | None, cached: int | None, agents: str | None = None, question: str = QUESTION
) -> Verdict:
    """Return the verdict of a confirmation with these counts."""
    re_read = None if prompt is None or cached is None else prompt - cached
    counts = Counts(prompt=prompt, cached=cached, re_read=re_read, verdict=agents)
    return judge(question, counts)[0]


@pytest.mark.parametrize(
    ("prompt", "cached", "expected"),
    [
        (5104, 5104 - 12, Verdict.WARM),
        (5104, 5104 - ALLOWED, Verdict.WARM),
        (5104, 5104 - ALLOWED - 1, Verdict.PARTLY_WARM),
        (8130, 8130 - 1024, Verdict.PARTLY_WARM),
        (5104, 2552, Verdict.PARTLY_WARM),
        (5104, 2551, Verdict.COLD),
        (5104, 0, Verdict.COLD),
        (100_000, 98_976, Verdict.PARTLY_WARM),
        (60, 0, Verdict.COLD),
        (60, 40, Verdict.WARM),
        (None, None, Verdict.UNKNOWN),
        (5104, None, Verdict.UNKNOWN),
    ],
)
def test_by_counts(prompt: int | None, cached: int | None, expected: Verdict) -> None:
    """The counts alone decide when the agent has no opinion."""
    assert verdict(prompt, cached) is expected


@pytest.mark.parametrize(
    ("agents", "expected"),
    [
        (None, Verdict.WARM),
        ("warm", Verdict.WARM),
        ("prompt changed", Verdict.PARTLY_WARM),
        ("server lost it", Verdict.PARTLY_WARM),
        ("unknown", Verdict.UNKNOWN),
        ("something new", Verdict.PARTLY_WARM),
    ],
)
def test_agent_can_only_object(agents: str | None, expected: Verdict) -> None:
    """An agent's verdict takes a warm away and never gives one."""
    assert verdict(5104, 5090, agents) is expected
    assert verdict(5104, 0, agents) is Verdict.COLD
    assert verdict(5104, None, agents) is Verdict.UNKNOWN


def test_long_question_may_cost_more() -> None:
    """The allowance grows with the bytes of the question, not its characters."""
    assert allowance("é" * 100) == 200 + SURROUNDINGS
    assert verdict(5104, 5104 - 250, question="é" * 100) is Verdict.WARM


def test_reason_names_the_numbers() -> None:
    """The sentence can be checked by hand."""
    counts = Counts(
        prompt=8130, cached=7106, re_read=1024, verdict="server_lost_it", reason="one batch back"
    )

    assert judge(QUESTION, counts)[1] == (
        f"the confirmation re-read 1024 of 8130 tokens, where {ALLOWED} are allowed for its own "
        "words; the agent says server lost it: one batch back"
    )


def test_severity_runs_from_warm_to_failed() -> None:
    """The worst of several is found by it."""
    assert [verdict.severity for verdict in Verdict] == [0, 1, 2, 3, 4]
    assert max(Verdict, key=lambda it: it.severity) is Verdict.FAILED


@given(st.integers(0, 20_000), st.integers(0, 20_000), st.text(max_size=200))
def test_warm_means_little_was_read(prompt: int, re_read: int, question: str) -> None:
    """Whatever the sizes, warm is only said of what cost no more than its own words."""
    re_read = min(re_read, prompt)
    if verdict(prompt, prompt - re_read, question=question) is Verdict.WARM:
        assert re_read <= len(question.encode()) + SURROUNDINGS
        assert re_read < prompt
