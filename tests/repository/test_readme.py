"""The README and its pages say everything that there is; their examples work in Home Assistant."""

from pathlib import Path
import re
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    async_mock_service,
)

from custom_components.ollama_warm.agent.explanation import Mark
from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.problems.problem import Problem, issue_id
from custom_components.ollama_warm.turns.shown import logged_turn_as_dict, turn_as_dict
from custom_components.ollama_warm.turns.turn_log import Cause, LoggedTurn
from custom_components.ollama_warm.turns.turns import Reason, Turn, Verdict
from homeassistant.components import persistent_notification
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from .readme import PAGES, examples, plain, section
from .repository import COMPONENT, ROOT, TRANSLATIONS, WARMER, committed, loaded, sources

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
LONGEST_README = 220
EARLY = 50
ENGLISH = loaded(TRANSLATIONS / "en.json")
AGENT = "conversation.ollama_warm"
TURN = Turn(
    prompt_tokens=10009,
    cached_tokens=2000,
    prefill_s=7.25,
    load_s=None,
    total_s=None,
    verdict=Verdict.SERVER_LOST_IT,
    reason=Reason.EVICTED,
)


def anchors(page: Path) -> set[str]:
    """Return the names by which the headings of a page can be pointed at."""
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", plain(page.read_text()), re.MULTILINE)
    }


def test_entities() -> None:
    """Each entity that has a name is there."""
    names = [entity["name"] for one in ENGLISH["entity"].values() for entity in one.values()]
    text = section("Entities")
    assert len(names) > 10
    assert [name for name in names if f"| {name} |" not in text] == []


def test_options() -> None:
    """Each field of the forms is there."""
    agent = ENGLISH["config_subentries"]["conversation"]["step"]["agent"]["sections"]
    names = [*agent["basics"]["data"].values(), *agent["performance"]["data"].values()]
    names.append(agent["prompt"]["data"]["prompt"])
    text = section("Options of an agent")
    assert [name for name in names if f"| {name} |" not in text] == []
    for name in ENGLISH["config"]["step"]["server"]["data"].values():
        assert f"   | {name} |" in section("Set up")
    for name in ENGLISH["options"]["step"]["init"]["data"].values():
        assert f"| {name} |" in section("Options of a server")


def test_actions_and_commands() -> None:
    """Each action, mark and WebSocket command is there."""
    actions, commands = section("Actions"), section("WebSocket commands")
    assert all(f"| `{DOMAIN}.{name}` |" in actions for name in ENGLISH["services"])
    assert all(f"| `{mark}` |" in actions for mark in Mark)
    names = re.findall(r'"(ollama_warm/\w+)"', (COMPONENT / "websocket_api.py").read_text())
    assert len(names) == 3
    assert all(f"| `{name}` |" in commands for name in names)


def test_verdicts_and_reasons() -> None:
    """Each verdict and reason is there, in the order of the code."""
    rows = re.findall(r"^\| `(\w+)` \|", section("Troubleshooting"), re.MULTILINE)
    assert rows == [*(verdict.value for verdict in Verdict), *(reason.value for reason in Reason)]


def test_repairs() -> None:
    """There is one row for each kind of issue."""
    assert len(re.findall(r"^\| (?!issue)\w", section("Repairs"), re.MULTILINE)) == len(Problem)


@pytest.mark.parametrize("page", [*PAGES, CONTRIBUTING], ids=lambda page: page.name)
def test_links(page: Path) -> None:
    """What a page points to is there, with the heading that is named."""
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert link.startswith("https://") or (
            target.is_file() and (not anchor or anchor in anchors(target))
        ), link


@pytest.mark.parametrize("folder", [ROOT, WARMER], ids=["integration", "warmer"])
def test_a_readme_is_read_in_one_go(folder: Path) -> None:
    """What serves few stands on the pages beside it."""
    assert len((folder / "README.md").read_text().splitlines()) <= LONGEST_README


def test_installing_comes_early() -> None:
    """Before it there is nothing but what the integration promises."""
    lines = (ROOT / "README.md").read_text().splitlines()
    headings = [line for line in lines if line.startswith("## ")]
    assert headings[0] == "## Install"
    assert lines.index("## Install") < EARLY


def test_every_page_is_listed() -> None:
    """The list of pages says for whom each one is."""
    listed = (ROOT / "docs" / "README.md").read_text()
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert len(pages) > 4
    assert [name for name in pages if f"]({name})" not in listed] == []


def test_recipes_name_what_is_there() -> None:
    """Each file and test that CONTRIBUTING.md names in full is in the repository."""
    text = CONTRIBUTING.read_text()
    names = re.findall(r"`([\w./-]+\.(?:py|json|md))(?:::(\w+))?`", text)
    paths = committed()
    assert len(names) > 40
    for name, test in names:
        found = [path for path in paths if f"/{path.relative_to(ROOT)}".endswith(f"/{name}")]
        assert found, name
        assert not test or f"def {test}(" in "".join(path.read_text() for path in found), test
    everywhere = "".join(path.read_text() for path in sources(ROOT / "tests"))
    for test in re.findall(r"`(test_\w+)`", text):
        assert f"def {test}(" in everywhere, test


@pytest.fixture
async def notes(hass: HomeAssistant) -> list[ServiceCall]:
    """Set up the automations, with stand-ins for our actions, and return what is sent to phones."""

    async def warm(_call: ServiceCall) -> ServiceResponse:
        return {AGENT: turn_as_dict(TURN, quote=False)}

    async def explain(call: ServiceCall) -> ServiceResponse:
        assert call.data == {"entity_id": [AGENT], "turns": 1}
        turn = LoggedTurn(dt_util.utcnow(), Cause.QUESTION, TURN)
        return {
            AGENT: {"turns": [logged_turn_as_dict(turn, quote=True)], "prompt": [], "tools": []}
        }

    hass.services.async_register(DOMAIN, "warm", warm, supports_response=SupportsResponse.OPTIONAL)
    hass.services.async_register(
        DOMAIN, "explain", explain, supports_response=SupportsResponse.ONLY
    )
    sent: list[ServiceCall] = async_mock_service(hass, "notify", "notify")
    assert await async_setup_component(hass, "persistent_notification", {})
    assert await async_setup_component(hass, "automation", {"automation": [*examples()]})
    await hass.async_block_till_done()
    states = hass.states.async_all("automation")
    assert [state.state for state in states] == ["on"] * 3
    return sent


async def shown(hass: HomeAssistant) -> list[tuple[str | None, str]]:
    """Return title and message of what Home Assistant shows."""
    await hass.async_block_till_done()
    there: dict[str, Any] = persistent_notification._async_get_or_create_notifications(hass)
    return [(note["title"], note["message"]) for note in there.values()]


async def test_the_example_of_an_update(hass: HomeAssistant, notes: list[ServiceCall]) -> None:
    """An Ollama that is back is warmed for, and a person is notified if it is not warm then."""
    sensor = "sensor.http_192_168_1_20_11434_ollama_version"
    hass.states.async_set(sensor, "unavailable")
    assert await shown(hass) == []
    hass.states.async_set(sensor, "0.34.0")
    assert await shown(hass) == [
        ("The assistant is not warm", "server_lost_it: evicted, 8009 tokens")
    ]


async def test_the_example_of_a_cold_agent(hass: HomeAssistant, notes: list[ServiceCall]) -> None:
    """A person is notified of a cold agent, not of other issues, nor when it is over."""
    for kind in (Problem.OFFLOAD, Problem.COLD):
        ir.async_create_issue(
            hass,
            DOMAIN,
            issue_id(kind, "agent"),
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key="cold_evicted",
        )
        await hass.async_block_till_done()
        assert len(notes) == (kind is Problem.COLD)
    ir.async_delete_issue(hass, DOMAIN, issue_id(Problem.COLD, "agent"))
    await hass.async_block_till_done()
    assert [note.data["title"] for note in notes] == ["The assistant does not get warm"]


async def test_the_example_of_a_slow_answer(hass: HomeAssistant, notes: list[ServiceCall]) -> None:
    """The counts and the reason of a slow answer are given."""
    hass.states.async_set("sensor.ollama_warm_re_read_tokens", "47")
    assert await shown(hass) == []
    hass.states.async_set("sensor.ollama_warm_re_read_tokens", "8009")
    assert await shown(hass) == [
        (
            "Why the last answer was slow",
            "8009 of 10009 tokens were read again in 7.2 seconds. server_lost_it: evicted",
        )
    ]
