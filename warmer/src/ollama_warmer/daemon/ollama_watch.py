"""Looks at Ollama from time to time, and notices when it has lost what was warm."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
import logging
from typing import Protocol

from ollama_warmer.config.config import OllamaConfig
from ollama_warmer.daemon.backoff import Backoff
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.ollama_changes import Look, after_silence, between, find
from ollama_warmer.errors import OllamaError
from ollama_warmer.ollama.client import Ollama, open_ollama

_POLL = 5.0
# Two clients that want one model with different options load it in turns; a round after each turn
# would make it worse. One change is answered at once, many are answered ever more slowly.
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 600.0
_CALM = 600.0

_LOGGER = logging.getLogger(__name__)


class Listener(Protocol):
    """Who hears what happens at Ollama."""

    def ollama_is_up(self) -> None:
        """It answers."""

    def ollama_is_down(self, trouble: OllamaError) -> None:
        """It does not answer as Ollama does, and why."""

    def ollama_lost_it(self, occasion: Occasion, wait: float) -> None:
        """What was warm is cold; ask again after some seconds."""


class OllamaWatch:
    """Asks `/api/version` and `/api/ps`, and compares."""

    def __init__(
        self, config: OllamaConfig, listener: Listener, asked_since: Callable[[float], bool]
    ) -> None:
        """Prepare to watch.

        Args:
            config: Where Ollama is, and the agent's model.
            listener: Hears of it.
            asked_since: Whether a round of ours was under way at any time since a moment on the
                event loop's clock.
        """
        self._config = config
        self._listener = listener
        self._asked_since = asked_since
        self._backoff = Backoff(_FIRST_WAIT, _LONGEST_WAIT)
        self._soon = asyncio.Event()
        self._last: Look | None = None
        self._looked_at = 0.0
        self._is_down = False
        self._changed_at = 0.0

    async def run(self) -> None:
        """Look, without end."""
        async with open_ollama(self._config.url) as ollama:
            while True:
                self._soon.clear()
                await self.look(ollama)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._soon.wait(), _POLL)

    def look_soon(self) -> None:
        """Look now, because a round is over: what it has loaded may be lost a moment later."""
        self._soon.set()

    async def look(self, ollama: Ollama) -> None:
        """Look once, and say what that means."""
        asked_at = asyncio.get_running_loop().time()
        try:
            look = await self._ask(ollama)
        except OllamaError as err:
            self._is_down = True
            self._listener.ollama_is_down(err)
        else:
            self._take(look)
        self._looked_at = asked_at

    async def _ask(self, ollama: Ollama) -> Look:
        version = await ollama.version()
        model = find(await ollama.loaded(), self._config.model)
        return Look(version=version, model=model, at=datetime.now(UTC))

    def _take(self, look: Look) -> None:
        self._listener.ollama_is_up()
        occasion = None
        if self._is_down:
            occasion = after_silence(self._last, look)
        elif self._last is not None:
            ours = self._asked_since(self._looked_at)
            occasion = between(self._last, look, ours=ours)
        self._last, self._is_down = look, False
        if occasion is not None:
            self._listener.ollama_lost_it(occasion, self._wait())

    def _wait(self) -> float:
        now = asyncio.get_running_loop().time()
        if now > self._changed_at + _CALM:
            self._backoff.reset()
        self._changed_at = now
        return self._backoff.delay()
