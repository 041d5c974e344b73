"""The round that is under way, and what the log says of it when it is over."""

import asyncio
from datetime import datetime
import logging

from ollama_warmer.config.config import Config
from ollama_warmer.daemon.board import Finished
from ollama_warmer.daemon.occasions import Occasion, words
from ollama_warmer.daemon.people import Courtesy
from ollama_warmer.errors import WarmerError
from ollama_warmer.history.state import unreached
from ollama_warmer.house.credentials import Token
from ollama_warmer.round.rounds import Round, Step, TargetResult, run_round
from ollama_warmer.round.verdicts import Verdict

# Connecting, looking around in the house, waiting for who talks, and reading the log: what a round
# may do beside waiting for one answer.
_BESIDE = 300.0

_LOGGER = logging.getLogger(__name__)


class Current:
    """One round, from its start until someone takes its result.

    Attributes:
        occasions: Why it is made.
        at: When it began, aware.
        started: The same in seconds of the event loop's clock.
        task: What makes it.
    """

    def __init__(
        self,
        config: Config,
        token: Token,
        courtesy: Courtesy,
        occasions: tuple[Occasion, ...],
        *,
        at: datetime,
    ) -> None:
        """Begin now; `courtesy` is a new one."""
        self.occasions = occasions
        self.at = at
        self.started = courtesy.progress_at
        self._courtesy = courtesy
        limits = config.home_assistant
        # An answer that was given up is waited for as long again before the next question.
        self._limit = max(limits.start_timeout, 2 * limits.answer_timeout) + _BESIDE
        self.task: asyncio.Task[Round] = asyncio.create_task(_run(config, token, courtesy))

    @property
    def stuck(self) -> bool:
        """Whether nothing has happened for longer than the round's own limits allow."""
        return not self.task.done() and self._courtesy.idle > self._limit


async def _run(config: Config, token: Token, courtesy: Courtesy) -> Round:
    try:
        return await run_round(config, token, config.targets, observer=courtesy)
    except WarmerError as err:
        return unreached(config.targets, err)


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
