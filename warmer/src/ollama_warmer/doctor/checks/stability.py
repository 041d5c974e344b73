"""Looks at whether the prompt stays the same, and what a new conversation costs."""

from collections.abc import Iterator

from ollama_warmer.doctor.checks.answers import ASK, NOT_MEASURED
from ollama_warmer.doctor.findings import MEASUREMENT, Finding, span, tokens
from ollama_warmer.doctor.measurement import Measurement, agents_of, counted
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Known, Seen
from ollama_warmer.ollama.facts import Memory, PromptPath
from ollama_warmer.round.rounds import TargetResult
from ollama_warmer.round.verdicts import Verdict

# What a question and the marks around it add to the batch that is read again with it.
_BESIDE_A_BATCH = 64
_TWO = 2
# Where the log does not say: what Ollama 0.30 and newer take by window and free memory.
_BATCHES = (512, 1024, 2048)


@check(Part.ANSWERS, 40)
def moving(seen: Seen) -> Iterator[Finding]:
    """Yield whether the prompt is the same the second time."""
    if seen.measurement is not None:
        yield from check_moving(seen.measurement, seen.known, fits=seen.fits)


@check(Part.ANSWERS, 60)
def new_conversation(seen: Seen) -> Iterator[Finding]:
    """Yield what a new conversation costs."""
    if seen.config is not None:
        agents = frozenset(target.agent for target in seen.config.targets)
        yield from check_new_conversation(seen.measurement, seen.known, agents, fits=seen.fits)


def check_moving(measurement: Measurement, known: Known, *, fits: bool) -> Iterator[Finding]:
    """Yield whether something in the prompt changes from question to question."""
    found = counted(measurement)
    if not found:
        return
    if not fits:
        yield MEASUREMENT.unknown(
            "clock", "whether the prompt stays the same cannot be known while it does not fit"
        )
        return
    moving = [it for it in found if it.verdict not in {Verdict.WARM, Verdict.UNKNOWN}]
    disturbed = [it for it in moving if _was_disturbed(it)]
    batches = [it for it in moving if it not in disturbed and _is_a_batch(it, known)]
    if clear := [it for it in moving if it not in disturbed and it not in batches]:
        yield MEASUREMENT.problem(
            "clock",
            f"{agents_of(clear)} read a prompt again {span(measurement.paused)} after it was read "
            f"({_cost(clear[0])}): most likely a clock or a measured value stands in it",
            "Take times and values out of the prompt and let the model ask for them with a tool, "
            "or use the agent Ollama Warm, which sends them behind what stays the same",
        )
    elif disturbed:
        yield MEASUREMENT.unknown(
            "clock",
            "whether the prompt stays the same: someone else asked in between, or had the model "
            "reloaded",
            "Measure again when no one else asks",
        )
    elif batches:
        yield MEASUREMENT.unknown(
            "clock",
            "a batch is read again each time, so that a clock near the prompt's end would not show",
        )
    elif all(it.verdict is Verdict.WARM for it in found):
        yield MEASUREMENT.ok("clock", f"the prompt was the same {span(measurement.paused)} later")
    else:
        yield MEASUREMENT.unknown("clock", f"whether the prompt stays the same: {found[0].reason}")


def check_new_conversation(
    measurement: Measurement | None, known: Known, agents: frozenset[str], *, fits: bool
) -> Iterator[Finding]:
    """Yield what the first question of a conversation costs on a warm prompt.

    On the rendered path nothing says to llama-server where the user's message begins, so that a
    recurrent model has its last checkpoint one batch before the end (ollama PR 18271, open in
    September 2026).
    """
    found = counted(measurement or Measurement())
    if batches := [it for it in found if fits and _is_a_batch(it, known)]:
        yield MEASUREMENT.advice(
            "new_conversation",
            f"a new conversation re-reads one batch on a warm prompt ({_cost(batches[0])})",
            "Use the agent Ollama Warm, whose warm-up leaves a checkpoint at the end of what stays "
            "the same, or a model whose prompt takes the native path",
        )
    elif found and all(it.verdict is Verdict.WARM for it in found):
        branched = " the second time, as on MLX" if len(found[0].steps) > _TWO else ""
        yield MEASUREMENT.ok(
            "new_conversation",
            f"a new conversation finds a warm prompt{branched} ({_cost(found[0])})",
        )
    elif found:
        return
    elif _expects_a_batch(known) and not agents <= known.ours:
        yield MEASUREMENT.advice(
            "new_conversation",
            "a new conversation most likely re-reads one batch on a warm prompt, as this model can "
            "only go back to checkpoints and Ollama makes its prompt",
            f"{ASK}, or use the agent Ollama Warm",
        )
    elif measurement is None:
        yield MEASUREMENT.unknown(
            "new_conversation",
            f"{NOT_MEASURED}: what a new conversation costs on a warm prompt",
            ASK,
        )
    else:
        yield MEASUREMENT.unknown(
            "new_conversation", "what a new conversation costs on a warm prompt is not known"
        )


def _expects_a_batch(known: Known) -> bool:
    return known.memory is Memory.RECURRENT and known.path is PromptPath.RENDERED


def _was_disturbed(result: TargetResult) -> bool:
    """Whether the log shows that someone came in between a question and its confirmation."""
    return any(step.counts.facts.loads or step.counts.facts.others for step in result.steps[1:])


def _is_a_batch(result: TargetResult, known: Known) -> bool:
    """Whether a model that needs checkpoints read one batch again, and a question beside it."""
    re_read = result.steps[-1].counts.re_read
    if known.memory is Memory.ATTENTION or re_read is None or result.verdict is Verdict.WARM:
        return False
    batches = (known.batch,) if known.batch else _BATCHES
    return any(0 <= re_read + _BESIDE_A_BATCH - it <= 2 * _BESIDE_A_BATCH for it in batches)


def _cost(result: TargetResult) -> str:
    counts = result.steps[-1].counts
    return f"{tokens(counts.re_read or 0)} of {tokens(counts.prompt or 0)} tokens re-read"
