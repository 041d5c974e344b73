"""What a placement costs is told from counts, and an unknown count is never warm."""

import pytest

from ollama_warmer.lab.clock.patterns import Pattern, Sample, judge
from ollama_warmer.ollama.client import Answer

WORDS = "It is 14:03:22. What day is it?"
PROMPT = 4800


def answer(re_read: int | None, prompt: int | None = PROMPT, load_s: float = 0.01) -> Answer:
    """Return an answer for which so many tokens were re-read."""
    cached = None if prompt is None or re_read is None else prompt - re_read
    return Answer.read(
        {
            "prompt_eval_count": prompt,
            "prompt_eval_cached_count": cached,
            "prompt_eval_duration": 2_500_000_000,
            "load_duration": int(load_s * 1e9),
        },
        {},
    )


def pattern(*re_read: int | None, prompt: int | None = PROMPT) -> Pattern:
    """Return the pattern of samples that re-read so many tokens."""
    return judge([Sample(answer=answer(count, prompt)) for count in re_read], WORDS)[0]


@pytest.mark.parametrize(
    ("re_read", "expected"),
    [
        ((4800, 4791, 4792), Pattern.WHOLE),
        ((1024, 1022, 1025), Pattern.BATCH),
        ((512, 513, 512), Pattern.BATCH),
        ((2048, 2049, 2047), Pattern.BATCH),
        ((29, 29, 28), Pattern.OWN),
        ((674, 674, 675), Pattern.BEHIND),
        ((4800, 29, 29), Pattern.MIXED),
        ((29, None, 29), Pattern.UNKNOWN),
        ((None, None, None), Pattern.UNKNOWN),
        ((), Pattern.UNKNOWN),
    ],
)
def test_counts_decide(re_read: tuple[int | None, ...], expected: Pattern) -> None:
    """Every count has to agree, and every count has to be known."""
    assert pattern(*re_read) is expected


def test_unknown_prompt() -> None:
    """Without the length of the prompt nothing is known, whatever was cached."""
    assert pattern(29, 29, 29, prompt=None) is Pattern.UNKNOWN


def test_short_prompt() -> None:
    """Where the words of the time are most of the prompt, nothing is told from them."""
    assert pattern(60, 60, 60, prompt=200) is Pattern.UNKNOWN
    assert pattern(60, 60, 60, prompt=400) is Pattern.OWN


def test_a_model_that_was_loaded_anew() -> None:
    """Its cache was emptied by someone else, so it says nothing about the place of the time."""
    samples = [Sample(answer=answer(29)), Sample(answer=answer(4800, load_s=12))]

    found, words = judge(samples, WORDS)

    assert found is Pattern.UNKNOWN
    assert "reloaded" in words


def test_both_calls_of_a_tool_count() -> None:
    """The call that ends in a tool's is part of what someone waits for."""
    cheap = Sample(asked=answer(4), answer=answer(55))
    dear = Sample(asked=answer(1012), answer=answer(55))
    unknown = Sample(asked=answer(None), answer=answer(55))

    assert (cheap.re_read, dear.re_read, unknown.re_read) == (59, 1067, None)
    assert cheap.prefill_s == 5
    assert judge([cheap], WORDS)[0] is Pattern.OWN
    assert judge([unknown], WORDS)[0] is Pattern.UNKNOWN


def test_the_sentence_has_the_figures() -> None:
    """Range, prompt and seconds."""
    _, words = judge([Sample(answer=answer(count)) for count in (4791, 4800)], WORDS)

    assert words == (
        "the whole prompt is re-read each time: 4,791 to 4,800 of 4,800 tokens, 2.50 s at most"
    )
