"""Questions and warm-ups that fail: not warm, and a repair says which line of the instructions."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.agent.failing import parts_of
from custom_components.ollama_warm.tools.words import LANGUAGES
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import STATE_ON, STATE_UNKNOWN
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import issue_registry as ir
from tests.rig.ollama import Fault, FaultKind, Scripted

from .support.house import House, add_server, how_it_is, later
from .support.issues import change, issues, ours
from .support.scripts import call
from .support.server import Ollama
from .support.shown import entity_of, shown, warm
from .test_repairs import Fix, aborted, fix as fix_flow, read

fix = fix_flow
FAILS = {
    "a number": ("Be brief.\nIt is {{ states('sensor.x') | float + 1 }} degrees.", 2),
    "in a condition": ("a\nb\n{% if states('sensor.x') | int > 3 %}warm{% endif %}", 3),
    "in a loop": ("{% for i in [1] %}\n\n- {{ i / (states('sensor.x') | int) }}\n{% endfor %}", 3),
    "of nothing": ("\n\n\n{{ state_attr('sensor.x', 'a')['b'] + 1 }}", 4),
    "a date": ("x\n{{ strptime(states('sensor.x'), '%H').hour }}", 2),
    "in a macro": (
        "{% macro m(x) %}\n{{ x | int }}\n{% endmacro %}\n{{ m(states('sensor.x')) }}",
        4,
    ),
}


async def warmed(house: House, ollama: Ollama, prompt: str, **options: Any) -> ConfigEntry:  # noqa: ANN401
    """Return the entry of an agent that is warm, its sensor there."""
    set_sensor(house, "4", a={"b": 1})
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt, **options))
    await house.hass.services.async_call("ollama_warm", "warm", {"entity_id": "all"}, blocking=True)
    await house.ask("hello")
    assert warm(house.hass) == STATE_ON
    assert float(shown(house.hass, "warm_share")) == 100
    return entry


def set_sensor(house: House, state: str, **attributes: object) -> None:
    """Set the state that the instructions look at."""
    house.hass.states.async_set("sensor.x", state, attributes)


@pytest.mark.parametrize(("prompt", "line"), FAILS.values(), ids=FAILS)
async def test_instructions_that_fail_at_times(
    house: House, ollama: Ollama, prompt: str, line: int
) -> None:
    """Each question that fails is not warm; the line is reported as long as it fails."""
    await warmed(house, ollama, prompt)
    set_sensor(house, "unavailable")
    result = await house.ask("hello")
    assert result.response.response_type.value == "error"
    assert warm(house.hass) == STATE_UNKNOWN
    assert float(shown(house.hass, "warm_share")) == 50
    assert shown(house.hass, "re_read_tokens") == STATE_UNKNOWN
    assert shown(house.hass, "last_reason") == "failed"
    issue = issues(house.hass)["failing_prompt"]
    assert issue.severity is ir.IssueSeverity.ERROR
    # Everyone may list issues, and the instructions are for administrators.
    assert issue.translation_placeholders == {"agent": "Warm", "line": str(line)}
    assert "sensor.x" not in str(issue)
    await house.ask("hello")
    assert round(float(shown(house.hass, "warm_share"))) == 33
    assert issues(house.hass)["failing_prompt"].created == issue.created
    set_sensor(house, "4", a={"b": 1})
    await house.ask("hello")
    assert "failing_prompt" not in issues(house.hass)
    assert warm(house.hass) == STATE_ON


async def test_a_warm_up_that_fails(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """It is neither warm nor a warm-up, and the next that works takes the issue back."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    entry = await warmed(house, ollama, FAILS["a number"][0])
    freezer.tick(60)
    set_sensor(house, "unknown")
    with pytest.raises(HomeAssistantError):
        await entry.runtime_data.warmth.async_warm("agent")
    await house.hass.async_block_till_done()
    assert warm(house.hass) == STATE_UNKNOWN
    assert shown(house.hass, "last_warm_up") == "2026-11-30T12:00:00+00:00"
    assert float(shown(house.hass, "warm_share")) == 100
    assert set(issues(house.hass)) >= {"failing_prompt"}
    set_sensor(house, "5")
    await entry.runtime_data.warmth.async_warm("agent")
    await house.hass.async_block_till_done()
    assert warm(house.hass) == STATE_ON
    assert "failing_prompt" not in issues(house.hass)


@pytest.mark.parametrize("conversation_id", [None, "ollama_warm.x"])
async def test_a_server_that_fails(
    house: House, ollama: Ollama, conversation_id: str | None
) -> None:
    """It is not warm while it answers no one, and no line is blamed."""
    await warmed(house, ollama, "Be brief.")
    ollama.stand_in.fault = Fault(FaultKind.STATUS_500, paths=("/api/chat",))
    await house.ask("hello", conversation_id=conversation_id)
    assert warm(house.hass) == STATE_UNKNOWN
    assert float(shown(house.hass, "warm_share")) == (100 if conversation_id else 50)
    ollama.stand_in.fault = None
    await house.ask("hello", conversation_id=conversation_id)
    assert warm(house.hass) == STATE_ON
    assert "failing_prompt" not in issues(house.hass)


async def test_a_question_that_fails_after_its_tool(house: House, ollama: Ollama) -> None:
    """That its first call was warm does not make it a warm question."""
    await warmed(house, ollama, "Be brief.")

    def calls_a_tool(_body: dict[str, Any]) -> Scripted:
        ollama.stand_in.fault = Fault(FaultKind.STATUS_500, paths=("/api/chat",))
        return Scripted(tool_calls=[call("llm__GetDateTime")])

    ollama.stand_in.script = calls_a_tool
    await house.ask("what time is it")
    assert warm(house.hass) == STATE_UNKNOWN
    assert float(shown(house.hass, "warm_share")) == 50


async def test_one_room_that_fails(house: House, ollama: Ollama) -> None:
    """What fails in one room stays reported while the app works."""
    kitchen = house.satellites["kitchen"]
    prompt = f"a\n{{{{ 1 / (0 if llm_context.device_id == '{kitchen}' else 1) }}}}"
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    for _ in range(2):
        await entry.runtime_data.warmth.async_warm("agent")
        await house.ask("hello")
        await house.ask("hello", "bedroom")
        assert issues(house.hass)["failing_prompt"].translation_placeholders == {
            "agent": "Warm",
            "line": "2",
        }


async def test_all_rooms_that_failed(house: House, ollama: Ollama) -> None:
    """Once a warm-up works, so do all rooms, whether each was looked at by itself or not."""
    entry = await warmed(house, ollama, FAILS["a number"][0])
    await entry.runtime_data.warmth.async_warm("agent")
    set_sensor(house, "unknown")
    for room in (None, "kitchen", "bedroom"):
        await house.ask("hello", room)
    assert "failing_prompt" in issues(house.hass)
    set_sensor(house, "4")
    await entry.runtime_data.warmth.async_warm("agent")
    await house.hass.async_block_till_done()
    assert "failing_prompt" not in issues(house.hass)


async def test_other_instructions(house: House, ollama: Ollama) -> None:
    """What fails in some instructions is not said of others."""
    entry = await warmed(house, ollama, FAILS["a number"][0])
    set_sensor(house, "unknown")
    await house.ask("hello")
    assert "failing_prompt" in issues(house.hass)
    await house.hass.config_entries.async_reload(entry.entry_id)
    assert "failing_prompt" in issues(house.hass)
    change(house.hass, entry, "agent", prompt="Be brief.")
    await house.hass.async_block_till_done()
    assert ours(house.hass) == set()


async def test_the_fix(house: House, ollama: Ollama, fix: Fix) -> None:
    """It shows an administrator what stands there, and tries it again."""
    entry = await warmed(house, ollama, FAILS["a number"][0])
    set_sensor(house, "unknown")
    await house.ask("hello")
    form = await fix("failing_prompt")
    for language in LANGUAGES:
        text = await read(house, "failing_prompt", form, language)
        assert "\n- 2: `{{ states('sensor.x') | float + 1 }}`\n" in text
    result = await fix(flow_id=form["flow_id"])
    assert "still fail" in await aborted(house, "failing_prompt", result)
    assert "failing_prompt" in issues(house.hass)
    form = await fix("failing_prompt")
    set_sensor(house, "3")
    assert (await fix(flow_id=form["flow_id"]))["type"] == "create_entry"
    assert "failing_prompt" not in issues(house.hass)
    set_sensor(house, "unknown")
    await house.ask("hello")
    await house.hass.config_entries.async_unload(entry.entry_id)
    assert how_it_is(entry).value == "not_loaded"
    result = await fix("failing_prompt")
    assert "not set up" in await aborted(house, "failing_prompt", result)
    assert entity_of(house.hass, "sensor", "re_read_tokens")


async def test_a_question_that_is_asked_before(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A failure becomes as old as any question."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    await warmed(house, ollama, FAILS["a number"][0])
    set_sensor(house, "unknown")
    await house.ask("hello")
    await later(house.hass, freezer, 24 * 3600)
    assert shown(house.hass, "warm_share") == STATE_UNKNOWN


def test_what_stands_in_a_line() -> None:
    """Each expression and statement that touches the line, in their order."""
    prompt = "{{ a }}\n{{ b }} {% if c\n%}x{{ d }}\n{# {{ e }} #}"
    assert parts_of(prompt, 1) == ["{{ a }}"]
    assert parts_of(prompt, 2) == ["{{ b }}", "{% if c\n%}"]
    assert parts_of(prompt, 3) == ["{% if c\n%}", "{{ d }}"]
    assert parts_of(prompt, 9) == []
