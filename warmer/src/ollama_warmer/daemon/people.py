"""Who talks at the moment, as far as Home Assistant reports, and how a round waits for them."""

import asyncio
from collections.abc import Callable
import logging

from ollama_warmer.config.config import Target
from ollama_warmer.daemon.house_events import UNAVAILABLE, states
from ollama_warmer.daemon.times import USUAL, Times
from ollama_warmer.round.rounds import Observer, Step

SATELLITES = "assist_satellite"

# The states in which someone waits for the model, or may go on talking.
_BUSY = {"listening", "processing", "responding"}
# Of a question by text only its beginning is seen.
_ANSWER = 5.0
# A satellite that hangs in a state must not keep all others cold.
_LONGEST_TALK = 120.0
# An agent's state may come later than its answer, as they come over two connections.
_LATE = 30.0

_LOGGER = logging.getLogger(__name__)

Clock = Callable[[], float]


class People:
    """Follows the satellites' states and the agents'. Times are seconds of one monotonic clock."""

    def __init__(
        self, clock: Clock, on_new_agent: Callable[[], None], times: Times = USUAL
    ) -> None:
        """Know no one yet; `on_new_agent` is called when an agent was set up again."""
        self._clock = clock
        self._on_new_agent = on_new_agent
        self.times = times
        self._busy_since: dict[str, float] = {}
        self._agents: dict[str, str | None] = {}
        self._ours: dict[str, list[float]] = {}
        self._quiet_at = 0.0

    def forget(self) -> None:
        """Know no one any more, because the connection is gone."""
        self._busy_since.clear()
        self._agents.clear()
        self._quiet_at = 0.0

    def take(self, event: object) -> None:
        """Take what `subscribe_entities` sends about satellites and agents."""
        for entity_id, state in states(event):
            if entity_id.startswith(f"{SATELLITES}."):
                self._satellite(entity_id, state)
            else:
                self._agent(entity_id, state)

    def expect(self, agent: str) -> None:
        """Know that the next question that an agent gets is ours."""
        self._ours.setdefault(agent, []).append(self._clock())

    def quiet_in(self) -> float:
        """Return in how many seconds it will have been quiet for long enough; 0 for now.

        A person who still talks may take longer than that.
        """
        now = self._clock()
        talking = any(now - since < _LONGEST_TALK for since in self._busy_since.values())
        return max(self._quiet_at - now, self.times.pause if talking else 0.0)

    def _satellite(self, entity_id: str, state: str | None) -> None:
        now = self._clock()
        if state in _BUSY:
            self._busy_since.setdefault(entity_id, now)
        elif self._busy_since.pop(entity_id, None) is not None:
            self._quiet_at = max(self._quiet_at, now + self.times.pause)

    def _agent(self, entity_id: str, state: str | None) -> None:
        """Take an agent's state, which is the time of its newest question.

        So it is in homeassistant/components/conversation/entity.py, 2026.11.
        """
        is_new = entity_id not in self._agents
        before = self._agents.get(entity_id)
        self._agents[entity_id] = state
        if is_new or state in {None, UNAVAILABLE}:
            return
        if before in {None, UNAVAILABLE}:
            self._on_new_agent()
        elif not self._is_ours(entity_id):
            self._quiet_at = max(self._quiet_at, self._clock() + _ANSWER)

    def _is_ours(self, agent: str) -> bool:
        now = self._clock()
        waiting = [asked for asked in self._ours.pop(agent, []) if now - asked < _LATE]
        if len(waiting) > 1:
            self._ours[agent] = waiting[1:]
        return bool(waiting)


class Courtesy(Observer):
    """Lets people talk first, and knows when a round last went on.

    Attributes:
        progress_at: When something happened, on the same clock as the people's.
    """

    def __init__(self, people: People, clock: Clock) -> None:
        self._people = people
        self._clock = clock
        self._has_warned = False
        self.progress_at = clock()

    @property
    def idle(self) -> float:
        """Seconds since something happened."""
        return self._clock() - self.progress_at

    # Python 3.11 has no @override.
    async def ready(self, target: Target) -> None:  # type: ignore[explicit-override]
        """Wait until no one talks, but not for ever."""
        times = self._people.times
        until = self._clock() + times.patience
        while (wait := self._people.quiet_in()) > 0 and self._clock() < until:  # noqa: ASYNC110 - time itself is waited for
            await asyncio.sleep(min(wait, times.look_for_quiet))
        if wait > 0 and not self._has_warned:
            _LOGGER.warning(
                "%s: there was talking for %g s on end, it is asked all the same",
                target.name,
                times.patience,
            )
            self._has_warned = True
        self.progress_at = self._clock()

    def asking(self, target: Target, step: str) -> None:  # type: ignore[explicit-override]
        """Expect the agent's state to say that it was asked."""
        del step
        self._people.expect(target.agent)
        self.progress_at = self._clock()

    def reading(self, target: Target, share: float) -> None:  # type: ignore[explicit-override]
        """Note that the round goes on."""
        del target, share
        self.progress_at = self._clock()

    def answered(self, target: Target, step: Step) -> None:  # type: ignore[explicit-override]
        """Note that the round goes on."""
        del target, step
        self.progress_at = self._clock()
