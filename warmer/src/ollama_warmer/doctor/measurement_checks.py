"""Looks at what answers cost: do counts arrive, does the prompt fit, and does it stay the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ollama_warmer.doctor.findings import MEASUREMENT, Finding, many, span, tokens
from ollama_warmer.doctor.measurement import Measurement, Size
from ollama_warmer.ollama.facts import Memory, PromptPath
from ollama_warmer.round.rounds import TargetResult
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.words import printable

# Ollama drops messages and cuts prompts without a word, and answers have to fit, too.
_FULL = 0.9
# Ollama and llama.cpp keep a few tokens of the window for themselves.
_CUT = 8
# Some versions cut a prompt to about half of the window.
_HALF = (0.45, 0.55)
# What a question and the marks around it add to the batch that is read again with it.
_BESIDE_A_BATCH = 64
_TWO = 2
# Where the log does not say: what Ollama 0.30 and newer take by window and free memory.
_BATCHES = (512, 1024, 2048)
_NOT_MEASURED = "not measured, as --measure was not given"
_ASK = "Run `ollama-warmer doctor --measure`, which asks each agent two harmless questions"


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of the model and its window when an answer is judged.

    Attributes:
        memory: How the model remembers; none if it is not known.
        path: Who makes the prompt; none if it is not known.
        batch: How many tokens are read at once; none if it is not known.
        window: The agent's window in tokens; none if it is not known.
        log_trouble: Whether the log that should give counts cannot be read.
        ours: The agents of our own integration.
    """

    memory: Memory | None = None
    path: PromptPath | None = None
    batch: int | None = None
    window: int | None = None
    log_trouble: bool = False
    ours: frozenset[str] = frozenset()


def check_measured(measurement: Measurement | None) -> Finding:
    """Say whether anybody was asked, and answered."""
    if measurement is None:
        return MEASUREMENT.unknown(
            "measurement",
            f"{_NOT_MEASURED}: whether counts arrive and whether the prompt stays the same",
            _ASK,
        )
    if measurement.trouble is not None:
        return MEASUREMENT.trouble("measurement", f"nobody could be asked: {measurement.trouble}")
    failed = [it for it in measurement.results if it.verdict is Verdict.FAILED]
    if failed:
        reasons = "; ".join(f"{printable(it.target.agent)}: {it.reason}" for it in failed)
        return MEASUREMENT.trouble("measurement", f"not every agent answered: {reasons}")
    return MEASUREMENT.ok(
        "measurement",
        f"{many(len(measurement.results), 'agent')} answered two questions, "
        f"{span(measurement.paused)} apart",
    )


def check_counts(measurement: Measurement, known: Known) -> Iterator[Finding]:
    """Yield whether the counts arrive without which no prompt is ever called warm."""
    answered = _answered(measurement)
    missing = [it for it in answered if it.steps[-1].counts.re_read is None]
    if missing:
        reason = missing[0].steps[-1].counts.reason or "nobody says why"
        words = f"the answers of {_agents(missing)} come without token counts: {reason}"
        if known.log_trouble:
            yield MEASUREMENT.unknown("counts", words, "Make the log readable first")
        else:
            yield MEASUREMENT.problem(
                "counts",
                words,
                "Name the model server's log under [counts], or use Ollama 0.33.3 or newer with "
                "the agent Ollama Warm; without counts every verdict is unknown",
            )
    elif answered:
        where = answered[0].steps[-1].counts.source or "the agent's answer"
        yield MEASUREMENT.ok("counts", f"token counts arrive, from {where}")


def check_window(
    size: Size | None,
    window: int | None,
    overflows: Sequence[str],
    *,
    fits: bool,
    measured: bool = True,
) -> Finding:
    """Say whether the prompt fits into the agent's window.

    Args:
        size: How long the prompt is, if that is known.
        window: The agent's window in tokens, if that is known.
        overflows: What the log says of prompts that did not fit.
        fits: What `fits_window` says.
        measured: Whether agents were to be asked.
    """
    bigger = (
        "Raise num_ctx in the agent's options (and in the configuration), or expose fewer entities"
    )
    if size is None or window is None:
        if overflows and size is None:
            return MEASUREMENT.problem("window", "; ".join(overflows), bigger)
        return _unknown_window(size, measured=measured)
    when = f" in the round of {size.since:%Y-%m-%d %H:%M}" if size.since else ""
    words = f"the prompt had {tokens(size.tokens)} of {tokens(window)} tokens{when}"
    if not fits:
        return MEASUREMENT.problem(
            "window", f"{words} and is cut: it does not fit, and is never warm", bigger
        )
    if size.tokens > _FULL * window:
        return MEASUREMENT.advice("window", f"{words}: it will not fit much longer", bigger)
    return MEASUREMENT.ok("window", words)


def _unknown_window(size: Size | None, *, measured: bool) -> Finding:
    """Say what is missing to know whether the prompt fits: its own size, or the window's."""
    if size is None and not measured:
        return MEASUREMENT.unknown(
            "window", f"{_NOT_MEASURED}: whether the prompt fits its window", _ASK
        )
    if size is None:
        return MEASUREMENT.unknown(
            "window", "whether the prompt fits its window: nobody counted its tokens"
        )
    return MEASUREMENT.unknown(
        "window",
        f"whether the prompt of {tokens(size.tokens)} tokens fits its window: how large that is is "
        "not known",
        "Write num_ctx into the table [ollama] of the configuration, as the agent has it",
    )


def fits_window(measurement: Measurement | None, size: Size | None, window: int | None) -> bool:
    """Whether the prompt was not cut, as far as it is known.

    A prompt that is cut to a part of the window has the same length whatever is asked.
    """
    if size is None or window is None:
        return True
    answered = _answered(measurement or Measurement())
    counted = [
        [step.counts.prompt for step in result.steps if step.counts.prompt is not None]
        for result in answered
        if result.verdict is not Verdict.WARM
    ]
    same = any(len(each) > 1 and all(a == b for a, b in pairwise(each)) for each in counted)
    low, high = (share * window for share in _HALF)
    cut = any(step.counts.facts.cut for result in answered for step in result.steps)
    return not cut and size.tokens < window - _CUT and not (same and low < size.tokens < high)


def check_moving(measurement: Measurement, known: Known, *, fits: bool) -> Iterator[Finding]:
    """Yield whether something in the prompt changes from question to question."""
    counted = _counted(measurement)
    if not counted:
        return
    if not fits:
        yield MEASUREMENT.unknown(
            "clock", "whether the prompt stays the same cannot be told while it does not fit"
        )
        return
    moving = [it for it in counted if it.verdict not in {Verdict.WARM, Verdict.UNKNOWN}]
    disturbed = [it for it in moving if _was_disturbed(it)]
    batches = [it for it in moving if it not in disturbed and _is_a_batch(it, known)]
    if clear := [it for it in moving if it not in disturbed and it not in batches]:
        yield MEASUREMENT.problem(
            "clock",
            f"{_agents(clear)} read a prompt again {span(measurement.paused)} after it was read "
            f"({_cost(clear[0])}): most likely a clock or a measured value stands in it",
            "Take times and values out of the prompt and let the model ask for them with a tool, "
            "or use the agent Ollama Warm, which sends them behind what stays the same",
        )
    elif disturbed:
        yield MEASUREMENT.unknown(
            "clock",
            "whether the prompt stays the same: somebody else asked in between, or had the model "
            "loaded anew",
            "Measure again when nobody else asks",
        )
    elif batches:
        yield MEASUREMENT.unknown(
            "clock",
            "a batch is read again each time, so that a clock near the prompt's end would not show",
        )
    elif all(it.verdict is Verdict.WARM for it in counted):
        yield MEASUREMENT.ok("clock", f"the prompt was the same {span(measurement.paused)} later")
    else:
        yield MEASUREMENT.unknown(
            "clock", f"whether the prompt stays the same: {counted[0].reason}"
        )


def check_new_conversation(
    measurement: Measurement | None, known: Known, agents: frozenset[str], *, fits: bool
) -> Iterator[Finding]:
    """Yield what the first question of a conversation costs on a warm prompt.

    On the rendered path nothing tells llama-server where the user's message begins, so that a
    recurrent model has its last checkpoint one batch before the end (ollama PR 18271, open in
    September 2026).
    """
    counted = _counted(measurement or Measurement())
    if batches := [it for it in counted if fits and _is_a_batch(it, known)]:
        yield MEASUREMENT.advice(
            "new_conversation",
            f"a new conversation re-reads one batch on a warm prompt ({_cost(batches[0])})",
            "Use the agent Ollama Warm, whose warm-up leaves a checkpoint at the end of what stays "
            "the same, or a model whose prompt takes the native path",
        )
    elif counted and all(it.verdict is Verdict.WARM for it in counted):
        branched = " the second time, as on MLX" if len(counted[0].steps) > _TWO else ""
        yield MEASUREMENT.ok(
            "new_conversation",
            f"a new conversation finds a warm prompt{branched} ({_cost(counted[0])})",
        )
    elif counted:
        return
    elif _expects_a_batch(known) and not agents <= known.ours:
        yield MEASUREMENT.advice(
            "new_conversation",
            "a new conversation most likely re-reads one batch on a warm prompt, as this model can "
            "only go back to checkpoints and Ollama makes its prompt",
            f"{_ASK}, or use the agent Ollama Warm",
        )
    elif measurement is None:
        yield MEASUREMENT.unknown(
            "new_conversation",
            f"{_NOT_MEASURED}: what a new conversation costs on a warm prompt",
            _ASK,
        )
    else:
        yield MEASUREMENT.unknown(
            "new_conversation", "what a new conversation costs on a warm prompt is not known"
        )


def _expects_a_batch(known: Known) -> bool:
    return known.memory is Memory.RECURRENT and known.path is PromptPath.RENDERED


def _was_disturbed(result: TargetResult) -> bool:
    """Whether the log shows that somebody came in between a question and its confirmation."""
    return any(step.counts.facts.loads or step.counts.facts.others for step in result.steps[1:])


def _is_a_batch(result: TargetResult, known: Known) -> bool:
    """Whether a model that needs checkpoints read one batch again, and a question beside it."""
    re_read = result.steps[-1].counts.re_read
    if known.memory is Memory.ATTENTION or re_read is None or result.verdict is Verdict.WARM:
        return False
    batches = (known.batch,) if known.batch else _BATCHES
    return any(0 <= re_read + _BESIDE_A_BATCH - it <= 2 * _BESIDE_A_BATCH for it in batches)


def _answered(measurement: Measurement) -> list[TargetResult]:
    return [it for it in measurement.results if it.steps and it.verdict is not Verdict.FAILED]


def _counted(measurement: Measurement) -> list[TargetResult]:
    return [it for it in _answered(measurement) if it.steps[-1].counts.re_read is not None]


def _agents(results: Sequence[TargetResult]) -> str:
    return ", ".join(printable(it.target.agent) for it in results)


def _cost(result: TargetResult) -> str:
    counts = result.steps[-1].counts
    return f"{tokens(counts.re_read or 0)} of {tokens(counts.prompt or 0)} tokens re-read"
