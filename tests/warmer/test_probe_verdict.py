"""The verdict says in words what a house has to expect and to set."""

from dataclasses import replace

import pytest

from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.plan import Kind, Phase
from ollama_warmer.lab.probe.record import Record
from tests.warmer.support.probe_runs import ANYWHERE, BATCH, ONCE, PROMPT, record

NOTHING = dict.fromkeys(Kind, PROMPT)
# Shorter than a batch: an exact repeat is kept all the same.
SHORT = NOTHING | {Kind.REPEAT: 4, Kind.TURN: 20}


def words(of: Record) -> str:
    """Return the verdict as one text."""
    return " ".join(conclude(of)["verdict"])


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        (ANYWHERE, ["Truncates anywhere:", "One warm-up is enough"]),
        (BATCH, ["One batch back:", "The batch is 1,024 tokens", "shorter system text does not"]),
        (ONCE, ["Once per system prompt:", "Warm up with two different questions"]),
        (NOTHING, ["No reuse:", "longer than a batch"]),
        (SHORT, ["No reuse:", "An exact repeat is kept"]),
    ],
)
def test_what_to_set(costs: dict[Kind, int | None], said: list[str]) -> None:
    """Each group has its advice, and all of them are told to keep the model loaded."""
    text = words(record(costs))
    for sentence in [*said, "set keep_alive to -1", "the same num_ctx"]:
        assert sentence in text


def test_what_things_cost() -> None:
    """A new conversation, two users at once and an abandoned call have their counts and times."""
    costs = BATCH | {Kind.ALTERNATING: 1058}
    text = words(record(costs, changed={"retry": {"total_ms": 8510, "prefill_ms": 86}}))
    assert "A cold prompt reads 3,150 tokens in 3.15 s" in text
    assert "the first new conversation on a system text 1,025 in 1.02 s" in text
    assert "Two users at once: each turn re-reads 1,058 tokens" in text
    assert "a turn that goes on re-reads 16" in text
    assert "took 8.41 s longer than a warm call, of which reading took 86 ms" in text
    assert "longer than a cold prompt takes, 3.25 s here" in text


def test_a_retry_that_did_not_wait() -> None:
    """A wait that is none is not dressed up as one."""
    assert "took no longer than a warm call" in words(record())


def test_memory_that_does_not_show() -> None:
    """A recurrent build that costs nothing is said to be both."""
    made = record()
    made.memory = "recurrent"
    assert "Its memory is recurrent by its description" in words(made)


def test_an_incomplete_run_says_so() -> None:
    """Its verdict stands, and it can be gone on with."""
    made = record(phases=(Phase.IDENTICAL_REPEAT, Phase.NEW_QUESTION, Phase.GROWING))
    made.wanted = tuple(Phase)
    text = words(made)
    assert "not complete" in text
    assert "Two users" not in text


def test_unknown_gives_no_advice() -> None:
    """Where nothing is known, nothing is recommended."""
    (sentence,) = conclude(record(dict.fromkeys(Kind)))["verdict"]
    assert sentence.startswith("Unknown group:")


def test_answers_without_words() -> None:
    """A model that only thought is told from one that answered."""
    made = record()
    made.phases = {
        phase: [replace(one, reply_digest="e3b0c44298fc", reply_chars=0) for one in taken]
        for phase, taken in made.phases.items()
    }
    assert "All answers were empty" in words(made)


@pytest.mark.parametrize("role", ["identical", "exact-2", "branch-1-again"])
def test_a_repeat_with_another_answer(role: str) -> None:
    """At temperature 0 the same request has the same answer, or the cache changed it."""
    made = record(changed={role: {"reply_digest": "ba9876543210"}})
    assert f"{role} got another answer" in words(made)
