"""Tasks that run without end, and start again after a mistake of ours."""

import asyncio
from collections.abc import Awaitable, Callable
import logging
from typing import NoReturn

from ollama_warmer.daemon.backoff import Backoff

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 300.0

_LOGGER = logging.getLogger(__name__)


def endless(what: str, run: Callable[[], Awaitable[None]]) -> asyncio.Task[NoReturn]:
    """Start something that should not end, and start it again if it does.

    Args:
        what: What it is, for the log.
        run: Starts it once.
    """
    return asyncio.create_task(_endless(what, run))


async def _endless(what: str, run: Callable[[], Awaitable[None]]) -> NoReturn:
    backoff = Backoff(_FIRST_WAIT, _LONGEST_WAIT)
    while True:
        try:
            await run()
        except Exception:
            _LOGGER.exception("%s failed because of a bug in ollama-warmer, and starts again", what)
        await asyncio.sleep(backoff.delay())
