"""A server that dies, dawdles, babbles, stays away and comes back as another one.

Each time: the agent is unavailable as long as its server is, the log has one line for each way,
nothing is set up again, and whoever asks in the meantime hears a sentence in their language.
"""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
import logging

from freezegun.api import FrozenDateTimeFactory
import pytest

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN

from .support.house import House, add_server, later, speech, turns
from .support.issues import issues
from .support.puppet import Puppet
from .support.sentences import sentence
from .support.server import Ollama
from .support.warmed import POLL_S


@pytest.fixture(autouse=True)
def clock(freezer: FrozenDateTimeFactory) -> FrozenDateTimeFactory:
    """Return the clock, which stands still before anything looks at it, and for the loop, too."""
    return freezer


@pytest.fixture
async def puppet(socket_enabled: None) -> AsyncGenerator[Puppet]:
    """Return a server that does what a test wants."""
    server = Puppet()
    await server.start()
    yield server
    await server.kill()


@pytest.fixture
async def entry(house: House, puppet: Puppet) -> ConfigEntry:
    """Return the entry of that server."""
    return await house.set_up(add_server(house.hass, puppet.url))


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Return the log from information upwards."""
    caplog.set_level(logging.INFO)
    return caplog


def lines(log: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return level and text of our lines in the log, of any that are worth to be looked at."""
    return [
        (record.levelname, record.getMessage())
        for record in log.records
        if record.name.startswith("custom_components.ollama_warm") and record.levelno > 10
    ]


async def heard(house: House, key: str, url: str, language: str) -> str:
    """Return what someone hears who asks now, and that it is the sentence of an error."""
    result = await house.ask("Count", "kitchen", language=language)
    assert result.response.response_type.value == "error"
    text = await sentence(house.hass, "exceptions", f"{key}.message", {"url": url}, language)
    assert speech(result) == text
    return text


async def passes(clock: FrozenDateTimeFactory, seconds: float) -> None:
    """Let time pass for everything that waits, without waiting for anything to be done."""
    clock.tick(timedelta(seconds=seconds))
    for _ in range(10):
        await asyncio.sleep(0)


async def test_killed_in_the_middle_of_an_answer(
    house: House,
    entry: ConfigEntry,
    puppet: Puppet,
    clock: FrozenDateTimeFactory,
    log: pytest.LogCaptureFixture,
) -> None:
    """The person hears that the answer broke off, and the agent comes back by itself."""
    coordinator = entry.runtime_data
    puppet.go_on.clear()
    question = asyncio.create_task(house.ask("Count", "kitchen", language="fr"))
    await puppet.held.wait()
    await puppet.kill()
    result = await question
    assert result.response.response_type.value == "error"
    assert speech(result) == (
        f"Le serveur de modèles à l\u2019adresse {puppet.url} s\u2019est arrêté au milieu de sa "
        "réponse. Posez la question à nouveau."
    )
    assert lines(log) == []
    for _ in range(3):
        await later(house.hass, clock, POLL_S)
        assert house.state == STATE_UNAVAILABLE
        await heard(house, "cannot_connect", puppet.url, "fr")
    ((level, text),) = lines(log)
    assert level == "ERROR"
    assert puppet.url in text
    log.clear()
    await puppet.start()
    for _ in range(3):
        await later(house.hass, clock, POLL_S)
        assert house.state != STATE_UNAVAILABLE
    assert lines(log) == [("INFO", "Fetching Server data recovered")]
    assert speech(await house.ask("Count")) == "One two."
    assert entry.runtime_data is coordinator


@pytest.mark.parametrize("after", [0, 1], ids=["before the first word", "between two words"])
async def test_an_answer_after_half_a_minute(
    house: House, entry: ConfigEntry, puppet: Puppet, clock: FrozenDateTimeFactory, after: int
) -> None:
    """A model that reads for half a minute is waited for, and the agent stays available."""
    puppet.after = after
    puppet.go_on.clear()
    question = asyncio.create_task(house.ask("Count", "kitchen"))
    await puppet.held.wait()
    await passes(clock, 29)
    assert not question.done()
    puppet.go_on.set()
    assert speech(await question) == "One two."
    await later(house.hass, clock, 2)
    assert house.state != STATE_UNAVAILABLE


async def test_silence_for_half_an_hour(
    house: House, entry: ConfigEntry, puppet: Puppet, clock: FrozenDateTimeFactory
) -> None:
    """No one waits for ever: a server that went silent in its answer is given up at last."""
    puppet.go_on.clear()
    question = asyncio.create_task(house.ask("Count", "kitchen", language="fr"))
    await puppet.held.wait()
    # What was said before the silence has to arrive first.
    await passes(clock, 1)
    await passes(clock, 1790)
    assert not question.done()
    await passes(clock, 20)
    assert speech(await question).startswith("Le serveur de modèles")


async def test_a_server_that_dawdles(
    house: House,
    entry: ConfigEntry,
    puppet: Puppet,
    clock: FrozenDateTimeFactory,
    log: pytest.LogCaptureFixture,
) -> None:
    """A server that needs half a minute to say its version is not there, until it is quicker."""
    puppet.holds = "/api/version"
    puppet.go_on.clear()
    for _ in range(2):
        puppet.held.clear()
        await passes(clock, POLL_S)
        await puppet.held.wait()
        await passes(clock, 30)
        await house.hass.async_block_till_done()
        assert house.state == STATE_UNAVAILABLE
    puppet.go_on.set()
    await later(house.hass, clock, POLL_S)
    assert house.state == STATE_UNKNOWN
    assert [level for level, _ in lines(log)] == ["ERROR", "INFO"]


GARBAGE = {
    "nothing": (b"", "broken_answer"),
    "no JSON": (b"\x00\xff\xfe<html>", "broken_answer"),
    "half of it": (b'{"version": "0.3', "broken_answer"),
    "a list": (b"[1, 2, 3]", "not_ollama"),
    "a number": (b"7", "not_ollama"),
    "other fields": (b'{"version": 7, "models": "none", "message": "no"}', "broken_answer"),
    "other words": (
        b'{"message": {"content": 7, "thinking": [1], "tool_calls": {"a": 1}}, "done": true}',
        "no_answer",
    ),
    "other calls": (
        b'{"message": {"tool_calls": [7, {"function": 3}]}, "done": true, "eval_count": "x"}',
        "no_answer",
    ),
}


@pytest.mark.parametrize(("garbage", "key"), GARBAGE.values(), ids=GARBAGE)
async def test_garbage(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    entry: ConfigEntry,
    puppet: Puppet,
    clock: FrozenDateTimeFactory,
    log: pytest.LogCaptureFixture,
    garbage: bytes,
    key: str,
) -> None:
    """What cannot be understood is an error like any other, and the next answer is read."""
    puppet.garbage = garbage
    for language in ("en", "fr"):
        await heard(house, key, puppet.url, language)
    assert lines(log) == []
    for _ in range(3):
        await later(house.hass, clock, POLL_S)
        assert house.state == STATE_UNAVAILABLE
    assert [level for level, _ in lines(log)] == ["ERROR"]
    puppet.garbage = None
    await later(house.hass, clock, POLL_S)
    assert speech(await house.ask("Count")) == "One two."
    assert [level for level, _ in lines(log)] == ["ERROR", "INFO"]
    assert "Traceback" not in log.text


async def test_away_for_an_hour(
    house: House, ollama: Ollama, clock: FrozenDateTimeFactory, log: pytest.LogCaptureFixture
) -> None:
    """One line when it goes and one when it is back, and then the agent is warmed by itself."""
    entry = await house.set_up(add_server(house.hass, ollama.url, auto_warm=True, warm_interval=10))
    await later(house.hass, clock, 10)
    assert ollama.records
    coordinator = entry.runtime_data
    log.clear()
    await ollama.run(ollama.stand_in.stop())
    for minute in range(60):
        await later(house.hass, clock, 60)
        assert house.state == STATE_UNAVAILABLE
        if minute in (1, 30, 59):
            for language in ("en", "fr"):
                await heard(house, "cannot_connect", ollama.url, language)
        await coordinator.warmth.async_wake("agent", "en")
    assert [level for level, _ in lines(log)] == ["ERROR"]
    ollama.records.clear()
    await ollama.run(ollama.stand_in.start())
    await later(house.hass, clock, POLL_S)
    assert house.state != STATE_UNAVAILABLE
    await later(house.hass, clock, 10)
    assert ollama.records
    (turn,) = turns(await house.ask("hello", "kitchen"))
    assert turn["verdict"] == "warm"
    assert [level for level, _ in lines(log)] == ["ERROR", "INFO"]
    assert entry.runtime_data is coordinator


async def test_back_as_another_version(
    house: House, ollama: Ollama, clock: FrozenDateTimeFactory, log: pytest.LogCaptureFixture
) -> None:
    """An older server is warmed in its own way, its missing counts are reported; and back again."""
    entry = await house.set_up(add_server(house.hass, ollama.url, auto_warm=True))
    await later(house.hass, clock, 10)
    coordinator = entry.runtime_data
    log.clear()
    for version, verdict, expected in (
        ("0.33.2", "unknown", {"no_cached_counts"}),
        ("0.36.0", "warm", set()),
    ):
        await ollama.run(ollama.stand_in.stop())
        await later(house.hass, clock, POLL_S)
        assert house.state == STATE_UNAVAILABLE
        ollama.stand_in.version = version
        await ollama.run(ollama.stand_in.start())
        await later(house.hass, clock, POLL_S)
        await later(house.hass, clock, 10)
        assert coordinator.data.version == version
        assert coordinator.store.way("tiny").version == version
        assert set(issues(house.hass)) == expected
        (turn,) = turns(await house.ask("hello", "kitchen"))
        assert turn["verdict"] == verdict
        assert set(issues(house.hass)) == expected
    levels = [level for level, text in lines(log) if "is not warm: no_count" not in text]
    assert levels == ["ERROR", "INFO"] * 2
    assert entry.runtime_data is coordinator
