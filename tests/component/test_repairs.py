"""Fix flows: what they say, and what they change."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
import re
import string
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.typing import (  # type: ignore[import-untyped]
    ClientSessionGenerator,
)

from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.problems.windows import longest
from custom_components.ollama_warm.repairs import AgentFixFlow, async_create_fix_flow
from custom_components.ollama_warm.turns.turn_log import async_forget_turns
from homeassistant.auth.models import User
from homeassistant.config_entries import ConfigEntry
from homeassistant.setup import async_setup_component
from tests.repository.repository import COMPONENT, TRANSLATIONS, loaded as loaded_json
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server
from .support.issues import add_agent, add_core_agent, change, issues, ours
from .support.sentences import sentence
from .support.server import Ollama
from .test_issues import CLOCK, STATE, prompt_of

type Fix = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def fix(house: House, hass_client: ClientSessionGenerator) -> Fix:
    """Return what begins the fix flow of an issue, or goes on with one, as the interface does."""
    assert await async_setup_component(house.hass, "repairs", {})
    client = await hass_client()

    async def fix(key: str = "", flow_id: str = "") -> dict[str, Any]:
        url = f"/api/repairs/issues/fix/{flow_id}".rstrip("/")
        issue_id = issues(house.hass)[key].issue_id if key else ""
        body = {"handler": DOMAIN, "issue_id": issue_id} if key else {}
        response = await client.post(url, json=body)
        assert response.status == HTTPStatus.OK, await response.text()
        result: dict[str, Any] = await response.json()
        await house.hass.async_block_till_done()
        return result

    return fix


async def read(house: House, key: str, form: dict[str, Any], language: str = "en") -> str:
    """Return the text of a form as it is shown; all its values must be there."""
    assert (form["type"], form["step_id"]) == ("form", "confirm")
    return await sentence(
        house.hass,
        "issues",
        f"{key}.fix_flow.step.confirm.description",
        form["description_placeholders"],
        language,
    )


async def aborted(house: House, key: str, result: dict[str, Any]) -> str:
    """Return the text of a flow that ended without doing anything."""
    assert result["type"] == "abort"
    return await sentence(house.hass, "issues", f"{key}.fix_flow.abort.{result['reason']}")


async def test_keep_as_it_is(house: House, ollama: Ollama, fix: Fix) -> None:
    """What moves is shown with its places, and kept once that was read."""
    prompt = f"Be brief.\n{CLOCK}\n{STATE}"
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    form = await fix("moving_part")
    text = await read(house, "moving_part", form)
    assert "\n- 2:10 `now().strftime('%H:%M')`\n- 3:16 `states('lock.safe')`\n" in text
    assert "Warm" in await read(house, "moving_part", form, "fr")
    result = await fix(flow_id=form["flow_id"])
    assert result["type"] == "create_entry"
    assert ours(house.hass) == set()
    assert entry.subentries["agent"].data["prompt"] == prompt
    await house.ask("hello")
    await house.hass.config_entries.async_reload(entry.entry_id)
    assert issues(house.hass) == {}
    change(house.hass, entry, "agent", prompt=f"{prompt}\n{{{{ now().second }}}}")
    await house.hass.async_block_till_done()
    assert set(issues(house.hass)) == {"moving_part"}


async def test_a_larger_window(house: House, agent: ConfigEntry, ollama: Ollama, fix: Fix) -> None:
    """The window is made larger, and the next question is asked with it."""
    await prompt_of(house, 8000)
    form = await fix("window_too_small")
    text = await read(house, "window_too_small", form)
    assert text.startswith("The prompt of Warm fills its context window of 8192 tokens")
    assert "give tiny a context window of 12288 tokens" in text
    assert (await fix(flow_id=form["flow_id"]))["type"] == "create_entry"
    assert agent.subentries["agent"].data["num_ctx"] == 12288
    assert ours(house.hass) == set()
    await house.ask("hello")
    assert ollama.body["options"]["num_ctx"] == 12288


async def test_as_long_as_the_model_can(
    house: House, agent: ConfigEntry, ollama: Ollama, fix: Fix
) -> None:
    """No window is larger than what the model was made for."""
    shown = {"model_info": {"general.architecture": "llama", "llama.context_length": 10000}}
    await prompt_of(house, 8000)
    with patch.object(OllamaClient, "show", return_value=shown):
        form = await fix("window_too_small")
        assert form["description_placeholders"]["new_num_ctx"] == "10000"
        await fix(flow_id=form["flow_id"])
        assert agent.subentries["agent"].data["num_ctx"] == 10000
        async_forget_turns(house.hass, {"agent"})
        await prompt_of(house, 9999)
        result = await fix("window_too_small")
    assert result["reason"] == "longest_already"
    assert "expose fewer entities" in await aborted(house, "window_too_small", result)
    assert set(issues(house.hass)) == {"window_too_small"}


SHOWN: list[tuple[dict[str, Any], int | None]] = [
    ({}, None),
    ({"model_info": []}, None),
    ({"model_info": {}}, None),
    ({"model_info": {"general.architecture": "llama"}}, None),
    ({"model_info": {"general.architecture": "llama", "llama.context_length": "4"}}, None),
    ({"model_info": {"general.architecture": "llama", "llama.context_length": 4096}}, 4096),
]


@pytest.mark.parametrize(("shown", "expected"), SHOWN)
def test_what_a_model_was_made_for(shown: dict[str, Any], expected: int | None) -> None:
    """The longest context of a model, where the server reports it."""
    assert longest(shown) == expected


async def test_a_server_that_does_not_say(
    house: House, agent: ConfigEntry, ollama: Ollama, fix: Fix
) -> None:
    """Without an answer of the server nothing is changed, and the next attempt works."""
    await prompt_of(house, 8000)
    ollama.stand_in.fault = Fault(FaultKind.STATUS_500, paths=("/api/show",))
    result = await fix("window_too_small")
    assert result["reason"] == "server_does_not_answer"
    assert "Check that Ollama is running" in await aborted(house, "window_too_small", result)
    ollama.stand_in.fault = None
    form = await fix("window_too_small")
    await house.hass.config_entries.async_unload(agent.entry_id)
    result = await fix(flow_id=form["flow_id"])
    assert result["reason"] == "entry_not_loaded"
    assert await aborted(house, "window_too_small", result)
    assert agent.subentries["agent"].data["num_ctx"] == 8192


async def test_take_over_the_window_of_an_agent(
    house: House, agent: ConfigEntry, ollama: Ollama, fix: Fix
) -> None:
    """The agent gets the other's window, and both agree."""
    add_core_agent(house.hass, ollama.url, num_ctx=16384)
    await house.ask("hello")
    form = await fix("other_window_of_agent")
    text = await read(house, "other_window_of_agent", form)
    assert "Warm uses tiny with a context window of 8192 tokens" in text
    assert "give Warm 16384 tokens, too" in text
    assert (await fix(flow_id=form["flow_id"]))["type"] == "create_entry"
    assert agent.subentries["agent"].data["num_ctx"] == 16384
    assert ours(house.hass) == set()


async def test_take_over_a_window_that_was_seen(
    house: House, agent: ConfigEntry, ollama: Ollama, fix: Fix
) -> None:
    """The agent gets the window that the model was found with."""
    await prompt_of(house, 100)
    with patch.object(OllamaClient, "loaded") as loaded:
        for num_ctx in (8192, 4096):
            loaded.return_value = [{"name": "tiny:latest", "context_length": num_ctx}]
            await agent.runtime_data.async_refresh()
        form = await fix("other_window_seen")
        assert "loaded with 4096" in await read(house, "other_window_seen", form)
        await fix(flow_id=form["flow_id"])
    assert agent.subentries["agent"].data["num_ctx"] == 4096
    assert ours(house.hass) == set()


@pytest.mark.parametrize("gone", ["agent", "server"])
async def test_an_agent_that_is_gone(
    house: House, agent: ConfigEntry, ollama: Ollama, fix: Fix, gone: str
) -> None:
    """An agent that was removed while the form was open is said so."""
    add_agent(house.hass, agent, "second")
    await house.hass.async_block_till_done()
    await prompt_of(house, 8000)
    form = await fix("window_too_small")
    if gone == "agent":
        house.hass.config_entries.async_remove_subentry(agent, "agent")
    else:
        await house.hass.config_entries.async_remove(agent.entry_id)
    await house.hass.async_block_till_done()
    result = await fix(flow_id=form["flow_id"])
    assert result["reason"] == "agent_gone"
    assert await aborted(house, "window_too_small", result)


async def test_only_administrators(
    house: House,
    agent: ConfigEntry,
    hass_client: ClientSessionGenerator,
    hass_admin_user: User,
) -> None:
    """No one else begins a fix flow, which shows the instructions."""
    assert await async_setup_component(house.hass, "repairs", {})
    change(house.hass, agent, "agent", prompt=CLOCK)
    await house.hass.async_block_till_done()
    hass_admin_user.groups = []
    client = await hass_client()
    issue_id = issues(house.hass)["moving_part"].issue_id
    response = await client.post(
        "/api/repairs/issues/fix", json={"handler": DOMAIN, "issue_id": issue_id}
    )
    assert response.status == HTTPStatus.UNAUTHORIZED


async def test_an_issue_of_another_kind(house: House) -> None:
    """What needs nothing but a confirmation gets one."""
    flow = await async_create_fix_flow(house.hass, "something", None)
    assert not isinstance(flow, AgentFixFlow)


WORDS = loaded_json(TRANSLATIONS / "en.json")["issues"]


def test_no_words_are_missing() -> None:
    """Every issue that is raised has its words, and no words are without an issue."""
    source = (COMPONENT / "problems" / "checks.py").read_text()
    assert set(re.findall(r'key="(\w+)"|"(cold_\w+)"', source)) == {
        ("", key) if key.startswith("cold_") else (key, "") for key in WORDS
    }


@pytest.mark.parametrize("key", WORDS)
async def test_every_issue_has_its_words(house: House, key: str) -> None:
    """A title and either a description or a flow; its values are those that are given."""
    assert set(WORDS[key]) in ({"title", "description"}, {"title", "fix_flow"})
    form = {"agent", "model", "num_ctx", "new_num_ctx", "line", "places"}
    issue = {"agent", "other", "model", "num_ctx", "other_num_ctx", "line", "lines"}
    issue |= {"server", "version", "percent", "tokens"}
    assert _values(WORDS[key]["title"]) <= issue
    if "description" in WORDS[key]:
        assert _values(WORDS[key]["description"]) <= issue
    else:
        step = WORDS[key]["fix_flow"]["step"]["confirm"]
        assert _values(step["description"]) <= form
        assert _values(step["title"]) <= _values(WORDS[key]["title"])


def _values(text: str) -> set[str]:
    """Return the names of the values that a text wants."""
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}
