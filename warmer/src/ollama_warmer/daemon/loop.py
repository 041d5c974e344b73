"""The daemon: one loop that starts rounds, one at a time, and reports how it stands."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
import logging
from pathlib import Path
import signal
import time
from typing import Any

from ollama_warmer.config.config import Config, load_config
from ollama_warmer.daemon.access import Access
from ollama_warmer.daemon.backoff import Backoff, chance
from ollama_warmer.daemon.board import Board, Finished, Part
from ollama_warmer.daemon.current import Current, log_round
from ollama_warmer.daemon.ending import cancel
from ollama_warmer.daemon.home_watch import HomeWatch
from ollama_warmer.daemon.journal import where
from ollama_warmer.daemon.news import News
from ollama_warmer.daemon.occasions import Occasion, Occasions, words
from ollama_warmer.daemon.people import Courtesy, People
from ollama_warmer.daemon.schedule import Schedule
from ollama_warmer.daemon.sd_notify import Notifier
from ollama_warmer.daemon.serving import Serving
from ollama_warmer.daemon.tasks import endless
from ollama_warmer.daemon.times import USUAL, Times
from ollama_warmer.errors import AuthenticationFailed, WarmerError
from ollama_warmer.history.state import StateFile
from ollama_warmer.round.rounds import Round
from ollama_warmer.round.verdicts import Verdict

_LOGGER = logging.getLogger(__name__)
_clock = time.monotonic


class Daemon:
    """Warms until it is asked to end."""

    def __init__(  # noqa: PLR0913 - each is a part of its own
        self,
        config_file: Path,
        config: Config,
        access: Access,
        state: StateFile,
        notifier: Notifier,
        *,
        times: Times = USUAL,
    ) -> None:
        """Take what it was started with; nothing happens before `run`."""
        self._config_file = config_file
        self._config = config
        self._access = access
        self._state = state
        self._notifier = notifier
        self._times = times
        self._started = _clock()
        self._board = Board(config.run, self._started)
        self._serving = Serving(self._board)
        self._occasions = Occasions(times)
        self._schedule = Schedule(config.run, monotonic=self._started, chance=chance, times=times)
        self._wake = asyncio.Event()
        self._news = News(
            self._board, self._occasions, self._schedule, clock=_clock, wake=self._wake.set
        )
        self._people = People(_clock, self._news.agent_changed, times)
        self._home: HomeWatch | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._round: Current | None = None
        self._round_ended = float("-inf")
        self._after_round: Callable[[], None] = _do_nothing
        self._retries = Backoff(times.first_retry, times.longest_retry, factor=4.0)
        self._stopping = self._reload_wanted = self._is_ready = self._is_stuck = False
        self._next_alive = 0.0
        self._shown = ""

    async def run(self) -> None:
        """Warm until SIGTERM or SIGINT; raises ConfigError if it cannot start.

        Ends within two seconds, and may leave threads and programs behind:
        `ollama_warmer.daemon.ending.leave` has to follow.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_log_unhandled)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._want_reload)
        await self._serving.change(self._config.run.listen)
        self._watch(Occasion.START)
        while not self._stopping:
            await self._turn()
            await self._sleep()
        self._notifier.stopping()
        _LOGGER.info("Ending")
        current = () if self._round is None else (self._round.task,)
        await cancel({*self._tasks, *current})

    def _stop(self) -> None:
        self._stopping = True
        self._wake.set()

    def _want_reload(self) -> None:
        self._reload_wanted = True
        self._wake.set()

    def _watch(self, occasion: Occasion) -> None:
        """Begin to watch by the present configuration; the watches before it end by themselves."""
        for task in self._tasks:
            task.cancel()
        # Those that are closing a connection are still waited for at the end.
        self._tasks = {task for task in self._tasks if not task.done()}
        self._board.connected, self._board.ollama = False, None
        self._after_round = _do_nothing
        self._people.forget()
        self._home = HomeWatch(
            self._config, self._access, self._people, self._news, first=occasion, times=self._times
        )
        self._tasks.add(endless("Watching Home Assistant", self._home.run))
        if self._config.ollama is not None:
            # Its HTTP client takes a quarter of all memory.
            from ollama_warmer.daemon.ollama_watch import OllamaWatch  # noqa: PLC0415 - see above

            watch = OllamaWatch(self._config.ollama, self._news, self._asked_since)
            self._tasks.add(endless("Watching Ollama", watch.run))
            self._after_round = watch.look_soon

    async def _turn(self) -> None:
        """Do all that is to be done at this moment."""
        self._wake.clear()
        if self._reload_wanted:
            self._reload_wanted = False
            await self._reload()
        if self._round is not None and self._round.task.done():
            self._take(self._round)
        now, wall = _clock(), datetime.now(UTC)
        for occasion, wait in self._schedule.due(now, wall):
            self._occasions.add(occasion, now, wait=wait)
        if self._round is None and self._board.connected and self._occasions.due(now):
            self._start(self._occasions.take(now), wall)
        self._report(now, wall)

    async def _sleep(self) -> None:
        """Wait until something is to be done."""
        now, wall = _clock(), datetime.now(UTC)
        seconds = [self._times.longest_sleep]
        if self._notifier.watchdog is not None:
            seconds.append(self._notifier.watchdog / 4)
        if (planned := self._schedule.following(now, wall)) is not None:
            seconds.append((planned - wall).total_seconds())
        if self._round is None and self._board.connected:
            following = self._occasions.following()
            seconds += [] if following is None else [following - now]
        try:
            await asyncio.wait_for(self._wake.wait(), max(min(seconds), 0.0))
        except TimeoutError:
            return

    def _start(self, occasions: tuple[Occasion, ...], wall: datetime) -> None:
        _LOGGER.info("Round begins: %s", words(occasions))
        self._schedule.round_begins()
        self._round = Current(
            self._config,
            self._access.token,
            Courtesy(self._people, _clock),
            occasions,
            at=wall,
        )
        self._round.task.add_done_callback(lambda _: self._wake.set())

    def _take(self, current: Current) -> None:
        """Take the result of a round that is over."""
        self._round, self._round_ended = None, _clock()
        self._after_round()
        self._schedule.round_ended(self._round_ended)
        error = current.task.exception()
        if error is not None:
            _LOGGER.error("The round failed because of a bug in ollama-warmer: %s", where(error))
            self._retry()
            return
        outcome = current.task.result()
        seconds = self._round_ended - current.started
        finished = Finished(
            outcome=outcome, occasions=current.occasions, at=current.at, ended=self._round_ended
        )
        self._board.add(finished)
        # What the log says is kept by then, whatever happens next.
        self._state.add(outcome, at=current.at, occasion=words(current.occasions), seconds=seconds)
        log_round(finished, seconds)
        self._follow_up(outcome)

    def _follow_up(self, outcome: Round) -> None:
        """Decide whether the round has to be made again."""
        if isinstance(outcome.stopped, AuthenticationFailed):
            # Whoever watches knows how seldom a refused token may be shown.
            self._watch(Occasion.HOME_ASSISTANT_BACK)
        if outcome.verdict is Verdict.FAILED:
            self._retry()
        else:
            self._retries.reset()

    def _retry(self) -> None:
        self._occasions.add(Occasion.RETRY, _clock(), wait=self._retries.delay())

    def _asked_since(self, moment: float) -> bool:
        return self._round is not None or self._round_ended >= moment

    async def _reload(self) -> None:
        """Read configuration and token again; keep the old ones if one of the new ones is wrong."""
        self._notifier.reloading()
        try:
            config = load_config(self._config_file)
            token = self._access.read()
            await self._serving.change(config.run.listen)
        except WarmerError as err:
            _LOGGER.warning("%s", err)
            _LOGGER.warning("Keeping the previous configuration")
            self._board.troubles[Part.CONFIGURATION] = "the new configuration is wrong: see the log"
        else:
            self._config, self._access.token = config, token
            self._board.troubles.pop(Part.CONFIGURATION, None)
            self._board.configure(config.run, {target.name for target in config.targets})
            self._schedule.configure(config.run, monotonic=_clock(), now=datetime.now(UTC))
            self._retries.reset()
            _LOGGER.info("The configuration was read again")
            self._watch(Occasion.CONFIGURATION)
        self._notifier.ready()

    def _report(self, now: float, wall: datetime) -> None:
        """Report to systemd how it stands."""
        self._board.planned = self._schedule.following(now, wall)
        tried = self._home is not None and self._home.tried.is_set()
        if not self._is_ready and (tried or now > self._started + self._times.longest_start):
            self._is_ready = True
            self._notifier.ready()
        summary = self._board.summary(self._news.zone)
        if summary != self._shown:
            self._shown = summary
            self._notifier.status(summary)
        stuck = self._round is not None and self._round.stuck
        if stuck and not self._is_stuck:
            _LOGGER.error("The round is stuck: no progress within its time limits")
        self._is_stuck = stuck
        if self._notifier.watchdog is not None and not stuck and now >= self._next_alive:
            self._next_alive = now + self._notifier.watchdog / 2
            self._notifier.alive()


def _do_nothing() -> None:
    """Where no one has to know."""


def _log_unhandled(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong in a task that no one waits for, without what it may quote."""
    error = context.get("exception")
    if isinstance(error, BaseException):
        _LOGGER.error("A bug in ollama-warmer: %s", where(error))
    else:
        _LOGGER.error("Unexpected internal error")
