"""What Home Assistant has, to find out before a question whether it would miss."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ollama_warmer.config.config import Target
from ollama_warmer.errors import CommandFailed, WarmerError
from ollama_warmer.house.client import (
    BUILT_IN,
    NO_MODEL,
    UNAUTHORIZED,
    UNKNOWN_COMMAND,
    HomeAssistant,
)
from ollama_warmer.words import listing, printable

_Known = frozenset[str] | CommandFailed
_SAFE_MODE = (
    ". It runs in safe mode, in which no custom integration is loaded: restart it without that"
)


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """The ids of what there is; an error where Home Assistant does not report.

    Attributes:
        agents: Of conversation agents.
        devices: Of devices.
        safe_mode: Whether it runs without custom integrations, such as Ollama Warm's.
    """

    agents: _Known
    devices: _Known
    safe_mode: bool = False

    def check(self, target: Target) -> None:
        """Raise a WarmerError for a target that would be missed."""
        if problem := self.problem(target):
            raise WarmerError(problem)

    def problem(self, target: Target) -> str | None:
        """Return a sentence that says why a target would be missed; none if it would be met.

        Home Assistant takes any device id without a word, and the warm-up would then warm the
        prompt of no device at all.
        """
        if target.agent == BUILT_IN:
            return NO_MODEL
        for what, wanted, known in (
            ("conversation agent", target.agent, self.agents),
            ("device", target.device, self.devices),
        ):
            if wanted is None:
                continue
            if isinstance(known, CommandFailed):
                return f"the {what} cannot be checked, {_untold(known)}"
            if wanted not in known:
                there_are = f": it has {listing(known)}" if what != "device" else ""
                missing = f'Home Assistant has no {what} "{printable(wanted)}"{there_are}'
                return f"{missing}{_SAFE_MODE}" if self.safe_mode else missing
        return None


def _untold(refusal: CommandFailed) -> str:
    """Return why Home Assistant does not list what it has."""
    why = f"{refusal.message} ({refusal.code})"
    if refusal.code == UNAUTHORIZED:
        return f"Home Assistant does not list what it has to the user of this token: {why}"
    if refusal.code == UNKNOWN_COMMAND:
        return (
            f"Home Assistant does not know the command that lists what it has: {why}. Look at its "
            "log, whether everything was loaded at its start"
        )
    return f"Home Assistant does not list what it has: {why}"


async def take(home: HomeAssistant) -> Inventory:
    """Return what Home Assistant has.

    Raises:
        CannotConnect: The connection is gone.
        NotUnderstood: Home Assistant answers in an unknown shape.
    """
    return Inventory(
        agents=await _known(home.agents),
        devices=await _known(home.devices),
        safe_mode=home.safe_mode,
    )


async def _known(ask: Callable[[], Awaitable[frozenset[str]]]) -> _Known:
    try:
        return await ask()
    except CommandFailed as err:
        return err
