"""Looks at what answers cost: do counts arrive, and does the prompt fit its window."""

from collections.abc import Iterator, Sequence

from ollama_warmer.doctor.findings import MEASUREMENT, OLLAMA, Finding, many, span, tokens
from ollama_warmer.doctor.measurement import Measurement, Size, agents_of, answered
from ollama_warmer.doctor.register import Part, check
from ollama_warmer.doctor.seen import Known, Seen
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.words import printable

# Ollama drops messages and cuts prompts without a word, and answers have to fit, too.
_FULL = 0.9
NOT_MEASURED = "not measured, as --measure was not given"
ASK = "Run `ollama-warmer doctor --measure`, which asks each agent two harmless questions"


@check(Part.ANSWERS, 10)
def asking(seen: Seen) -> Iterator[Finding]:
    """Yield whether agents were asked, and answered."""
    if seen.config is not None:
        yield check_measured(seen.measurement)


@check(Part.ANSWERS, 20)
def window(seen: Seen) -> Iterator[Finding]:
    """Yield whether the prompt fits, measured now or in the last round."""
    if seen.config is None:
        return
    if seen.size_trouble is not None:
        yield MEASUREMENT.unknown("state", f"the last rounds are not known: {seen.size_trouble}")
    yield check_window(
        seen.size,
        seen.known.window,
        seen.overflows,
        fits=seen.fits,
        measured=seen.measurement is not None,
    )


@check(Part.ANSWERS, 30)
def counts(seen: Seen) -> Iterator[Finding]:
    """Yield whether counts arrive."""
    if seen.measurement is not None:
        yield from check_counts(seen.measurement, seen.known)


@check(Part.ANSWERS, 50)
def meeting(seen: Seen) -> Iterator[Finding]:
    """Yield whether the agent that answered uses the model and the server that were looked at."""
    server, measurement = seen.server, seen.measurement
    if server is None or measurement is None or server.model not in server.models:
        return
    if measurement.answered and server.entry is None:
        yield OLLAMA.problem(
            "agent_model",
            "the agent has answered, and its model is not in memory here",
            "Compare model and server of the agent with [ollama] in the configuration, and its "
            "keep_alive with 0",
        )


def check_measured(measurement: Measurement | None) -> Finding:
    """Say whether anyone was asked, and answered."""
    if measurement is None:
        return MEASUREMENT.unknown(
            "measurement",
            f"{NOT_MEASURED}: whether counts arrive and whether the prompt stays the same",
            ASK,
        )
    if measurement.trouble is not None:
        return MEASUREMENT.trouble("measurement", f"no one could be asked: {measurement.trouble}")
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
    asked = answered(measurement)
    missing = [it for it in asked if it.steps[-1].counts.re_read is None]
    if missing:
        reason = missing[0].steps[-1].counts.reason or "no one says why"
        words = f"the answers of {agents_of(missing)} come without token counts: {reason}"
        if known.log_trouble:
            yield MEASUREMENT.unknown("counts", words, "Make the log readable first")
        else:
            yield MEASUREMENT.problem(
                "counts",
                words,
                "Name the model server's log under [counts], or use Ollama 0.33.3 or newer with "
                "the agent Ollama Warm; without counts every verdict is unknown",
            )
    elif asked:
        where = asked[0].steps[-1].counts.source or "the agent's answer"
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
            "window", f"{NOT_MEASURED}: whether the prompt fits its window", ASK
        )
    if size is None:
        return MEASUREMENT.unknown(
            "window", "whether the prompt fits its window: no one counted its tokens"
        )
    return MEASUREMENT.unknown(
        "window",
        f"whether the prompt of {tokens(size.tokens)} tokens fits its window: how large that is is "
        "not known",
        "Write num_ctx into the table [ollama] of the configuration, as the agent has it",
    )
