"""The daemon in the test's own process, where clocks and patience can be made short."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, tzinfo
import os
from pathlib import Path
import time
from typing import Any, Self, override

import pytest

from ollama_warmer.config.config import load_config
from ollama_warmer.daemon import current, loop
from ollama_warmer.daemon.access import Access
from ollama_warmer.daemon.ending import cancel
from ollama_warmer.daemon.sd_notify import Notifier
from ollama_warmer.daemon.times import Times
from ollama_warmer.history.state import StateFile
from ollama_warmer.round import rounds as rounds_module
from tests.warmer.support.house import AGENT, TOKEN, Cut, open_house, reply
from tests.warmer.support.live_house import SATELLITE, LiveHouse, rounds, until, write_config


class WallClock(datetime):
    """The time of day, which a test may set."""

    ahead = timedelta()

    @classmethod
    @override
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Return the time that this clock shows."""
        return cls.fromtimestamp((datetime.now(tz) + cls.ahead).timestamp(), tz)


class Ear(Notifier):
    """Hears what systemd would."""

    def __init__(self) -> None:
        """Want to hear something ten times a second."""
        super().__init__({})
        self.watchdog = 0.2
        self.beats = 0

    @override
    def alive(self) -> None:
        """Count the beats."""
        self.beats += 1


IMPATIENT = Times(
    reconnect=0.05,
    look_for_token=0.05,
    longest_sleep=0.05,
    settle=0.3,
    pause=0.3,
    after_midnight=0.1,
    first_retry=0.1,
)


@pytest.fixture(name="live")
async def _live() -> AsyncIterator[LiveHouse]:
    """Return a house that answers warm."""
    async with open_house(LiveHouse()) as opened:
        assert isinstance(opened, LiveHouse)
        yield opened


@asynccontextmanager
async def daemon(
    folder: Path, config: Path, *, token_file: Path | None = None, ear: Notifier | None = None
) -> AsyncIterator[Path]:
    """Run a daemon; yield the file in which it keeps its rounds."""
    state = folder / "state.json"
    access = Access(token_file, {"HA_TOKEN": TOKEN})
    notifier = ear or Notifier({})
    running = loop.Daemon(
        config, load_config(config), access, StateFile(state), notifier, times=IMPATIENT
    )
    task = asyncio.create_task(running.run())
    try:
        yield state
    finally:
        running._stop()
        await task


def occasions_of(state: Path) -> list[str]:
    """Return why the rounds so far were made."""
    return [str(it["occasion"]) for it in rounds(state)]


async def test_names_change(live: LiveHouse, tmp_path: Path) -> None:
    """Five changes in a row make one round; what no prompt says makes none."""
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: len(rounds(state)) == 1)
        await live.fire("device_registry_updated", action="update", changes={"sw_version": "1"})
        for _ in range(5):
            await live.fire("entity_registry_updated", action="update", changes={"name": "Lamp"})
            await asyncio.sleep(0.1)
        await until(lambda: len(rounds(state)) == 2)
        await asyncio.sleep(0.5)

    assert occasions_of(state) == ["start", "house changed"]


async def test_agent_is_set_up_anew(live: LiveHouse, tmp_path: Path) -> None:
    """Other options of the agent are other prompts."""
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: len(rounds(state)) == 1)
        await live.change(AGENT, "unavailable")
        await live.change(AGENT, "2026-11-30T12:00:00+00:00")
        await until(lambda: len(rounds(state)) == 2)

    assert occasions_of(state) == ["start", "agent set up again"]


async def test_occasions_during_a_round(live: LiveHouse, tmp_path: Path) -> None:
    """One round at a time: what happens during one is answered by the next, all together."""
    live.answers = [(1.0, reply())]
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: live.questions)
        await live.fire("area_registry_updated", action="create")
        await live.change(AGENT, "unavailable")
        await live.change(AGENT, "unknown")
        await asyncio.sleep(0.5)
        assert len(live.questions) == 1
        await until(lambda: len(rounds(state)) == 2)

    assert occasions_of(state) == ["start", "agent set up again, house changed"]


async def test_person_first(live: LiveHouse, tmp_path: Path) -> None:
    """No question is sent from the wake word until some time after the answer."""
    live.entities[SATELLITE] = "listening"
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: live.watched and len(live.logins) == 2)
        await live.change(SATELLITE, "processing")
        await asyncio.sleep(0.5)
        await live.change(SATELLITE, "responding")
        assert live.questions == []
        await live.change(SATELLITE, "idle")
        await asyncio.sleep(0.2)
        assert live.questions == []
        await until(lambda: len(rounds(state)) == 1)

    assert rounds(state)[0]["verdict"] == "warm"


async def test_connection_is_lost_between_rounds(live: LiveHouse, tmp_path: Path) -> None:
    """Home Assistant may have restarted, so everything is warmed again."""
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: len(rounds(state)) == 1)
        await live.cut()
        await until(lambda: len(rounds(state)) == 2)

    assert occasions_of(state) == ["start", "Home Assistant is back"]


async def test_midnight(live: LiveHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just after Home Assistant's midnight there is a round, also when its zone has changed."""
    monkeypatch.setattr(loop, "datetime", WallClock)
    monkeypatch.setattr("ollama_warmer.daemon.news.datetime", WallClock)
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0)
    monkeypatch.setattr(WallClock, "ahead", noon - datetime.now(UTC))
    live.zone = "Etc/GMT-11"  # which is eleven hours ahead: 23:00
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: len(rounds(state)) == 1)
        live.zone = "Etc/GMT-10"
        await live.fire("core_config_updated", time_zone=live.zone)
        await until(lambda: len(rounds(state)) == 2)
        WallClock.ahead += timedelta(hours=1)
        await asyncio.sleep(0.4)
        assert len(rounds(state)) == 2
        WallClock.ahead += timedelta(hours=1)
        await until(lambda: len(rounds(state)) == 3)

    assert occasions_of(state) == ["start", "house changed", "midnight"]


async def test_clock_is_set_back_an_hour(
    live: LiveHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time of day comes once, though the clock shows it twice."""
    monkeypatch.setattr(loop, "datetime", WallClock)
    monkeypatch.setattr("ollama_warmer.daemon.news.datetime", WallClock)
    monkeypatch.setattr(
        WallClock, "ahead", datetime(2026, 6, 1, 6, 29, 59, 500_000, UTC) - datetime.now(UTC)
    )
    live.zone = "UTC"
    async with daemon(tmp_path, write_config(tmp_path, live.url, 'times = ["06:30"]')) as state:
        await until(lambda: len(rounds(state)) == 2)
        for _ in range(3):
            WallClock.ahead -= timedelta(hours=1)
            await asyncio.sleep(0.2)
            WallClock.ahead += timedelta(hours=1)
            await asyncio.sleep(0.2)
        WallClock.ahead += timedelta(hours=24)
        await until(lambda: len(rounds(state)) == 4)

    assert occasions_of(state) == ["start", "schedule", "schedule", "midnight"]


async def test_zone_that_is_not_known_here(
    live: LiveHouse,
    tmp_path: Path,
    caplog: Any,  # noqa: ANN401 - pytest's own
) -> None:
    """A machine without time zones goes by UTC, and says what to install."""
    live.zone = "../Mars"
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: len(rounds(state)) == 1)

    assert "does not know Home Assistant's time zone ../Mars, and goes by UTC" in caplog.text


async def test_token_in_its_file_is_renewed(live: LiveHouse, tmp_path: Path) -> None:
    """A refused token is not shown again, but another one in its place is."""
    token_file = tmp_path / "token"
    token_file.touch(mode=0o600)
    token_file.write_text("old.old.old")
    config = write_config(tmp_path, live.url)
    async with daemon(tmp_path, config, token_file=token_file) as state:
        await until(lambda: live.logins)
        await asyncio.sleep(0.3)
        token_file.unlink()
        await asyncio.sleep(0.1)
        token_file.touch(mode=0o600)
        token_file.write_text(TOKEN)
        await until(lambda: len(rounds(state)) == 1)

    assert len([it for it in live.logins if it["access_token"] == "old.old.old"]) == 1


async def test_token_is_deleted_in_mid_round(live: LiveHouse, tmp_path: Path) -> None:
    """It is shown twice more, once by the round and once by the watch, and then left alone."""

    def revoke(_: object) -> None:
        live.token = "another"
        raise Cut

    live.overrides["conversation/process"] = revoke
    async with daemon(tmp_path, write_config(tmp_path, live.url, "interval = 0.1")) as state:
        await until(lambda: len(rounds(state)) == 1)
        await asyncio.sleep(1)

    assert len(rounds(state)) == 1
    assert "refused the token" in rounds(state)[0]["targets"][1]["reason"]
    assert len(live.logins) <= 2 + 2


async def test_round_that_hangs_stops_the_beat(
    live: LiveHouse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Any,  # noqa: ANN401 - pytest's own
) -> None:
    """The watchdog is fed as long as a round keeps to its limits, and no longer."""

    async def hang(*_: object, **__: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(current, "run_round", hang)
    monkeypatch.setattr(current, "_BESIDE", 0.5)
    config = write_config(tmp_path, live.url)
    limits = "start_timeout = 0.2\nanswer_timeout = 0.2\n"
    config.write_text(config.read_text().replace("[run]", f"{limits}[run]"))
    ear = Ear()
    async with daemon(tmp_path, config, ear=ear):
        await until(lambda: "no progress within its time limits" in caplog.text)
        beats = ear.beats
        assert beats >= 4
        await asyncio.sleep(0.5)
        assert ear.beats == beats


async def test_mistake_of_ours(
    live: LiveHouse,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Any,  # noqa: ANN401 - pytest's own
) -> None:
    """A round that breaks off is told of without what it quotes, and made again."""
    real, calls = rounds_module.run_round, []

    async def stumble(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever it is
        calls.append(1)
        if len(calls) == 1:
            raise KeyError("a person's words")
        return await real(*arguments, **named)

    monkeypatch.setattr(current, "run_round", stumble)
    async with daemon(tmp_path, write_config(tmp_path, live.url)) as state:
        await until(lambda: len(rounds(state)) == 1)

    assert occasions_of(state) == ["after a failure"]
    assert "The round failed because of a bug in ollama-warmer: KeyError at " in caplog.text
    assert "a person's words" not in caplog.text
    assert os.fspath(tmp_path) not in caplog.text


async def test_cleaning_up_that_hangs() -> None:
    """What cleans up without end is left behind, in less than the two seconds of the whole."""

    async def stubborn() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            if ended:
                return

    ended: list[int] = []
    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    started = time.monotonic()
    await cancel([task])
    assert time.monotonic() - started < 2
    assert not task.done()
    ended.append(1)
    task.cancel()
    await task
