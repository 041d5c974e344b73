"""The last turns of each agent, kept over a reload of its entry."""

from collections import deque
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .turns import FAILED, Turn

MOST_TURNS = 500


class Cause(StrEnum):
    """Who caused a turn."""

    QUESTION = "question"
    FOLLOW_UP = "follow_up"
    """A later call of the model for the same question, such as after a tool."""
    WARM_UP = "warm_up"


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn, when it ended, and who caused it. Says nothing of what was said."""

    ended: datetime
    cause: Cause
    turn: Turn

    @property
    def failed(self) -> bool:
        """Return whether it reached no result."""
        return self.turn is FAILED


type TurnLog = deque[LoggedTurn]

_LOGS: HassKey[dict[str, TurnLog]] = HassKey(f"{DOMAIN}_turns")


@callback
def async_turn_log(hass: HomeAssistant, subentry_id: str) -> TurnLog:
    """Return the log of an agent, oldest turn first."""
    logs = hass.data.setdefault(_LOGS, {})
    return logs.setdefault(subentry_id, deque(maxlen=MOST_TURNS))


def turn_signal(subentry_id: str) -> str:
    """Return the dispatcher's signal for a new turn of an agent."""
    return f"{DOMAIN}_turn_{subentry_id}"


@callback
def async_log_turn(hass: HomeAssistant, subentry_id: str, cause: Cause, turn: Turn) -> None:
    """Add a turn that has just ended, and have it shown soon: who waits for it comes first.

    The turns of a warm-up are shown together, once it is known what came of it.
    """
    async_turn_log(hass, subentry_id).append(LoggedTurn(dt_util.utcnow(), cause, turn))
    if cause is not Cause.WARM_UP:
        hass.loop.call_soon(async_show_turns, hass, subentry_id)


@callback
def async_show_turns(hass: HomeAssistant, subentry_id: str) -> None:
    """Have the turns of an agent shown by whoever shows them."""
    async_dispatcher_send(hass, turn_signal(subentry_id))


@callback
def async_forget_turns(hass: HomeAssistant, subentry_ids: set[str]) -> None:
    """Drop the logs of agents that are gone."""
    for subentry_id in subentry_ids:
        hass.data.get(_LOGS, {}).pop(subentry_id, None)
