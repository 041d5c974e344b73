"""The round that is under way."""

import asyncio
from datetime import datetime

from ollama_warmer.config.config import Config
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.people import Courtesy
from ollama_warmer.errors import WarmerError
from ollama_warmer.history.state import unreached
from ollama_warmer.house.credentials import Token
from ollama_warmer.round.rounds import Round, run_round

# Connecting, looking around in the house, waiting for who talks, and reading the log: what a round
# may do beside waiting for one answer.
_BESIDE = 300.0


class Current:
    """One round, from its start until somebody takes its result.

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
