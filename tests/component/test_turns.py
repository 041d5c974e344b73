"""What a turn cost, and whose doing it was."""

from dataclasses import replace
import json
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.ollama.counts import Counts
from custom_components.ollama_warm.prefix.tool_union import WireTool
from custom_components.ollama_warm.turns.turns import FEW_TOKENS, Reason, Turn, Verdict, Wire, judge

TOOL = {"type": "function", "function": {"name": "intent__HassTurnOn", "parameters": {}}}
SYSTEM = "You are the voice of a house.\n" + "\n".join(
    f"- names: Light {number}\n  domain: light" for number in range(400)
)


def sent(*messages: str, system: str = SYSTEM, tools: tuple[WireTool, ...] = (TOOL,)) -> Wire:
    """Return the text of a turn that was sent to the green node."""
    return Wire(system, tools, messages, "green")


WIRE = sent("Is it late?")
LAST = sent("Turn on the light.")
# English prose and entity lists lie between three and four characters per token.
PROMPT = WIRE.length() // 4


def counts(cached: int | None, **more: Any) -> Counts:  # noqa: ANN401 (as Counts has them)
    """Return the counts of a turn with this many cached tokens."""
    values: dict[str, Any] = {
        "prompt_tokens": PROMPT,
        "cached_tokens": cached,
        "prefill_s": 0.25,
        "load_s": 0.002,
        "total_s": 1.5,
        "answer_tokens": 12,
        "node": "green",
    }
    return Counts(**values | more)


def re_read(tokens: int, **more: Any) -> Counts:  # noqa: ANN401 (as Counts has them)
    """Return the counts of a turn that re-read this many tokens."""
    return counts(PROMPT - tokens, **more)


WARM = (Verdict.WARM, Reason.NOTHING, "")
LOST = Verdict.SERVER_LOST_IT
CHANGED = Verdict.PROMPT_CHANGED
NO_COUNT = (Verdict.UNKNOWN, Reason.NO_COUNT, "")
FIRST = (CHANGED, Reason.FIRST_PROMPT, "")
OTHER_SYSTEM = replace(LAST, system=SYSTEM.replace("Light 7\n", f"Lamp {'m' * 200}\n"))
OTHER_TOOL = replace(LAST, tools=(TOOL, {"function": {"name": "script__party"}}))
CASES: dict[str, tuple[Counts, Wire | None, tuple[Verdict, Reason, str]]] = {
    "warm": (re_read(20), LAST, WARM),
    "nothing read": (re_read(0), LAST, WARM),
    "first prompt": (counts(0), None, FIRST),
    "first prompt, though something was cached": (re_read(20), None, FIRST),
    "segment changed": (
        counts(20),
        OTHER_SYSTEM,
        (CHANGED, Reason.SEGMENT_CHANGED, f"- names: Lamp {'m' * 106}"),
    ),
    "segment and tool changed": (
        counts(20),
        replace(OTHER_TOOL, system=f"Hello\n{SYSTEM}"),
        (CHANGED, Reason.SEGMENT_CHANGED, "Hello"),
    ),
    "tool changed": (counts(20), OTHER_TOOL, (CHANGED, Reason.TOOL_CHANGED, "script__party")),
    "model loaded": (counts(0, load_s=3.0), LAST, (LOST, Reason.MODEL_LOADED, "")),
    "model loaded by another node": (
        counts(0, load_s=3.0, node="blue"),
        LAST,
        (LOST, Reason.MODEL_LOADED, ""),
    ),
    "slow, but loaded": (re_read(900, load_s=3.0), LAST, (LOST, Reason.CHECKPOINT, "")),
    "other node": (counts(0, node="blue"), LAST, (LOST, Reason.OTHER_NODE, "")),
    "no node any longer": (counts(0, node=None), LAST, (LOST, Reason.OTHER_NODE, "")),
    "node not known before": (counts(0), replace(LAST, node=None), (LOST, Reason.EVICTED, "")),
    "512 behind": (re_read(512 + 12), LAST, (LOST, Reason.CHECKPOINT, "")),
    "1024 behind": (re_read(1024 + 30), LAST, (LOST, Reason.CHECKPOINT, "")),
    "1024 behind, after a longer one": (re_read(1024 - 90), LAST, (LOST, Reason.CHECKPOINT, "")),
    "2048 behind": (re_read(2048 + 200), LAST, (LOST, Reason.CHECKPOINT, "")),
    "between batches": (re_read(1400), LAST, (LOST, Reason.EVICTED, "")),
    "evicted": (counts(0), LAST, (LOST, Reason.EVICTED, "")),
    "evicted, load time not reported": (counts(0, load_s=None), LAST, (LOST, Reason.EVICTED, "")),
    "all of a batch's size": (
        counts(0, prompt_tokens=1024),
        LAST,
        (LOST, Reason.EVICTED, ""),
    ),
    "no cached count": (counts(None), LAST, NO_COUNT),
    "no cached count, first prompt": (counts(None), None, NO_COUNT),
    "no prompt count": (counts(7, prompt_tokens=None), LAST, NO_COUNT),
}


@pytest.mark.parametrize(("counted", "last", "expected"), CASES.values(), ids=CASES)
def test_verdicts(
    counted: Counts, last: Wire | None, expected: tuple[Verdict, Reason, str]
) -> None:
    """Each turn gets the verdict and the reason that its counts and the last turn allow."""
    turn = judge(counted, WIRE, last)
    assert (turn.verdict, turn.reason, turn.detail) == expected
    assert len(turn.detail) <= 120


@pytest.mark.parametrize(
    ("counted", "reason"),
    [
        (counts(0), Reason.OTHER_OPTIONS),
        (counts(0, node="blue"), Reason.OTHER_OPTIONS),
        (counts(0, load_s=3.0), Reason.MODEL_LOADED),
        (re_read(20), Reason.NOTHING),
    ],
)
def test_other_options(counted: Counts, reason: Reason) -> None:
    """That the model is loaded with other options explains a loss, but makes none."""
    assert judge(counted, WIRE, LAST, other_options=True).reason is reason


@pytest.mark.parametrize(
    ("counted", "last", "riding", "reason"),
    [
        (re_read(20), LAST, None, None),
        (re_read(20), LAST, 0, None),
        (re_read(20), LAST, FEW_TOKENS, None),
        (re_read(20), LAST, FEW_TOKENS + 1, "rides_along: about 25 tokens"),
        (counts(0), LAST, 500, "evicted"),
        (counts(0), None, 500, "first_prompt"),
        (counts(20), OTHER_SYSTEM, 500, "segment_changed"),
        (counts(None), LAST, 500, "no_count"),
    ],
)
def test_what_rides_along(
    counted: Counts, last: Wire | None, riding: int | None, reason: str | None
) -> None:
    """More than a few tokens are the reason of a warm turn, and of none that is not."""
    turn = judge(counted, WIRE, last, riding=riding)
    assert turn.as_dict()["reason"] == reason
    assert turn.riding_tokens == riding
    assert turn.detail == "" or turn.reason is Reason.SEGMENT_CHANGED


QUESTIONS = {
    "short": "Is it late?",
    "with the app's tail": "Context:\n" + "Ask for the area if more than one fits. " * 8 + "\nHi",
    "Greek": "Άναψε το φως στην κουζίνα και στο υπνοδωμάτιο",
    "Japanese": "キッチンと寝室の照明をつけてください",
}
TOKENS = {"short": 5, "with the app's tail": 85, "Greek": 40, "Japanese": 36}


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("rendered_share", [1.0, 0.0], ids=["tools rendered", "not rendered"])
def test_what_a_question_may_cost(kind: str, rendered_share: float) -> None:
    """New words are no loss, in whatever script, and also where a template leaves the tools out.

    A batch that is read again is one.
    """
    tools = tuple({"function": {"name": f"tool {n}", "description": "x" * 300}} for n in range(60))
    wire = sent(json.dumps({"role": "user", "content": QUESTIONS[kind]}), tools=tools)
    last = sent("Another question", tools=tools)
    prompt = int((len(SYSTEM) + rendered_share * 20_000) / 4)
    tokens = TOKENS[kind] + FEW_TOKENS // 2
    counted = counts(prompt - tokens, prompt_tokens=prompt)
    assert judge(counted, wire, last).verdict is Verdict.WARM
    counted = counts(prompt - tokens - 512, prompt_tokens=prompt)
    assert judge(counted, wire, last).reason is Reason.CHECKPOINT


def test_words_that_are_denser_than_the_rest() -> None:
    """A long question may have more tokens for its length than the house's list of lights."""
    wire = sent("1 and 2 and 3 and " * 60)
    prompt = wire.length() // 3
    assert judge(counts(prompt - 500, prompt_tokens=prompt), wire, LAST).verdict is Verdict.WARM
    assert judge(counts(prompt - 600, prompt_tokens=prompt), wire, LAST).verdict is LOST


def test_a_conversation_that_goes_on() -> None:
    """What was said before is not new, unless it was cut off in front."""
    said = tuple(f"{number}: " + "word " * 400 for number in range(4))
    last = sent(*said)
    wire = sent(*said, "And now?")
    new = counts(wire.length() // 4 - 500, prompt_tokens=wire.length() // 4)
    assert judge(new, wire, last).reason is Reason.CHECKPOINT
    # Here two long messages stand where others stood.
    cut = sent(*wire.messages[2:])
    new = counts(cut.length() // 4 - 1000, prompt_tokens=cut.length() // 4)
    assert judge(new, cut, last).verdict is Verdict.WARM


def test_the_contract() -> None:
    """A turn is reported to the warmer in exactly these words."""
    assert judge(re_read(1030), WIRE, LAST).as_dict() == {
        "prompt_tokens": PROMPT,
        "cached_tokens": PROMPT - 1030,
        "re_read_tokens": 1030,
        "prefill_s": 0.25,
        "load_s": 0.002,
        "total_s": 1.5,
        "verdict": "server_lost_it",
        "reason": "checkpoint",
        "node": "green",
    }
    assert judge(counts(None), WIRE, LAST).as_dict() == {
        "prompt_tokens": PROMPT,
        "cached_tokens": None,
        "re_read_tokens": None,
        "prefill_s": 0.25,
        "load_s": 0.002,
        "total_s": 1.5,
        "verdict": "unknown",
        "reason": "no_count",
        "node": "green",
    }
    changed = judge(counts(0), WIRE, OTHER_TOOL)
    assert (changed.as_dict()["reason"], changed.detail) == ("tool_changed", "script__party")
    assert "script__party" not in repr(changed)
    assert judge(re_read(20), WIRE, LAST).as_dict()["reason"] is None


@pytest.mark.parametrize(
    ("prompt", "cached", "expected"),
    [(10, 4, 6), (10, 0, 10), (10, 10, 0), (0, 0, 0), (None, 4, None), (10, None, None)],
)
def test_re_read_tokens(prompt: int | None, cached: int | None, expected: int | None) -> None:
    """They are the difference; 0 is a count, and what is not counted is not known."""
    assert judge(counts(cached, prompt_tokens=prompt), WIRE, LAST).re_read_tokens == expected


@given(
    st.integers(0, 5000),
    st.none() | st.integers(0, 5000),
    st.sampled_from([None, LAST, OTHER_SYSTEM, OTHER_TOOL]),
    st.booleans(),
)
def test_unknown_is_never_warm(
    prompt: int,
    cached: int | None,
    last: Wire | None,
    other_options: bool,  # noqa: FBT001 (from hypothesis)
) -> None:
    """Only what was counted, was sent before, and was nearly all cached is called warm."""
    counted = counts(cached, prompt_tokens=prompt)
    turn: Turn = judge(counted, WIRE, last, other_options=other_options)
    assert (turn.verdict is Verdict.UNKNOWN) == (cached is None)
    if turn.verdict is Verdict.WARM:
        assert last is LAST
        assert turn.re_read_tokens is not None
        assert turn.re_read_tokens <= FEW_TOKENS + 10
    assert (turn.as_dict()["reason"] is None) == (turn.verdict is Verdict.WARM)
