"""The WebSocket commands: who may ask what, and that no one's words are sent."""

from collections.abc import Awaitable, Callable
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    WebSocketGenerator,
)

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.config_entries import ConfigEntry

from .support.house import AGENT, House
from .support.scripts import says
from .support.server import Ollama

type Ask = Callable[..., Awaitable[dict[str, Any]]]

CONTRACT = {
    "prompt_tokens",
    "cached_tokens",
    "re_read_tokens",
    "prefill_s",
    "load_s",
    "total_s",
    "verdict",
    "reason",
    "node",
}


@pytest.fixture
async def ask(house: House, agent: ConfigEntry, hass_ws_client: WebSocketGenerator) -> Ask:
    """Return a connection of an administrator, or of whoever the user has become."""
    client = await hass_ws_client(house.hass)

    async def ask(command: str, **data: object) -> dict[str, Any]:
        await client.send_json_auto_id({"type": f"ollama_warm/{command}"} | data)
        answer: dict[str, Any] = await client.receive_json()
        return answer

    return ask


@pytest.fixture
def guest(hass_admin_user: User) -> User:
    """Make the user of the connection one who may see everything, but is no administrator."""
    hass_admin_user.groups = []
    hass_admin_user.mock_policy({"entities": True})  # type: ignore[attr-defined]
    return hass_admin_user


def result(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a command that succeeded, in the contract's version."""
    assert answer["success"], answer
    found: dict[str, Any] = answer["result"]
    assert found["version"] == 1
    return found


async def test_turns(house: House, ask: Ask, ollama: Ollama) -> None:
    """The last turns of each agent, the oldest first, as the contract has them."""
    assert result(await ask("turns"))["agents"] == [
        {"entity_id": AGENT, "name": "Warm", "turns": []}
    ]
    await house.ask("hello", "kitchen")
    await house.ask("ping", conversation_id="ollama_warm.x")
    (sent,) = result(await ask("turns", entity_id=AGENT))["agents"]
    first, second = sent["turns"]
    assert set(first) == set(second) == CONTRACT | {"ended", "occasion"}
    assert (first["occasion"], first["reason"]) == ("question", "first_prompt")
    assert (second["occasion"], second["verdict"], second["reason"]) == ("warm_up", "warm", None)
    assert second["cached_tokens"] == ollama.records[-1].cached_tokens
    (last,) = result(await ask("turns", limit=1))["agents"]
    assert last["turns"] == [second]


@pytest.mark.parametrize(
    "data", [{"limit": 0}, {"limit": 501}, {"limit": "all"}, {"entity_id": "warm"}]
)
async def test_turns_asked_wrongly(ask: Ask, data: dict[str, object]) -> None:
    """What makes no sense is refused."""
    answer = await ask("turns", **data)
    assert answer["error"]["code"] == "invalid_format"


async def test_turns_of_no_one(ask: Ask) -> None:
    """An entity that is no agent has no turns."""
    answer = await ask("turns", entity_id="light.ceiling")
    assert answer["error"]["code"] == "not_found"


async def test_counts_are_for_everyone(house: House, ask: Ask, guest: User) -> None:
    """Someone without rights sees the counts and of what kind a reason is, not a word more."""
    await house.ask("hello", "kitchen")
    house.expose("light.bedside", exposed=False)
    await house.ask("hello", "kitchen")
    answer = await ask("turns")
    (agent,) = result(answer)["agents"]
    assert [turn["reason"] for turn in agent["turns"]] == ["first_prompt", "segment_changed"]
    assert "Bedside" not in json.dumps(answer)


async def test_an_administrator_sees_what_changed(house: House, ask: Ask) -> None:
    """The quote of the system text is for administrators."""
    await house.ask("hello", "kitchen")
    house.expose("light.bedside", exposed=False)
    await house.ask("hello", "kitchen")
    (agent,) = result(await ask("turns"))["agents"]
    assert agent["turns"][-1]["reason"].startswith("segment_changed: - names: Bedside")


async def test_no_ones_words(house: House, ask: Ask, ollama: Ollama) -> None:
    """Neither what is asked nor what is answered is sent to anyone."""
    ollama.stand_in.script = says("The zeppelin is on.")
    await house.ask("Turn on the xylophone", "kitchen", conversation_id="talk")
    await house.ask("And the xylophone?", "kitchen", conversation_id="talk")
    for answer in (await ask("turns"), await ask("agents"), await ask("prefix", entity_id=AGENT)):
        assert result(answer)
        text = json.dumps(answer)
        assert "xylophone" not in text
        assert "zeppelin" not in text


async def test_agents(house: House, ask: Ask, guest: User, freezer: FrozenDateTimeFactory) -> None:
    """Each agent with its model, and how and when its last turn was."""
    expected = {"entity_id": AGENT, "name": "Warm", "model": "tiny", "verdict": None, "ended": None}
    assert result(await ask("agents"))["agents"] == [expected]
    await house.ask("hello", "kitchen")
    (sent,) = result(await ask("agents"))["agents"]
    (turns,) = result(await ask("turns"))["agents"]
    (turn,) = turns["turns"]
    assert sent == expected | {"verdict": "prompt_changed", "ended": turn["ended"]}


async def test_agents_that_are_not_set_up(house: House, ask: Ask, agent: ConfigEntry) -> None:
    """An agent whose server is not set up is left out, and is back afterwards."""
    await house.hass.config_entries.async_unload(agent.entry_id)
    for command in ("agents", "turns"):
        assert result(await ask(command))["agents"] == []
    answer = await ask("prefix", entity_id=AGENT)
    assert answer["error"]["translation_key"] == "agent_not_loaded"
    await house.set_up(agent)
    assert len(result(await ask("agents"))["agents"]) == 1


async def test_who_may_not_see_an_agent(ask: Ask, guest: User) -> None:
    """An agent that someone may not see does not exist for them."""
    guest.mock_policy({"entities": {"entity_ids": {"light.ceiling": {POLICY_READ: True}}}})  # type: ignore[attr-defined]
    for command in ("agents", "turns"):
        assert result(await ask(command))["agents"] == []
    assert (await ask("turns", entity_id=AGENT))["error"]["code"] == "not_found"


async def test_prefix(house: House, ask: Ask, ollama: Ollama) -> None:
    """An administrator sees what is sent in front of every question."""
    await house.ask("hello", "kitchen")
    found = result(await ask("prefix", entity_id=AGENT))
    assert found["stable"] == ollama.messages[0]["content"]
    assert found["tools"] == ollama.body["tools"]
    assert found["moving"] == []


async def change_prompt(house: House, agent: ConfigEntry, prompt: str) -> None:
    """Give the agent other instructions, in which a sensor that says 1 may be."""
    house.hass.states.async_set("sensor.day", "1")
    subentry = agent.subentries["agent"]
    data = {**subentry.data, "prompt": prompt}
    house.hass.config_entries.async_update_subentry(agent, subentry, data=data)
    await house.hass.async_block_till_done()


async def test_what_moves(house: House, ask: Ask, agent: ConfigEntry) -> None:
    """Lines that are known to move are shown as they are now, with an estimate of their length."""
    await change_prompt(house, agent, "Be brief.\nDay {{ states('sensor.day') }}.\nBe kind.")
    for day in range(2, 5):
        await house.ask("hello")
        house.hass.states.async_set("sensor.day", str(day))
    found = result(await ask("prefix", entity_id=AGENT))
    assert found["moving"] == ["Day 4."]
    assert 1 < found["moving_tokens_estimated"] < 7
    assert "Day" not in found["stable"]


async def test_what_moves_in_a_prompt_that_cannot_be_built(
    house: House, ask: Ask, agent: ConfigEntry
) -> None:
    """It is looked for in the prompt of now, so it is said why there is none."""
    await change_prompt(house, agent, "One in {{ 1 / (states('sensor.day') | int) }}.")
    house.hass.states.async_set("sensor.day", "0")
    answer = await ask("prefix", entity_id=AGENT)
    assert answer["error"]["code"] == "home_assistant_error"
    assert answer["error"]["translation_key"] == "prompt_cannot_be_built"


async def test_the_prefix_is_for_administrators(ask: Ask, guest: User) -> None:
    """No one else sees the prompt."""
    answer = await ask("prefix", entity_id=AGENT)
    assert answer["error"]["code"] == "unauthorized"


async def test_the_prefix_of_no_one(ask: Ask) -> None:
    """An entity that is no agent is said so, for the user's language to be found."""
    answer = await ask("prefix", entity_id="light.ceiling")
    assert answer["error"] == {
        "code": "not_found",
        "message": "light.ceiling is not an agent of Ollama Warm",
        "translation_key": "not_an_agent",
        "translation_domain": "ollama_warm",
        "translation_placeholders": {"entity_id": "light.ceiling"},
    }
