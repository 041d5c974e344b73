"""When agents are warmed: whenever their prefix may have changed, or the server may have lost it.

Each occasion is debounced, so that a hundred changes at once are one warm-up.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import CALLBACK_TYPE, CoreState, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.debounce import Debouncer
from homeassistant.helpers.event import async_track_time_interval
from homeassistant.util import dt as dt_util

from ..agent.agent import Agent
from ..const import DOMAIN, KEEP_ALIVE_FOREVER, LOGGER
from ..ollama.server import Server, ServerState
from ..ollama.turnstile import cancelled_ourselves
from ..turns.turns import Turn
from .occasions import Occasions
from .outcomes import Outcomes
from .warm_up import WarmUp

COOLDOWN_S = 10
# Two clients that want the model with different options would load it against each other.
_OTHER_OPTIONS_EVERY = timedelta(minutes=10)


class UnloadedError(HomeAssistantError):
    """The entry of an agent was unloaded before its warm-up was over."""

    def __init__(self, entity_id: str) -> None:
        super().__init__(
            translation_domain=DOMAIN,
            translation_key="agent_not_loaded",
            translation_placeholders={"entity_id": entity_id},
        )


class Warmth:
    """Watches over the agents of one server."""

    def __init__(self, hass: HomeAssistant, server: Server, warm_ups: dict[str, WarmUp]) -> None:
        """Take the agents' warm-ups by subentry id; nothing is watched yet."""
        self.hass = hass
        self.outcomes = Outcomes(hass)
        self._server = server
        self._warm_ups = warm_ups
        self._seen: ServerState | None = None
        self._away = False
        self._next_for_options = dt_util.utcnow()
        self._stop: list[CALLBACK_TYPE] = []
        self._stopped = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._warming_all = False
        self._once_more = False
        self._may_name_too_much = False
        self._occasions = Occasions(hass, self._house_changed, self.async_soon)
        self._soon = Debouncer(
            hass, LOGGER, cooldown=COOLDOWN_S, immediate=False, function=self._calm
        )

    @callback
    def async_start(self) -> None:
        """Listen for every occasion."""
        self._occasions.async_start()
        self._stop = self._intervals()

    @callback
    def async_stop(self) -> None:
        """Stop listening, and end what is going on."""
        self._stopped.set()
        for stop in self._stop:
            stop()
        self._occasions.async_stop()
        self._soon.async_shutdown()
        for task in self._tasks:
            task.cancel()

    @callback
    def _house_changed(self, *_: object) -> None:
        """Look through what is stored, and warm: something may have been hidden or renamed."""
        self._may_name_too_much |= self.hass.state is CoreState.running
        self.async_soon()

    @callback
    def async_soon(self, *_: object) -> None:
        """Warm all agents once it has been calm for a moment."""
        if self.hass.state is CoreState.running:
            self._soon.async_schedule_call()

    @callback
    def async_server_said(self, state: ServerState | None) -> None:
        """Compare what the server says of itself with what it said before.

        None when it does not answer: whatever it had is lost when it is back.
        """
        self._away = state is None
        seen, self._seen = self._seen, state or ServerState(version="", loaded={})
        if seen is None or state is None:
            return
        if seen.version != state.version or any(
            self._is_lost(warm_up, seen, state) for warm_up in self._warm_ups.values()
        ):
            self.async_soon()

    @callback
    def _calm(self) -> None:
        """Warm all agents now, or once more if that is going on: it may have seen no change."""
        if self._may_name_too_much:
            self._may_name_too_much = False
            self._begin(self._async_forget_gone())
        self._once_more = True
        if not self._warming_all:
            self._begin(self._async_until_nothing_changes())

    async def _async_forget_gone(self) -> None:
        """Take from all that is stored what no prompt still names, whatever the server does."""
        for warm_up in self._warm_ups.values():
            await warm_up.agent.async_forget_gone(self.hass.config.language)

    async def _async_until_nothing_changes(self) -> None:
        """Warm all agents, and again as often as something has changed in the meantime."""
        self._warming_all = True
        try:
            while self._once_more:
                self._once_more = False
                await self.async_warm_all()
        finally:
            self._warming_all = False

    @callback
    def _begin[T](self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Let a warm-up run until it is over or nothing is watched any longer."""
        task = self.hass.async_create_background_task(work, f"{DOMAIN} warm-up")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _until_stopped[T](self, agent: Agent, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a warm-up that a person asked for, and that ends when the entry is unloaded.

        Raises UnloadedError in that case.
        """
        if self._stopped.is_set():
            work.close()
            raise UnloadedError(agent.entity_id)
        task = self._begin(work)
        try:
            result = await task
        except asyncio.CancelledError:
            if not self._stopped.is_set() or cancelled_ourselves():
                raise
        else:
            if not self._stopped.is_set():
                return result
        raise UnloadedError(agent.entity_id)

    async def async_warm_all(self) -> None:
        """Warm the agents that are to be warmed by themselves, one after the other."""
        for subentry_id, warm_up in self._warm_ups.items():
            if warm_up.agent.options.auto_warm:
                await self._async_warm(subentry_id)

    async def async_wake(self, subentry_id: str, language: str) -> None:
        """Read an agent's prefix while the person who said the wake word still talks."""
        turnstile = self._server.turnstile
        if turnstile.recently_used or turnstile.warming:
            return
        warm_up = self._warm_ups[subentry_id]
        try:
            await warm_up.async_wake(language)
        except HomeAssistantError as err:
            self._failed(warm_up.agent, err)
        else:
            self.outcomes.async_worked(warm_up.agent)
        finally:
            self.outcomes.async_show(warm_up.agent)

    async def async_ask(
        self, subentry_id: str, user_input: conversation.ConversationInput
    ) -> list[Turn]:
        """Ask one question from outside, whose asker confirms by counts."""
        warm_up = self._warm_ups[subentry_id]
        try:
            return await self._until_stopped(warm_up.agent, warm_up.async_ask(user_input))
        finally:
            self.outcomes.async_show(warm_up.agent)

    async def async_warm(self, subentry_id: str) -> Turn:
        """Warm one agent now, and return the turn that confirms it, or that shows it is not warm.

        Raises HomeAssistantError where it cannot be warmed.
        """
        warm_up = self._warm_ups[subentry_id]
        try:
            turn = await self._until_stopped(
                warm_up.agent, warm_up.async_warm(self.hass.config.language)
            )
            self.outcomes.async_confirmed(warm_up.agent, turn)
        finally:
            self.outcomes.async_show(warm_up.agent)
        return turn

    async def _async_warm(self, subentry_id: str) -> None:
        """Warm one agent, and say in the log when that begins to fail."""
        try:
            await self.async_warm(subentry_id)
        except HomeAssistantError as err:
            self._failed(self._warm_ups[subentry_id].agent, err)

    def _failed(self, agent: Agent, err: HomeAssistantError) -> None:
        """Report a failure, unless the server does not answer at all: that is in the log."""
        if not self._away:
            self.outcomes.async_failed(agent, err)

    def _is_lost(self, warm_up: WarmUp, seen: ServerState, state: ServerState) -> bool:
        """Return whether an agent's model was reloaded or has other options."""
        options = warm_up.agent.options
        before, now = (at.context_length(options.model) for at in (seen, state))
        if now is None:
            # A model that may be unloaded is left alone until someone needs it.
            return before is not None and options.keep_alive == KEEP_ALIVE_FOREVER
        if now in (0, options.num_ctx):
            return before is None
        if dt_util.utcnow() < self._next_for_options:
            return False
        self._next_for_options = dt_util.utcnow() + _OTHER_OPTIONS_EVERY
        return True

    def _intervals(self) -> list[CALLBACK_TYPE]:
        """Warm each agent regularly."""
        stops = []
        for subentry_id, warm_up in self._warm_ups.items():
            options = warm_up.agent.options
            if options.auto_warm and options.warm_interval:
                interval = timedelta(minutes=options.warm_interval)
                action = self._regular(subentry_id)
                stops.append(async_track_time_interval(self.hass, action, interval))
        return stops

    def _regular(self, subentry_id: str) -> Callable[[datetime], None]:
        """Return what is done for an agent at its interval."""

        @callback
        def warm(_now: datetime) -> None:
            self._begin(self._async_warm(subentry_id))

        return warm
