"""The logbook: a line for each warm-up that did not do what it should."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.components.recorder.common import (  # type: ignore[import-untyped]
    async_wait_recording_done,
)
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    RecorderInstanceContextManager,
    WebSocketGenerator,
)

from custom_components.ollama_warm.ollama.errors import CannotConnectError, OllamaError
from custom_components.ollama_warm.turns.events import (
    EVENT_NOT_WARMED,
    async_report_failed,
    async_report_not_warm,
)
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.components.conversation import ConverseError
from homeassistant.components.recorder.core import Recorder
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from .support.house import AGENT, House
from .support.warmed import turn

COMMON = "component.ollama_warm.common.not_warmed_"


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: RecorderInstanceContextManager) -> None:
    """Prepare the database before Home Assistant starts."""


async def lines(hass: HomeAssistant, client: WebSocketGenerator) -> list[dict[str, Any]]:
    """Return what the logbook says of the agent."""
    await async_wait_recording_done(hass)
    websocket = await client()
    await websocket.send_json_auto_id(
        {
            "type": "logbook/get_events",
            "start_time": dt_util.start_of_local_day().isoformat(),
            "entity_ids": [AGENT],
        }
    )
    answer = await websocket.receive_json()
    assert answer["success"]
    return [line for line in answer["result"] if line.get("domain") == "ollama_warm"]


@pytest.mark.parametrize(
    ("language", "cold", "failed"),
    [
        (
            "en",
            "is not warm after a warm-up, because the server dropped the prompt",
            "could not be warmed up, because the server does not answer",
        ),
        (
            "fr",
            "n\u2019est pas chaud après un préchauffage, car le serveur a oublié l\u2019invite",
            "n\u2019a pas pu être préchauffé, car le serveur ne répond pas",
        ),
    ],
)
async def test_the_lines(  # noqa: PLR0913, PLR0917 (fixtures)
    recorder_mock: Recorder,
    house: House,
    agent: ConfigEntry,
    hass_ws_client: WebSocketGenerator,
    language: str,
    cold: str,
    failed: str,
) -> None:
    """Each is a sentence about the agent, in the language of the house."""
    hass = house.hass
    hass.config.language = language
    await async_get_translations(hass, language, "common", {"ollama_warm"})
    assert await async_setup_component(hass, "logbook", {})
    await hass.async_block_till_done()
    async_report_not_warm(hass, AGENT, turn(Verdict.SERVER_LOST_IT, Reason.EVICTED))
    async_report_failed(hass, AGENT, CannotConnectError(url="http://zeppelin"))
    hass.bus.async_fire(EVENT_NOT_WARMED, {"entity_id": AGENT, "reason": "of a later version"})
    hass.bus.async_fire(EVENT_NOT_WARMED, {"entity_id": "conversation.gone", "reason": "evicted"})
    reported = await lines(hass, hass_ws_client)
    assert [(line["name"], line["message"]) for line in reported[:2]] == [
        ("Warm", cold),
        ("Warm", failed),
    ]
    assert failed.startswith(reported[2]["message"])
    assert "zeppelin" not in str(reported)
    assert len(reported) == 3


async def test_an_agent_that_is_gone(
    recorder_mock: Recorder, house: House, agent: ConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """Its lines are still there, under its entity's id."""
    assert await async_setup_component(house.hass, "logbook", {})
    await house.hass.async_block_till_done()
    async_report_not_warm(house.hass, AGENT, turn(Verdict.UNKNOWN, Reason.NO_COUNT))
    house.hass.states.async_remove(AGENT)
    (line,) = await lines(house.hass, hass_ws_client)
    assert line["name"] == AGENT


ERRORS: list[HomeAssistantError] = [
    *(error() for error in OllamaError.__subclasses__()),
    ConverseError("Zeppelin", "talk", intent.IntentResponse("en")),
    HomeAssistantError("Zeppelin"),
]


async def test_each_reason_has_its_words(house: House, agent: ConfigEntry) -> None:
    """Whatever a warm-up may say of why it is not warm, or failed, is a line of its own."""
    texts = await async_get_translations(house.hass, "en", "common", {"ollama_warm"})
    reported: list[str] = []
    house.hass.bus.async_listen(
        EVENT_NOT_WARMED, lambda event: reported.append(event.data["reason"])
    )
    for error in ERRORS:
        async_report_failed(house.hass, AGENT, error)
    for reason in Reason:
        # A turn without a reason, or with one that takes no warmth away, is warm; a failed one
        # is reported by its error.
        if reason not in (Reason.NOTHING, Reason.RIDES_ALONG, Reason.FAILED):
            async_report_not_warm(house.hass, AGENT, turn(Verdict.PROMPT_CHANGED, reason))
    await house.hass.async_block_till_done()
    assert {f"{COMMON}{reason}" for reason in reported} == {key for key in texts if COMMON in key}
    assert len({texts[f"{COMMON}{reason}"] for reason in reported}) == len(reported)
