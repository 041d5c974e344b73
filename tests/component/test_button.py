"""The button that warms an agent now."""

from collections.abc import Generator
from unittest.mock import patch

import pytest

from custom_components.ollama_warm.turns.events import EVENT_NOT_WARMED
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from custom_components.ollama_warm.warming.warm_up import WarmUp
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import STATE_OFF, STATE_ON, STATE_UNKNOWN
from homeassistant.core import Event, callback
from homeassistant.exceptions import HomeAssistantError
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, turns
from .support.server import Ollama
from .support.shown import entity_of, shown, state_of, warm
from .support.warmed import turn


@pytest.fixture
def reported(house: House) -> Generator[list[Event]]:
    """Return what is reported of warm-ups that did not do what they should."""
    events: list[Event] = []

    @callback
    def listen(event: Event) -> None:
        events.append(event)

    stop = house.hass.bus.async_listen(EVENT_NOT_WARMED, listen)
    yield events
    stop()


async def press(house: House) -> None:
    """Press the button."""
    await house.hass.services.async_call(
        "button", "press", {"entity_id": entity_of(house.hass, "button", "warm_now")}, blocking=True
    )


async def test_it_warms(
    house: House, agent: ConfigEntry, ollama: Ollama, reported: list[Event]
) -> None:
    """After it, though the agent is not warmed by itself, each room's first question is warm."""
    assert state_of(house.hass, "button", "warm_now").state == STATE_UNKNOWN
    await press(house)
    assert warm(house.hass) == STATE_ON
    assert shown(house.hass, "last_warm_up") != STATE_UNKNOWN
    assert shown(house.hass, "last_reason") == STATE_UNKNOWN
    for room in ("kitchen", "bedroom", None):
        (asked,) = turns(await house.ask(f"Is it warm in the {room}?", room))
        assert asked["verdict"] == "warm"
    assert not reported


@pytest.mark.parametrize(
    ("kind", "key"), [(FaultKind.STATUS_500, "server_error"), (FaultKind.HTML, "not_ollama")]
)
async def test_it_fails(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    reported: list[Event],
    kind: FaultKind,
    key: str,
) -> None:
    """Whoever pressed it learns why, in their language, and so are logbook and automations."""
    ollama.stand_in.fault = Fault(kind, paths=("/api/chat", "/api/show"))
    with pytest.raises(HomeAssistantError) as raised:
        await press(house)
    assert (raised.value.translation_domain, raised.value.translation_key) == ("ollama_warm", key)
    (event,) = reported
    await house.hass.async_block_till_done()
    assert event.data == {
        "entity_id": "conversation.warm",
        "reason": key,
        "re_read_tokens": None,
    }
    assert warm(house.hass) == STATE_UNKNOWN
    ollama.stand_in.fault = None
    await press(house)
    assert warm(house.hass) == STATE_ON


async def test_no_prompt(house: House, ollama: Ollama, reported: list[Event]) -> None:
    """Instructions that cannot be rendered are reported, and nothing is sent."""
    await house.set_up(add_server(house.hass, ollama.url, prompt="It is {{ now( }}"))
    with pytest.raises(HomeAssistantError) as raised:
        await press(house)
    assert raised.value.translation_key == "prompt_cannot_be_built"
    assert [event.data["reason"] for event in reported] == ["no_prompt"]
    assert not ollama.records


async def test_something_else(house: House, agent: ConfigEntry, reported: list[Event]) -> None:
    """An error that is not ours is passed on as it is, and none of its words are reported."""
    error = HomeAssistantError("Zeppelin")
    with (
        patch.object(WarmUp, "async_warm", side_effect=error),
        pytest.raises(HomeAssistantError, match="Zeppelin"),
    ):
        await press(house)
    assert [event.data["reason"] for event in reported] == ["failed"]


async def test_not_warm_is_no_error(house: House, agent: ConfigEntry) -> None:
    """A warm-up that was answered, but not confirmed, is shown and raises nothing."""
    cold = turn(Verdict.SERVER_LOST_IT, Reason.EVICTED)
    with patch.object(WarmUp, "async_warm", return_value=cold):
        await press(house)
    assert warm(house.hass) == STATE_OFF
