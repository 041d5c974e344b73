"""Issues in Home Assistant's repairs: raised once, and gone with their cause."""

import asyncio
from collections.abc import Generator
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock, patch

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.ollama_warm.agent.moving import CONF_KEPT_MOVING, moving_key
from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.turns.turn_log import Cause, async_forget_turns, async_log_turn
from custom_components.ollama_warm.turns.turns import Reason, Verdict
from homeassistant.config_entries import ConfigEntry, ConfigEntryDisabler
from homeassistant.helpers import issue_registry as ir
from tests.rig.ollama import Fault, FaultKind

from .support.house import House, add_server, later
from .support.issues import add_agent, add_core_agent, change, issues, ours
from .support.server import NUM_CTX, Ollama
from .support.warmed import POLL_S, turn, watched

CLOCK = "It is {{ now().strftime('%H:%M') }}."
STATE = "The safe is {{ states('lock.safe') }}."


@pytest.fixture
def loaded() -> Generator[AsyncMock]:
    """Return what decides which models the server says it has loaded."""
    with patch.object(OllamaClient, "loaded", return_value=[]) as loaded:
        yield loaded


def ps(**more: object) -> list[dict[str, Any]]:
    """Return how a server lists the model, whole on a GPU where nothing else is said."""
    model = {"name": "tiny:latest", "context_length": NUM_CTX, "size": 1000, "size_vram": 1000}
    return [model | more]


async def prompt_of(house: House, tokens: int | None, cached: int | None = 0) -> None:
    """Let a turn with a prompt of so many tokens have been."""
    counted = replace(turn(), prompt_tokens=tokens, cached_tokens=cached)
    async_log_turn(house.hass, "agent", Cause.QUESTION, counted)
    # What is looked at comes after the answer.
    await asyncio.sleep(0)


async def test_nothing_is_wrong(house: House, agent: ConfigEntry, loaded: AsyncMock) -> None:
    """An agent that is warm has no issues."""
    loaded.return_value = ps()
    await house.hass.services.async_call(DOMAIN, "warm", {"entity_id": "all"}, blocking=True)
    await agent.runtime_data.async_refresh()
    assert issues(house.hass) == {}


async def test_instructions_that_move(
    house: House, agent: ConfigEntry, issue_registry: ir.IssueRegistry
) -> None:
    """What moves is an issue with a way out, until it no longer moves."""
    change(house.hass, agent, "agent", prompt=f"Be brief.\n{CLOCK}")
    await house.hass.async_block_till_done()
    (issue,) = issues(house.hass).values()
    assert (issue.translation_key, issue.is_fixable) == ("moving_part", True)
    assert issue.severity is ir.IssueSeverity.WARNING
    # Everyone may list issues, and the instructions are for administrators.
    assert issue.translation_placeholders == {"agent": "Warm"}
    assert "now" not in str(issue.data)
    created = issue.created
    await house.ask("hello")
    await house.hass.config_entries.async_reload(agent.entry_id)
    assert issues(house.hass)["moving_part"].created == created
    change(house.hass, agent, "agent", prompt=f"Be quick.\n\n{CLOCK}")
    await house.hass.async_block_till_done()
    assert issues(house.hass)["moving_part"].created == created
    change(house.hass, agent, "agent", prompt=f"Be brief.\n{CLOCK}\n{STATE}")
    await house.hass.async_block_till_done()
    assert issues(house.hass)["moving_part"].issue_id != issue.issue_id
    assert len(ours(house.hass)) == 1
    change(house.hass, agent, "agent", prompt=None)
    await house.hass.async_block_till_done()
    assert ours(house.hass) == set()


RESTING = [
    "Today is {{ now().strftime('%A') }}.",
    "You speak with {{ user_name }}.",
    "Be brief.",
]


@pytest.mark.parametrize("prompt", RESTING)
async def test_instructions_that_cost_nothing(house: House, ollama: Ollama, prompt: str) -> None:
    """A day or a person in the instructions is kept out of the way without harm."""
    await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    add_core_agent(house.hass, ollama.url, prompt=prompt, num_ctx=NUM_CTX)
    assert issues(house.hass) == {}


async def test_instructions_that_are_kept(house: House, ollama: Ollama) -> None:
    """Someone who wants it so is not asked again, until something else moves."""
    kept = {CONF_KEPT_MOVING: moving_key(CLOCK)}
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=CLOCK, **kept))
    assert issues(house.hass) == {}
    change(house.hass, entry, "agent", prompt=f"Be brief.\n{CLOCK}")
    await house.hass.async_block_till_done()
    assert issues(house.hass) == {}
    change(house.hass, entry, "agent", prompt=STATE)
    await house.hass.async_block_till_done()
    assert set(issues(house.hass)) == {"moving_part"}


async def test_instructions_that_cannot_be_read(house: House, ollama: Ollama) -> None:
    """Where Home Assistant cannot read the template, it is said in which line."""
    prompt = f"Be brief.\n{CLOCK}\n{{{{ now( }}}}"
    entry = await house.set_up(add_server(house.hass, ollama.url, prompt=prompt))
    (issue,) = issues(house.hass).values()
    assert (issue.translation_key, issue.is_fixable) == ("unreadable_prompt", False)
    assert issue.severity is ir.IssueSeverity.ERROR
    assert issue.translation_placeholders == {"agent": "Warm", "line": "3"}
    change(house.hass, entry, "agent", prompt="Be brief.")
    await house.hass.async_block_till_done()
    assert ours(house.hass) == set()


async def test_instructions_of_core_agents(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """Agents of Home Assistant's own integration are looked at, too, whenever they change."""
    hass = house.hass
    entry = add_core_agent(hass, "http://other", prompt=f"Be brief.\n{CLOCK}\n{STATE}\n{CLOCK}")
    await house.ask("hello")
    (issue,) = issues(hass).values()
    assert (issue.translation_key, issue.is_fixable) == ("core_moving_part", False)
    assert issue.translation_placeholders == {"agent": "Core", "lines": "2, 3, 4"}
    assert issue.data is None
    change(hass, entry, "core", prompt="Be brief.")
    assert issues(hass) == {}
    change(hass, entry, "core", prompt=STATE)
    assert set(issues(hass)) == {"core_moving_part"}
    await hass.config_entries.async_set_disabled_by(entry.entry_id, ConfigEntryDisabler.USER)
    await house.ask("hello")
    assert ours(hass) == set()
    await hass.config_entries.async_remove(entry.entry_id)
    assert ours(hass) == set()


async def test_core_agents_are_nothing_to_us_any_more(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """With our last server our issues go, but not while it is set up again."""
    add_core_agent(house.hass, "http://other", prompt=CLOCK)
    change(house.hass, agent, "agent", prompt=CLOCK)
    await house.hass.async_block_till_done()
    both = ours(house.hass)
    assert len(both) == 2
    await house.hass.config_entries.async_unload(agent.entry_id)
    assert ours(house.hass) == both
    await house.set_up(agent)
    assert ours(house.hass) == both
    await house.hass.config_entries.async_remove(agent.entry_id)
    assert ours(house.hass) == set()


async def test_a_server_that_is_disabled(house: House, agent: ConfigEntry) -> None:
    """A server that no one wants has no issues; one that does not answer keeps them."""
    change(house.hass, agent, "agent", prompt=CLOCK)
    await house.hass.async_block_till_done()
    entries = house.hass.config_entries
    await entries.async_set_disabled_by(agent.entry_id, ConfigEntryDisabler.USER)
    assert ours(house.hass) == set()
    await entries.async_set_disabled_by(agent.entry_id, None)
    await house.hass.async_block_till_done()
    assert set(issues(house.hass)) == {"moving_part"}


async def test_an_agent_that_is_removed(house: House, agent: ConfigEntry) -> None:
    """The issues of an agent go with it."""
    change(house.hass, agent, "agent", prompt=CLOCK)
    await house.hass.async_block_till_done()
    house.hass.config_entries.async_remove_subentry(agent, "agent")
    await house.hass.async_block_till_done()
    assert ours(house.hass) == set()


async def test_ignored(
    house: House, agent: ConfigEntry, loaded: AsyncMock, issue_registry: ir.IssueRegistry
) -> None:
    """What someone ignores is ignored after a restart, too, even before it is seen again."""
    loaded.return_value = ps(size_vram=500)
    await agent.runtime_data.async_refresh()
    (issue,) = issues(house.hass).values()
    issue_registry.async_ignore(DOMAIN, issue.issue_id, ignore=True)
    await house.hass.config_entries.async_unload(agent.entry_id)
    # As it is when Home Assistant starts.
    issue_registry.issues[DOMAIN, issue.issue_id] = replace(
        issue_registry.issues[DOMAIN, issue.issue_id],
        active=False,
        data=None,
        translation_key=None,
        translation_placeholders=None,
    )
    loaded.return_value = []
    await house.set_up(agent)
    assert issues(house.hass) == {}
    loaded.return_value = ps(size_vram=500)
    await agent.runtime_data.async_refresh()
    assert issues(house.hass)["cpu_offload"].dismissed_version is not None
    loaded.return_value = ps()
    await agent.runtime_data.async_refresh()
    assert ours(house.hass) == set()


async def test_others_issues_are_left_alone(house: House, agent: ConfigEntry) -> None:
    """Only issues of the kinds that are looked for are taken back."""
    for domain, issue_id in ((DOMAIN, "something_else"), ("other", "moving_part.agent.x")):
        ir.async_create_issue(
            house.hass,
            domain,
            issue_id,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="something",
        )
    await house.ask("hello")
    house.hass.config_entries.async_update_entry(house.owner, title="Satellites")
    assert ours(house.hass) == {"something_else"}
    assert ir.async_get(house.hass).async_get_issue("other", "moving_part.agent.x")


async def test_a_prompt_that_does_not_fit(house: House, agent: ConfigEntry) -> None:
    """A prompt that fills its window is an issue; a conversation that does so once is none."""
    for tokens in (300, 8000, 8000, None):
        await prompt_of(house, tokens)
        assert issues(house.hass) == {}
    await prompt_of(house, 8000)
    assert set(issues(house.hass)) == {"window_too_small"}
    await prompt_of(house, 7372)
    assert ours(house.hass) == set()


async def test_what_a_prompt_needs(house: House, agent: ConfigEntry) -> None:
    """The next window holds the prompt and a conversation."""
    for tokens, num_ctx in ((8000, 12288), (8192, 12288), (12000, 16384), (300000, 262144)):
        async_forget_turns(house.hass, {"agent"})
        await prompt_of(house, tokens)
        issue = issues(house.hass)["window_too_small"]
        assert issue.severity is ir.IssueSeverity.ERROR
        assert issue.translation_placeholders == {"agent": "Warm", "num_ctx": "8192"}
        assert issue.data == {"entry_id": "server", "subentry_id": "agent", "num_ctx": num_ctx}


async def test_a_prompt_that_is_refused(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """A prompt that is much too long has no counts, so the prompt itself is measured, too."""
    long = "\n".join(f"Rule {number}: be kind to number {number}." for number in range(1200))
    await house.set_up(add_server(house.hass, ollama.url, prompt=long, num_ctx=4096))
    await house.ask("hello")
    await later(house.hass, freezer, POLL_S)
    issue = issues(house.hass)["window_too_small"]
    assert issue.data is not None
    assert int(issue.data["num_ctx"] or 0) >= 16384


async def test_a_window_that_is_larger_now(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """Enough room takes the issue back at once."""
    await prompt_of(house, 8000)
    assert set(issues(house.hass)) == {"window_too_small"}
    change(house.hass, agent, "agent", num_ctx=16384)
    await house.hass.async_block_till_done()
    assert ours(house.hass) == set()


WINDOWS = {
    "the same": (NUM_CTX, 100, None),
    "not said, which is the same": (None, 100, None),
    "larger": (16384, None, ("other_window_of_agent", 16384)),
    "smaller, and enough": (4096, 1000, ("other_window_of_agent", 4096)),
    "smaller, and not enough": (4096, 4000, ("other_window_must_change", None)),
    "smaller, and no one knows": (4096, None, ("other_window_must_change", None)),
}


@pytest.mark.parametrize(("theirs", "tokens", "expected"), WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("kind", ["conversation", "ai_task_data"])
async def test_two_windows(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    agent: ConfigEntry,
    ollama: Ollama,
    kind: str,
    theirs: int | None,
    tokens: int | None,
    expected: tuple[str, int | None] | None,
) -> None:
    """Another agent that has the same model loaded with another window is an issue."""
    if tokens:
        await prompt_of(house, tokens)
    options = {} if theirs is None else {"num_ctx": theirs}
    entry = add_core_agent(house.hass, f"{ollama.url}/", kind=kind, **options)
    change(house.hass, entry, "core", keep_alive=60)
    if expected is None:
        assert issues(house.hass) == {}
        return
    key, num_ctx = expected
    (issue,) = issues(house.hass).values()
    assert (issue.translation_key, issue.is_fixable) == (key, num_ctx is not None)
    assert (issue.data or {}).get("num_ctx") == num_ctx
    names = {"agent": "Warm", "model": "tiny", "num_ctx": "8192", "other_num_ctx": str(theirs)}
    assert issue.translation_placeholders == names | ({"other": "Core"} if num_ctx else {})
    change(house.hass, entry, "core", num_ctx=NUM_CTX)
    assert issues(house.hass) == {}


@pytest.mark.parametrize(
    ("url", "model"), [("http://other", "tiny"), ("{url}", "tiny:1b"), ("{url}", "other")]
)
async def test_another_model_or_server(
    house: House, agent: ConfigEntry, ollama: Ollama, url: str, model: str
) -> None:
    """Whoever uses another model or server may have any window."""
    await prompt_of(house, 100)
    entry = add_core_agent(house.hass, url.format(url=ollama.url), num_ctx=4096)
    change(house.hass, entry, "core", model=model)
    assert issues(house.hass) == {}


async def test_two_agents_of_ours(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """Of two agents of ours, the one with the smaller window can take over the larger one."""
    for name, options in {"like it": {}, "larger": {"num_ctx": 16384}}.items():
        add_agent(house.hass, agent, name, **options)
        await house.hass.async_block_till_done()
    assert ours(house.hass) == {"other_window.agent", "other_window.like it"}
    assert set(issues(house.hass)) == {"other_window_must_change"}
    house.hass.config_entries.async_remove_subentry(agent, "like it")
    await house.hass.async_block_till_done()
    (issue,) = issues(house.hass).values()
    assert issue.translation_key == "other_window_of_agent"
    assert issue.data == {"entry_id": "server", "subentry_id": "agent", "num_ctx": 16384}


async def test_three_that_do_not_agree(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """An agent that agrees with someone does not change sides."""
    await prompt_of(house, 100)
    entry = add_core_agent(house.hass, ollama.url, num_ctx=4096)
    add_agent(house.hass, agent, "larger", num_ctx=NUM_CTX)
    await house.hass.async_block_till_done()
    assert set(issues(house.hass)) == {"other_window_must_change"}
    change(house.hass, entry, "core", num_ctx=NUM_CTX)
    assert issues(house.hass) == {}


async def test_a_window_that_was_seen(
    house: House, agent: ConfigEntry, loaded: AsyncMock, freezer: FrozenDateTimeFactory
) -> None:
    """A model that was found with another window is an issue for a day after the last time."""
    hass, coordinator = house.hass, agent.runtime_data

    async def said(num_ctx: int) -> set[str]:
        loaded.return_value = ps(context_length=num_ctx)
        await coordinator.async_refresh()
        return set(issues(hass))

    # It may have been our own window, of before it was changed.
    assert await said(4096) == set()
    await prompt_of(house, 100)
    assert await said(8192) == set()
    assert await said(4096) == {"other_window_seen"}
    (issue,) = issues(hass).values()
    assert issue.data == {"entry_id": "server", "subentry_id": "agent", "num_ctx": 4096}
    assert issue.translation_placeholders == {
        "agent": "Warm",
        "model": "tiny",
        "num_ctx": "8192",
        "other_num_ctx": "4096",
    }
    assert await said(8192) == {"other_window_seen"}
    freezer.tick(24 * 3600 - 1)
    await prompt_of(house, 100)
    assert set(issues(hass)) == {"other_window_seen"}
    freezer.tick(2)
    await prompt_of(house, 100)
    assert ours(hass) == set()
    assert await said(8192) == set()
    assert await said(4096) == {"other_window_seen"}


async def test_a_window_that_is_always_there(
    house: House, agent: ConfigEntry, loaded: AsyncMock, freezer: FrozenDateTimeFactory
) -> None:
    """Also a server whose answer is the same each time is seen to have another window."""
    hass, coordinator = house.hass, agent.runtime_data
    loaded.return_value = ps(context_length=4096)
    await coordinator.async_refresh()
    for seconds, expected in ((0, set()), (59, set()), (61, {"other_window_seen"})):
        freezer.tick(seconds)
        await prompt_of(house, 100)
        assert set(issues(hass)) == expected


async def test_a_window_that_was_taken_over(
    house: House, agent: ConfigEntry, loaded: AsyncMock
) -> None:
    """Once the agent has the same window, nothing is wrong, also right after the change."""
    await agent.runtime_data.async_refresh()
    await prompt_of(house, 100)
    loaded.return_value = ps(context_length=4096)
    await agent.runtime_data.async_refresh()
    assert set(issues(house.hass)) == {"other_window_seen"}
    change(house.hass, agent, "agent", num_ctx=4096)
    await house.hass.async_block_till_done()
    assert ours(house.hass) == set()


async def test_a_server_that_is_too_old(
    house: House, ollama: Ollama, freezer: FrozenDateTimeFactory
) -> None:
    """Ollama before 0.33.3 cannot report what was cached, and an update helps."""
    ollama.stand_in.version = "0.33.2"
    entry = await house.set_up(add_server(house.hass, ollama.url))
    assert issues(house.hass) == {}
    await house.ask("hello")
    (issue,) = issues(house.hass).values()
    assert (issue.translation_key, issue.is_fixable) == ("no_cached_counts", False)
    assert issue.translation_placeholders == {"server": "Server", "version": "0.33.2"}
    ollama.stand_in.version = "0.33.3"
    await later(house.hass, freezer, POLL_S)
    assert entry.runtime_data.data.version == "0.33.3"
    assert ours(house.hass) == set()


@pytest.mark.parametrize("version", ["0.0.0", "0.33.2-with-counts"])
async def test_a_version_that_says_nothing(house: House, ollama: Ollama, version: str) -> None:
    """A server that does report what was cached is new enough, whatever it calls itself."""
    ollama.stand_in.version = version
    ollama.stand_in.reports_cached = True
    await house.set_up(add_server(house.hass, ollama.url))
    await house.ask("hello")
    assert issues(house.hass) == {}


OFFLOAD = {
    "whole": (ps(), None),
    "not reported": (ps(size_vram=None), None),
    "no size": (ps(size=0), None),
    "garbage": (ps(size="big", size_vram=True, context_length="long"), None),
    "not loaded": ([], None),
    "another model": (ps(name="other", size_vram=1), None),
    "in part": (ps(size_vram=749), "74"),
    "nearly": (ps(size=1000, size_vram=999), "99"),
    "not at all": (ps(size_vram=0), "0"),
}


@pytest.mark.parametrize(("models", "percent"), OFFLOAD.values(), ids=OFFLOAD)
async def test_a_model_on_the_processor(
    house: House,
    agent: ConfigEntry,
    loaded: AsyncMock,
    models: list[dict[str, Any]],
    percent: str | None,
) -> None:
    """A model that is not whole on a GPU reads prompts slowly."""
    loaded.return_value = models
    await agent.runtime_data.async_refresh()
    assert agent.runtime_data.last_update_success
    if percent is None:
        assert issues(house.hass) == {}
        return
    (issue,) = issues(house.hass).values()
    assert (issue.translation_key, issue.is_fixable) == ("cpu_offload", False)
    assert issue.translation_placeholders == {"agent": "Warm", "model": "tiny", "percent": percent}
    loaded.return_value = []
    await agent.runtime_data.async_refresh()
    assert set(issues(house.hass)) == {"cpu_offload"}
    loaded.return_value = ps()
    await agent.runtime_data.async_refresh()
    assert ours(house.hass) == set()


WHY = {
    Reason.FIRST_PROMPT: "cold_prompt_changed",
    Reason.SEGMENT_CHANGED: "cold_prompt_changed",
    Reason.TOOL_CHANGED: "cold_prompt_changed",
    Reason.MODEL_LOADED: "cold_model_loaded",
    Reason.OTHER_OPTIONS: "cold_other_options",
    Reason.OTHER_NODE: "cold_other_node",
    Reason.CHECKPOINT: "cold_checkpoint",
    Reason.EVICTED: "cold_evicted",
}


@pytest.mark.parametrize(("reason", "key"), WHY.items(), ids=str)
async def test_an_agent_that_stays_cold(
    house: House, agent: ConfigEntry, reason: Reason, key: str
) -> None:
    """After the third warm-up in a row that leaves an agent cold, the reason is an issue."""
    changed = reason in (Reason.FIRST_PROMPT, Reason.SEGMENT_CHANGED, Reason.TOOL_CHANGED)
    verdict = Verdict.PROMPT_CHANGED if changed else Verdict.SERVER_LOST_IT
    cold = replace(turn(verdict, reason), detail="- names: Safe")

    async def warm(times: int = 1) -> set[str]:
        for _ in range(times):
            await agent.runtime_data.warmth.async_warm("agent")
            await asyncio.sleep(0)
        return set(issues(house.hass))

    with watched() as watch:
        watch.warm_up.return_value = cold
        assert await warm(2) == set()
        watch.warm_up.return_value = turn()
        assert await warm() == set()
        watch.warm_up.return_value = cold
        assert await warm(2) == set()
        assert await warm() == {key}
        (issue,) = issues(house.hass).values()
        assert issue.translation_placeholders == {"agent": "Warm"}
        assert (issue.is_fixable, issue.data) == (False, None)
        assert await warm(4) == {key}
        # Until it was warmed again, no one knows.
        await house.hass.config_entries.async_reload(agent.entry_id)
        assert set(issues(house.hass)) == {key}
        assert await warm() == {key}
        watch.warm_up.return_value = turn(Verdict.UNKNOWN, Reason.NO_COUNT)
        assert await warm() == set()
        assert ours(house.hass) == set()


async def test_a_warm_up_that_fails_is_not_cold(
    house: House, agent: ConfigEntry, ollama: Ollama
) -> None:
    """That a server does not answer is shown by the agent's state."""
    ollama.stand_in.fault = Fault(FaultKind.STATUS_500)
    for _ in range(4):
        await agent.runtime_data.warmth.async_warm_all()
    assert issues(house.hass) == {}
