"""What is shown of turns: counts to everyone, words of the prompt to administrators only."""

from typing import Any

from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant

from .turn_log import LoggedTurn
from .turns import Turn


def may_read_prompt(user: User | None) -> bool:
    """Return whether a person may read the prompt, or a quote of it: only an administrator may.

    No one is known where a voice satellite or an automation asks.
    """
    return user is not None and user.is_active and user.is_admin


async def async_may_read_prompt(hass: HomeAssistant, context: Context) -> bool:
    """Return whether the person of a context may read the prompt."""
    if context.user_id is None:
        return False
    return may_read_prompt(await hass.auth.async_get_user(context.user_id))


def turn_as_dict(turn: Turn, *, quote: bool) -> dict[str, Any]:
    """Return a turn as the contract has it; with what changed in the prompt, if that is due.

    That something changed is for everyone.
    """
    shown = turn.as_dict()
    if quote and turn.detail:
        shown["reason"] = f"{turn.reason.value}: {turn.detail}"
    return shown


def logged_turn_as_dict(logged: LoggedTurn, *, quote: bool) -> dict[str, Any]:
    """Return a turn, when it ended, and who caused it."""
    return {
        "ended": logged.ended.isoformat(),
        "occasion": logged.cause.value,
        **turn_as_dict(logged.turn, quote=quote),
    }
