"""Warm-ups that are only counted, and the moments at which they happen."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from unittest.mock import AsyncMock, patch

from freezegun.api import FrozenDateTimeFactory

from custom_components.ollama_warm.turns.turns import Reason, Turn, Verdict
from custom_components.ollama_warm.warming.warm_up import WarmUp
from custom_components.ollama_warm.warming.warmth import COOLDOWN_S
from homeassistant.core import HomeAssistant

from .house import later

POLL_S = 31
"""Until the server has been asked again how it is."""


def turn(verdict: Verdict = Verdict.WARM, reason: Reason = Reason.NOTHING) -> Turn:
    """Return the turn that confirms a warm-up."""
    return Turn(
        prompt_tokens=1000,
        cached_tokens=990,
        prefill_s=0.1,
        load_s=0.0,
        total_s=0.2,
        verdict=verdict,
        reason=reason,
        detail="",
        node=None,
    )


class Watch:
    """Counts warm-ups that take no time, unless a test makes them."""

    def __init__(self, warm_up: AsyncMock) -> None:
        """Take what is called in place of a warm-up."""
        self.warm_up = warm_up

    async def count(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> int:
        """Return how many warm-ups there were since the last look, once it has been calm."""
        await later(hass, freezer, COOLDOWN_S)
        count: int = self.warm_up.call_count
        self.warm_up.reset_mock()
        return count

    def take(self, warm: Callable[..., object]) -> None:
        """Have warm-ups take their time, or fail."""
        self.warm_up.side_effect = warm


@contextmanager
def watched() -> Generator[Watch]:
    """Have no agent warmed, only see when it would be."""
    with patch.object(WarmUp, "async_warm", autospec=True, return_value=turn()) as warm_up:
        yield Watch(warm_up)
