"""The plan is the published one: 39 calls in nine phases, in this order."""

from itertools import pairwise

import pytest

from ollama_warmer.lab.probe.plan import (
    NEEDS,
    PLAN,
    SWEEP_CALLS,
    Call,
    Kind,
    Phase,
    calls_of,
    with_needed,
)
from ollama_warmer.lab.probe.prompts import SystemSource
from ollama_warmer.lab.probe.runner import conversation

ROLES = """
identical-repeat: cold identical
new-question: new-question
growing-conversation: turn-1 turn-2 turn-3
interleaved: other back-to-a
retry-after-abort: aborted retry
ordering: seed exact after-exact after-question after-question-2 exact-2 after-exact-2 extend-base
ordering: extend after-extend
first-divergence: delta-cold delta-fresh-1 delta-fresh-2 delta-fresh-3
first-divergence: echo-cold echo-exact echo-fresh-1 echo-fresh-2 echo-fresh-3
interleaved-conversations: a-turn-1 b-turn-1 a-turn-2 b-turn-2 a-turn-3 b-turn-3
second-branch: branch-1 branch-2 branch-1-again branch-3
"""
TERMS = (
    *(7, 7, 9, 12, 15, 18, 7, 7, 7, 7, 20, 20, 21, 22, 23, 23, 24, 25, 26, 27),
    *(7, 8, 9, 10, 7, 7, 8, 9, 10, 30, 40, 311, 411, 321, 421, 50, 60, 50, 70),
)
# Numbers of the calls in the published tables.
COLD, FIRST = (1, 21, 25), (3, 22, 27)
LATER = (4, 11, 13, 14, 15, 17, 18, 20, 23, 24, 28, 29)


def test_order_of_the_calls() -> None:
    """Every call has its phase, role and term."""
    rows = [row.partition(": ") for row in ROLES.strip().split("\n")]
    expected = [(phase, role) for phase, _, roles in rows for role in roles.split()]
    assert [(call.phase, call.role) for call in PLAN] == expected
    assert len(PLAN) == 39
    terms = [int(call.question.rpartition("term")[2].split()[0].strip(".?")) for call in PLAN]
    assert terms == list(TERMS)


def test_words_of_the_questions() -> None:
    """Plain questions have one form; the others are as published."""
    special = {
        call.role: call.question
        for call in PLAN
        if call.question != f"Define {call.tag}-term{TERMS[PLAN.index(call)]}."
    }
    assert special == {
        "new-question": "Define alpha-term9 instead.",
        "turn-2": "Now define alpha-term15.",
        "turn-3": "And alpha-term18?",
        "extend": "Now define alpha-term26.",
        "a-turn-2": "Now define alpha-term311.",
        "b-turn-2": "Now define alpha-term411.",
        "a-turn-3": "Now define alpha-term321.",
        "b-turn-3": "Now define alpha-term421.",
    }


def test_tags() -> None:
    """Each unseen text is used by its own phase alone."""
    used = {phase: "".join(sorted({call.tag[0] for call in calls_of(phase)})) for phase in Phase}
    assert used == dict.fromkeys(Phase, "a") | {
        Phase.INTERLEAVED: "ab",
        Phase.RETRY: "c",
        Phase.FIRST_DIVERGENCE: "de",
    }


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [(Kind.COLD, COLD), (Kind.FIRST_NEW, FIRST), (Kind.LATER_NEW, LATER)],
)
def test_calls_of_the_first_table(kind: Kind, numbers: tuple[int, ...]) -> None:
    """The table of new conversations is made of these calls."""
    found = tuple(number for number, call in enumerate(PLAN, start=1) if call.kind is kind)
    assert found == numbers


def test_repeats_repeat_the_call_before() -> None:
    """An exact repeat sends what the call before it sent; so does the retry."""
    for before, call in pairwise(PLAN):
        if call.kind in {Kind.REPEAT, Kind.RETRY}:
            same = (call.tag, call.question, call.follows)
            assert same == (before.tag, before.question, before.follows)
    assert PLAN[7].question == PLAN[0].question


@pytest.mark.parametrize(
    ("chosen", "run"),
    [
        (Phase.FIRST_DIVERGENCE, ["first-divergence"]),
        (Phase.RETRY, ["identical-repeat", "retry-after-abort"]),
        (
            Phase.INTERLEAVED,
            ["identical-repeat", "new-question", "growing-conversation", "interleaved"],
        ),
        (
            Phase.ORDERING,
            ["identical-repeat", "new-question", "retry-after-abort", "ordering"],
        ),
        (Phase.SECOND_BRANCH, ["identical-repeat", "new-question", "second-branch"]),
    ],
)
def test_phases_bring_what_they_need(chosen: Phase, run: list[str]) -> None:
    """A phase is run after the ones that it needs, and these need no others."""
    assert list(with_needed([chosen])) == run


def test_needs_are_closed() -> None:
    """What a needed phase needs is needed, too."""
    for phase, needed in NEEDS.items():
        assert set(with_needed([phase])) == {phase, *needed}


def test_conversation_replays_answers() -> None:
    """A turn sends the whole conversation; an answer that is missing is an empty one."""
    calls = {call.role: call for call in calls_of(Phase.GROWING)}
    source = SystemSource(entries=2)
    messages = conversation(calls["turn-3"], calls, {"turn-1": "Said."}, source)
    assert [(message["role"], message["content"]) for message in messages] == [
        ("system", source.prompt("alpha")),
        ("user", "Define alpha-term12."),
        ("assistant", "Said."),
        ("user", "Now define alpha-term15."),
        ("assistant", ""),
        ("user", "And alpha-term18?"),
    ]


def test_two_conversations_do_not_mix() -> None:
    """Each of two users has a history of their own."""
    calls = {call.role: call for call in calls_of(Phase.TWO_CONVERSATIONS)}

    def asked(call: Call) -> list[str]:
        messages = conversation(call, calls, {}, SystemSource(entries=1))
        return [message["content"][-4:-1] for message in messages if message["role"] == "user"]

    assert asked(calls["a-turn-3"]) == ["m30", "311", "321"]
    assert asked(calls["b-turn-3"]) == ["m40", "411", "421"]


def test_sweep_has_three_calls() -> None:
    """A cold one, the first new conversation and a later one."""
    assert [call.kind for call in SWEEP_CALLS] == [Kind.COLD, Kind.FIRST_NEW, Kind.LATER_NEW]
