"""What came of the warm-ups of a server's agents."""

from datetime import datetime

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.util import dt as dt_util

from ..agent.agent import Agent
from ..const import LOGGER
from ..turns.events import async_report_failed, async_report_not_warm
from ..turns.turn_log import async_show_turns
from ..turns.turns import Turn, Verdict


class Outcomes:
    """Keeps how each agent's last warm-up ended, by subentry id, and reports what went wrong."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self.last: dict[str, tuple[datetime, Turn]] = {}
        """When each agent was last warmed, and the turn that confirmed it."""
        self.cold_in_a_row: dict[str, int] = {}
        """How many warm-ups of each agent ended cold since the last one that did not."""
        self._failed: set[str] = set()

    @callback
    def async_confirmed(self, agent: Agent, turn: Turn) -> None:
        """Keep the turn that confirms a warm-up, or that shows that the agent is not warm."""
        key = agent.subentry_id
        self.async_worked(agent)
        self.last[key] = (dt_util.utcnow(), turn)
        is_cold = turn.verdict not in (Verdict.WARM, Verdict.UNKNOWN)
        self.cold_in_a_row[key] = is_cold * (self.cold_in_a_row.get(key, 0) + 1)
        if is_cold:
            LOGGER.info("%s is not warm: %s", agent.entity_id, turn.reason.value)
            async_report_not_warm(self._hass, agent.entity_id, turn)

    @callback
    def async_worked(self, agent: Agent) -> None:
        """Note that an agent could be warmed: the next failure is news again."""
        self._failed.discard(agent.subentry_id)

    @callback
    def async_failed(self, agent: Agent, err: HomeAssistantError) -> None:
        """Log that an agent cannot be warmed, once until it can be again."""
        if agent.subentry_id not in self._failed:
            self._failed.add(agent.subentry_id)
            LOGGER.warning("%s could not be warmed: %s", agent.entity_id, err)
            async_report_failed(self._hass, agent.entity_id, err)

    @callback
    def async_show(self, agent: Agent) -> None:
        """Have the turns of a warm-up shown that is over, however it ended."""
        async_show_turns(self._hass, agent.subentry_id)
