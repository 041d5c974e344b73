"""Counts of a reply: what is missing or malformed is unknown, and nothing ever raises."""

from typing import Any

from hypothesis import given, strategies as st
import pytest

from ollama_warmer.counts.counts import Counts, from_reply
from tests.warmer.support.house import WARM, counts, reply


def read(block: object) -> Counts:
    """Return the counts of a reply with this block."""
    response: dict[str, Any] = reply(block)["response"]
    return from_reply(response)


def test_known() -> None:
    """Counts are taken as they are."""
    assert read(WARM) == Counts(prompt=5104, cached=5080, re_read=24, verdict="warm")


def test_zero_cached_is_a_count() -> None:
    """Nothing cached is something else than not knowing."""
    assert read(counts(5104, 0)) == Counts(prompt=5104, cached=0, re_read=5104)


def test_re_read_follows_from_the_others() -> None:
    """A missing difference is worked out."""
    turn = {"prompt_tokens": 10, "cached_tokens": 4}
    assert read({"version": 1, "turns": [turn]}).re_read == 6


def test_first_turn_counts() -> None:
    """Later calls of the model find what the first one has read."""
    block = {"version": 1, "turns": [counts(100, 0)["turns"][0], counts(120, 100)["turns"][0]]}

    assert read(block).re_read == 100


def test_more_keys_do_not_matter() -> None:
    """A later agent may say more without breaking an older warmer."""
    assert read(counts(10, 9, tail_tokens=3, prefill_s=0.1) | {"server": "x"}).re_read == 1


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (5, "malformed: they are not an object"),
        ({}, "have version None and this warmer reads version 1"),
        ({"version": True, "turns": []}, "have version True"),
        ({"version": "1", "turns": []}, "have version 1 and"),
        ({"version": 1}, "malformed: turns is not a list"),
        ({"version": 1, "turns": {}}, "malformed: turns is not a list"),
        ({"version": 1, "turns": []}, "the agent answered without calling the model"),
        ({"version": 1, "turns": [7]}, "malformed: a turn is not an object"),
        ({"version": 1, "turns": [{}]}, "did not report how many prompt tokens"),
        (counts(10, None), "did not report how many cached tokens"),
        (counts(10, -1), "malformed: cached_tokens is -1"),
        (counts(10, 11, 1), "malformed: 10 prompt, 11 cached and 1 re-read"),
        (counts(10, 5, 4), "malformed: 10 prompt, 5 cached and 4 re-read"),
        (counts(10, cached=True, re_read=9), "malformed: cached_tokens is True"),
        (counts(10, 5.5, 4), "malformed: cached_tokens is 5.5"),  # type: ignore[arg-type]
        (counts("10", 5, 5), "malformed: prompt_tokens is 10"),  # type: ignore[arg-type]
        (counts(10, 5, verdict=1), "malformed: verdict is not text"),
        (counts(10, 5, reason=["x"]), "malformed: reason is not text"),
    ],
)
def test_unknown(block: object, reason: str) -> None:
    """What cannot be read is unknown, with the reason."""
    read_counts = read(block)

    assert reason in (read_counts.reason or "")
    assert read_counts.re_read is None


@pytest.mark.parametrize(
    "response",
    [{}, {"speech": None}, {"speech": []}, {"speech": {"plain": {"extra_data": "text"}}}],
)
def test_no_counts(response: dict[str, object]) -> None:
    """Another agent's answers carry none."""
    reason = from_reply(response).reason or ""

    assert reason.startswith("the agent's answer carries no token counts: name the model server's")
    assert from_reply(response) == Counts(reason=reason)


def test_reason_cannot_write_on_the_terminal() -> None:
    """An agent's words come without control characters and with an end."""
    reason = read(counts(10, 5, reason="\x1b[2Jcleared\n" + "x" * 1000)).reason or ""

    assert reason.startswith(" [2Jcleared x")
    assert len(reason) == 300
    assert reason.endswith("…")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(JSON, JSON, JSON, JSON)
def test_nothing_raises(prompt: object, cached: object, re_read: object, block: object) -> None:
    """Whatever an agent sends, there are counts or a reason, and never half of both."""
    turn = {"prompt_tokens": prompt, "cached_tokens": cached, "re_read_tokens": re_read}
    for found in (read({"version": 1, "turns": [turn]}), read(block)):
        if found.re_read is None:
            assert found.reason
        else:
            assert found.prompt is not None
            assert found.cached is not None
            assert found.re_read == found.prompt - found.cached >= 0
