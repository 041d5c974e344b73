"""Tells a round to the log."""

import logging

from ollama_warmer.daemon.board import Finished
from ollama_warmer.daemon.occasions import words
from ollama_warmer.round.rounds import Step, TargetResult
from ollama_warmer.round.verdicts import Verdict

_LOGGER = logging.getLogger(__name__)


def log_round(finished: Finished, seconds: float) -> None:
    """Log one line for the round, and one for each target; what is not warm is a warning.

    Args:
        finished: The round.
        seconds: How long it took.
    """
    for result in finished.outcome.results:
        level = logging.INFO if result.verdict is Verdict.WARM else logging.WARNING
        _LOGGER.log(level, "%s: %s, %s", result.target.name, result.verdict, _detail(result))
    _LOGGER.info(
        "Round (%s): %s, %.1f s", words(finished.occasions), finished.outcome.verdict, seconds
    )


def _detail(result: TargetResult) -> str:
    """Return the counts if it is warm, and otherwise the reason, in which they are."""
    if result.verdict is not Verdict.WARM or not result.steps:
        return result.reason
    return f"re-read {_tokens(result.steps[0])}, then {_tokens(result.steps[-1])}"


def _tokens(step: Step) -> str:
    counts = step.counts
    if counts.re_read is None or counts.prompt is None:
        return "an unknown number of tokens"
    return f"{counts.re_read:,} of {counts.prompt:,} tokens"
