"""A search for canaries: hidden names, anybody's words, and secrets are found nowhere.

Each place is searched for all of them, and has something of its own in it that is there on
purpose, which the same search does find.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
import json

import pytest

from tests.rig.hass_api import until

from . import canary_search as search
from .canary_scene import AGENT, HIDDEN, KEY, MODEL, NEVER, STAYS, WORDS, Scene, scene
from .canary_search import found

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

WAIT_SECONDS = 60


@pytest.fixture(scope="module", name="played")
async def _played(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """One scene for all tests of this file."""
    async with scene(tmp_path_factory.mktemp("canaries")) as played:
        yield played


def assert_nothing(text: str, played: Scene, on_purpose: str) -> None:
    """Assert that no canary is in a text, but what is there on purpose."""
    assert found(text, {"control": on_purpose}) == ["control"]
    assert found(text, played.canaries) == []


async def test_every_canary_was_where_it_may_be(played: Scene) -> None:
    """Each name was told to the model while it was in sight, and each word was said."""
    before = played.sent(end=played.hidden_at)
    assert set(found(played.named(), HIDDEN)) == set(HIDDEN)
    from_server = {"the thoughts of the model", "what the server quotes in its error"}
    said = {what: word for what, word in WORDS.items() if what not in from_server}
    assert set(found(before, said)) == set(said)
    asked = json.dumps([str(answer) for answer in played.script.values()])
    assert set(found(asked, WORDS)) >= from_server
    assert found(before, NEVER | played.secrets) == []


async def test_the_wire(played: Scene) -> None:
    """What is hidden is not sent any more, whoever asks, and nothing else ever is."""
    after = played.sent(played.hidden_at)
    assert found(after, {"control": STAYS}) == ["control"]
    assert found(after, HIDDEN | NEVER | played.secrets) == []
    keys = [record.headers.get("Authorization") for record in played.server.records]
    assert set(keys) == {f"Bearer {KEY}"}


async def test_administrators_are_told(played: Scene) -> None:
    """The search finds names where they may be: the prefix as it was is for administrators."""
    assert "an entity that is un-exposed" in found("\n".join(played.told), HIDDEN)


async def test_replies_and_answers(played: Scene) -> None:
    """Nothing that an ordinary user is answered has more in it than their own question."""
    for command in ("agents", "turns"):
        await played.command(f"ollama_warm/{command}")
    await played.command("ollama_warm/turns", entity_id=played.agent)
    await played.command("ollama_warm/prefix", entity_id=played.agent)
    explain = {"domain": "ollama_warm", "service": "explain", "return_response": True}
    await played.command("call_service", **explain, target={"entity_id": played.agent})
    answers = "\n".join(played.said)
    assert answers.count("Unauthorized") == 2
    assert answers.count("segment_changed") + answers.count("tool_changed") >= 2
    assert_nothing(answers, played, AGENT)


async def test_states(played: Scene) -> None:
    """Neither states nor attributes."""
    assert_nothing(await search.own_states(played.house), played, AGENT)


async def test_events(played: Scene) -> None:
    """Nothing on the bus, for automations and for whoever listens."""
    events = played.bus.of(await search.own_entities(played.house))
    assert "state_changed" in {event["event_type"] for event in events}
    assert_nothing(json.dumps(events), played, "ollama_warm_not_warmed")


async def test_logbook(played: Scene) -> None:
    """Neither in the lines about our entities."""
    look = partial(search.logbook, played.house)

    async def line() -> str:
        text = await look()
        return text if "could not be warmed" in text else ""

    async with asyncio.timeout(WAIT_SECONDS):
        assert_nothing(await until(line), played, AGENT)


async def test_diagnostics(played: Scene) -> None:
    """What a person attaches to a report."""
    assert_nothing(await search.diagnostics(played.house), played, MODEL)


async def test_system_health(played: Scene) -> None:
    """What a person copies from the system information."""
    assert_nothing(await search.system_health(played.house), played, "servers_reachable")


async def test_entries_and_issues(played: Scene) -> None:
    """Titles, options and repairs."""
    assert_nothing(await search.notices(played.house), played, AGENT)


async def test_the_log(played: Scene) -> None:
    """All of Home Assistant's log, with ours at debug level."""
    log = played.house.log_path.read_text(errors="replace")
    assert f"{played.agent} has a new stable prefix" in log
    assert_nothing(log, played, "DEBUG")


async def test_files(played: Scene) -> None:
    """What is stored soon after everything is hidden; credentials are in the entry's data only."""

    async def is_purged() -> bool:
        return not found(json.dumps(search.stored(played.folder)), HIDDEN)

    async with asyncio.timeout(WAIT_SECONDS):
        await until(is_purged)
    await played.house.stop()
    files = search.stored(played.folder)
    credentials = files.pop("credentials")
    assert found(credentials, played.secrets)[:1] == ["the API key"]
    assert found(credentials, HIDDEN | NEVER | WORDS) == []
    there = {"a light": STAYS, "the agent": AGENT}
    assert found(json.dumps(files), there) == [*there]
    for name, text in files.items():
        assert found(text, played.canaries) == [], name
    await played.house.start()
