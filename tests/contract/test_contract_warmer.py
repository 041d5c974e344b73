"""The warmer reads what the contract's example shows, field for field."""

from typing import Any

import pytest

from ollama_warmer.counts.counts import VERSION, Counts, from_reply
from ollama_warmer.round.asking import CONVERSATION

from .example import BLOCK_FIELDS, EXAMPLE, TURN_FIELDS

COUNTED, UNKNOWN = EXAMPLE["turns"]


def read(*turns: dict[str, Any]) -> Counts:
    """Return what the warmer takes from a reply with these turns."""
    block = {**EXAMPLE, "turns": list(turns)}
    return from_reply({"speech": {"plain": {"extra_data": {"ollama_warm": block}}}})


def test_the_block() -> None:
    """The version that is read is the one that is written, and so is the conversation's name."""
    assert list(EXAMPLE) == BLOCK_FIELDS
    assert EXAMPLE["version"] == VERSION
    assert CONVERSATION == "ollama_warm."


def test_the_first_turn_counts() -> None:
    """Counts, verdict and reason are taken as they are sent."""
    assert read(COUNTED, UNKNOWN) == Counts(prompt=9312, cached=9264, re_read=48, verdict="warm")


def test_a_missing_count_is_unknown() -> None:
    """Null is no 0, and the agent's reason is passed on."""
    counts = read(UNKNOWN)
    assert (counts.prompt, counts.cached, counts.re_read) == (9401, None, None)
    assert counts.verdict == "unknown"
    assert str(counts.reason).endswith("no_count")


@pytest.mark.parametrize("turn", EXAMPLE["turns"])
def test_each_field_is_in_the_example(turn: dict[str, Any]) -> None:
    """What the page names is there, and what is there is named."""
    assert sorted(turn) == sorted(TURN_FIELDS)
