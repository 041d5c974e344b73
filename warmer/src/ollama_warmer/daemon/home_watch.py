"""Stays connected to Home Assistant, and notices what makes the prompts cold."""

import asyncio
import logging
import re
from typing import Protocol

from ollama_warmer.config.config import Config
from ollama_warmer.daemon.access import Access
from ollama_warmer.daemon.backoff import Backoff
from ollama_warmer.daemon.house_events import CONFIG_CHANGED, EVENTS, changes_prompts
from ollama_warmer.daemon.live import Live, Receiver, connect_live
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.people import SATELLITES, People
from ollama_warmer.daemon.times import USUAL, Times
from ollama_warmer.errors import AuthenticationFailed, CommandFailed, NoAnswer, WarmerError

_LONGEST_WAIT = 60.0
# A connection that held for so long was a good one.
_GOOD = 60.0
# Home Assistant bans a machine that shows wrong tokens (http.login_attempts_threshold), often
# after five of them. A new token in its place is tried at once.
_FIRST_REFUSAL = 3_600.0
_LONGEST_REFUSAL = 86_400.0

_ENTITY_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")

_LOGGER = logging.getLogger(__name__)


class Listener(Protocol):
    """Who hears what happens at Home Assistant."""

    def home_is_up(self, occasion: Occasion, zone: str) -> None:
        """It has started and is connected; `zone` is the name of its time zone."""

    def home_is_down(self, trouble: WarmerError) -> None:
        """It cannot be used, and why."""

    def zone_changed(self, zone: str) -> None:
        """Its time zone is another one now."""

    def house_changed(self) -> None:
        """Something happened that may be in the prompts."""


class HomeWatch:
    """One connection, made again whenever it is lost.

    Attributes:
        tried: Set once the first attempt to connect is over, whatever came of it.
    """

    def __init__(  # noqa: PLR0913 - each is a part of its own
        self,
        config: Config,
        access: Access,
        people: People,
        listener: Listener,
        *,
        first: Occasion,
        times: Times = USUAL,
    ) -> None:
        """Prepare to watch; `first` is the occasion of the first connection."""
        self.tried = asyncio.Event()
        self._server = config.home_assistant
        # Agents of old kinds are no entities, and have no state.
        agents = sorted({target.agent for target in config.targets})
        self._agents = [agent for agent in agents if _ENTITY_ID.fullmatch(agent)]
        self._access = access
        self._people = people
        self._listener = listener
        self._occasion = first
        self._backoff = Backoff(times.reconnect, _LONGEST_WAIT)
        self._refusals = Backoff(_FIRST_REFUSAL, _LONGEST_REFUSAL, factor=4.0)
        self._look_for_token = times.look_for_token
        self._zone_is_new = asyncio.Event()

    async def run(self) -> None:
        """Connect and watch, without end."""
        clock = asyncio.get_running_loop().time
        while True:
            started = clock()
            try:
                await self._watch()
            except AuthenticationFailed as err:
                self._down(err)
                await self._wait_after_refusal()
                continue
            except WarmerError as err:
                self._down(err)
            if clock() > started + _GOOD:
                self._backoff.reset()
            await asyncio.sleep(self._backoff.delay())

    def _down(self, err: WarmerError) -> None:
        self.tried.set()
        self._people.forget()
        self._listener.home_is_down(err)

    async def _watch(self) -> None:
        """Be connected until that ends; raises a WarmerError that says why."""
        async with connect_live(self._server.url, self._access.token) as home:
            self.tried.set()
            self._refusals.reset()
            await home.wait_until_running(self._server.start_timeout)
            await self._subscribe(home)
            zone = await _zone(home)
            self._listener.home_is_up(self._occasion, zone)
            self._occasion = Occasion.HOME_ASSISTANT_BACK
            while True:
                await self._until_something(home)
                # After the end of the connection this question raises the reason of it.
                self._listener.zone_changed(await _zone(home))

    async def _until_something(self, home: Live) -> None:
        """Wait until the time zone may be another one, or the connection ends."""
        self._zone_is_new.clear()
        changed = asyncio.create_task(self._zone_is_new.wait())
        try:
            await asyncio.wait({changed, home.receiving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()
        if home.receiving.done():
            home.receiving.result()

    async def _subscribe(self, home: Live) -> None:
        """Subscribe to all that this user may see; say what is not reported."""
        self._people.forget()
        watched: dict[str, object] = {
            "include": {"domains": [SATELLITES], "entities": self._agents}
        }
        await self._try(home, "subscribe_entities", watched, self._people.take)
        for event_type in EVENTS:
            await self._try(home, "subscribe_events", {"event_type": event_type}, self._event)

    async def _try(
        self, home: Live, kind: str, fields: dict[str, object], receiver: Receiver
    ) -> None:
        try:
            await home.subscribe(kind, fields, receiver)
        except (CommandFailed, NoAnswer) as err:
            what = fields.get("event_type", "who talks to a satellite")
            _LOGGER.warning("Home Assistant does not report %s: %s", what, err)

    def _event(self, event: object) -> None:
        if not changes_prompts(event):
            return
        self._listener.house_changed()
        if isinstance(event, dict) and event.get("event_type") == CONFIG_CHANGED:
            self._zone_is_new.set()

    async def _wait_after_refusal(self) -> None:
        """Wait for another token, and for a long time if there is none."""
        clock = asyncio.get_running_loop().time
        until = clock() + self._refusals.delay()
        while clock() < until:
            await asyncio.sleep(min(self._look_for_token, until - clock()))
            if self._access.renew():
                _LOGGER.info("There is a new token, it is tried at once")
                return


async def _zone(home: Live) -> str:
    """Return the name of Home Assistant's time zone; raises a WarmerError."""
    config = await home.query("get_config")
    zone = config.get("time_zone") if isinstance(config, dict) else None
    return zone if isinstance(zone, str) else "UTC"
