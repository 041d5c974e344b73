"""Sensors: what the last question cost, as the server counted it."""

from dataclasses import replace

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    mock_restore_cache,
)

from custom_components.ollama_warm.turns.turn_log import Cause, async_log_turn, async_show_turns
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, later
from .support.scripts import says
from .support.server import NUM_CTX, Ollama
from .support.shown import all_enabled, entity_of, says_loaded, shown
from .support.warmed import POLL_S, turn

OF_A_QUESTION = (
    "re_read_tokens",
    "prompt_tokens",
    "cached_share",
    "prefill_time",
    "time_to_first_token",
    "last_reason",
)
HOUR_S = 3600


async def set_up(house: House, ollama: Ollama) -> None:
    """Set up a server, all its entities enabled."""
    with all_enabled():
        await house.set_up(add_server(house.hass, ollama.url))


def log(hass: HomeAssistant, verdict: Verdict, cause: Cause = Cause.QUESTION) -> None:
    """Log a turn with a verdict."""
    async_log_turn(hass, "agent", cause, turn(verdict))
    async_show_turns(hass, "agent")


async def test_a_question(house: House, ollama: Ollama) -> None:
    """Each sensor shows what the server counted, as soon as the answer is complete."""
    await set_up(house, ollama)
    assert {shown(house.hass, key) for key in OF_A_QUESTION} == {STATE_UNKNOWN}
    for words, reason in (("hello", "first_prompt"), ("hello again", "nothing")):
        await house.ask(words, "kitchen")
        record = ollama.records[-1]
        prompt, cached = record.prompt_tokens, record.cached_tokens
        assert prompt is not None
        assert cached is not None
        assert float(shown(house.hass, "prompt_tokens")) == prompt
        assert float(shown(house.hass, "re_read_tokens")) == prompt - cached
        assert float(shown(house.hass, "cached_share")) == pytest.approx(100 * cached / prompt)
        assert float(shown(house.hass, "prefill_time")) > 0
        assert float(shown(house.hass, "time_to_first_token")) > 0
        assert shown(house.hass, "last_reason") == reason
    assert float(shown(house.hass, "warm_share")) == 50


async def test_a_warm_up(house: House, ollama: Ollama, freezer: FrozenDateTimeFactory) -> None:
    """It has a time of its own, and is no question."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    await set_up(house, ollama)
    assert shown(house.hass, "last_warm_up") == STATE_UNKNOWN
    await house.ask("ping", conversation_id="ollama_warm.x")
    assert shown(house.hass, "last_warm_up") == "2026-11-30T12:00:00+00:00"
    freezer.tick(60)
    await house.ask("hello")
    await house.ask("ping", conversation_id="ollama_warm.x")
    assert shown(house.hass, "last_warm_up") == "2026-11-30T12:01:00+00:00"
    assert float(shown(house.hass, "warm_share")) == 100
    assert float(shown(house.hass, "time_to_first_token")) >= 0


async def test_no_counts(house: House, ollama: Ollama) -> None:
    """What a server does not report is unknown, never 0, whatever was known before."""
    await set_up(house, ollama)
    await house.ask("hello")
    ollama.stand_in.reports_cached = False
    ollama.stand_in.script = says("Hello.")
    await house.ask("hello again")
    for key in ("re_read_tokens", "cached_share"):
        assert shown(house.hass, key) == STATE_UNKNOWN
    assert float(shown(house.hass, "prompt_tokens")) > 0
    assert shown(house.hass, "last_reason") == "no_count"
    # The first one was known, and cold.
    assert float(shown(house.hass, "warm_share")) == 0


async def test_nothing_counted_at_all(house: House, ollama: Ollama) -> None:
    """A turn without any figure shows none."""
    await set_up(house, ollama)
    nothing = replace(
        turn(Verdict.UNKNOWN, Reason.NO_COUNT), prompt_tokens=0, cached_tokens=0, prefill_s=None
    )
    async_log_turn(house.hass, "agent", Cause.QUESTION, nothing)
    for key in ("cached_share", "prefill_time", "time_to_first_token", "warm_share"):
        assert shown(house.hass, key) == STATE_UNKNOWN


async def test_the_share_of_a_day(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """Known questions of the last 24 hours count, and no others; time alone changes it as well."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    await set_up(house, ollama)
    hass = house.hass
    log(hass, Verdict.WARM, Cause.WARM_UP)
    assert shown(hass, "warm_share") == STATE_UNKNOWN
    log(hass, Verdict.UNKNOWN)
    assert shown(hass, "warm_share") == STATE_UNKNOWN
    log(hass, Verdict.SERVER_LOST_IT)
    assert float(shown(hass, "warm_share")) == 0
    await later(hass, freezer, HOUR_S)
    for _ in range(2):
        log(hass, Verdict.WARM)
    log(hass, Verdict.PROMPT_CHANGED)
    log(hass, Verdict.UNKNOWN)
    assert float(shown(hass, "warm_share")) == 50
    await later(hass, freezer, 23 * HOUR_S - 1)
    assert float(shown(hass, "warm_share")) == 50
    await later(hass, freezer, 1)
    assert float(shown(hass, "warm_share")) == pytest.approx(200 / 3)
    await later(hass, freezer, HOUR_S)
    assert shown(hass, "warm_share") == STATE_UNKNOWN
    log(hass, Verdict.WARM)
    assert float(shown(hass, "warm_share")) == 100


async def test_a_reload(house: House, ollama: Ollama, freezer: FrozenDateTimeFactory) -> None:
    """What was measured is still shown after a reload, and still becomes old."""
    await set_up(house, ollama)
    log(house.hass, Verdict.WARM)
    await house.hass.config_entries.async_reload("server")
    assert float(shown(house.hass, "re_read_tokens")) == 10
    assert float(shown(house.hass, "warm_share")) == 100
    await later(house.hass, freezer, 24 * HOUR_S)
    assert shown(house.hass, "warm_share") == STATE_UNKNOWN
    assert await house.hass.config_entries.async_unload("server")


async def test_a_restart(house: House, ollama: Ollama) -> None:
    """What was shown before a restart was not measured now, and is not shown again."""
    entry = add_server(house.hass, ollama.url)
    await house.set_up(entry)
    entity_id = entity_of(house.hass, "sensor", "re_read_tokens")
    await house.hass.config_entries.async_unload(entry.entry_id)
    mock_restore_cache(house.hass, [State(entity_id, "12")])
    await house.set_up(entry)
    assert shown(house.hass, "re_read_tokens") == STATE_UNKNOWN


async def test_the_server(house: House, ollama: Ollama, freezer: FrozenDateTimeFactory) -> None:
    """Its version, which of its agents' models it has loaded, and with what context length."""

    async def says(**models: int) -> tuple[str, str]:
        with says_loaded(**models):
            await later(house.hass, freezer, POLL_S)
        return shown(house.hass, "loaded_model", "server"), shown(
            house.hass, "context_length", "server"
        )

    await set_up(house, ollama)
    assert shown(house.hass, "version", "server") == "0.35.1"
    assert await says(other=4096) == ("none", STATE_UNKNOWN)
    assert await says(other=4096, tiny=NUM_CTX) == ("tiny", str(NUM_CTX))
    # Not reported is not 0.
    assert await says(tiny=0) == ("tiny", STATE_UNKNOWN)
    ollama.stand_in.version = "0.36.0"
    assert await says() == ("none", STATE_UNKNOWN)
    assert shown(house.hass, "version", "server") == "0.36.0"


async def test_the_server_is_away(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """All sensors are unavailable while the server is."""
    await set_up(house, ollama)
    log(house.hass, Verdict.WARM)
    ollama.stand_in.fault = Fault(FaultKind.HTML, paths=("/api/version",))
    await later(house.hass, freezer, POLL_S)
    assert shown(house.hass, "re_read_tokens") == STATE_UNAVAILABLE
    assert shown(house.hass, "version", "server") == STATE_UNAVAILABLE
    ollama.stand_in.fault = None
    await later(house.hass, freezer, POLL_S)
    assert float(shown(house.hass, "re_read_tokens")) == 10
