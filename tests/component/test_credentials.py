"""Keys and passwords of a server: stored as such, sent to it, and found nowhere else."""

from base64 import b64encode
from collections.abc import AsyncGenerator
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
)

from custom_components.ollama_warm.const import DOMAIN
from custom_components.ollama_warm.diagnostics import async_get_config_entry_diagnostics
from custom_components.ollama_warm.flow.core_import import async_core_agents
from custom_components.ollama_warm.flow.migration import MINOR_VERSION
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.util import slugify

from .gate import Gate, gate
from .support.flows import add_core, answer, choose, fields, read_through, refused, start, suggested
from .support.house import OPTIONS, House, add_server, how_it_is, speech
from .support.issues import add_core_agent, issues
from .support.server import API_KEY, NUM_CTX, Ollama, answering, reply
from .test_core_import import CORE_AGENT, take_over
from .test_flow_server import asked_for_a_key, reconfigure

CANARY = "zeppelin"
# In front of the host -> what is stored.
USER_INFO: dict[str, dict[str, str]] = {
    "captain:zeppelin@": {"username": "captain", "password": CANARY},
    "zeppelin@": {"username": CANARY},
    "zeppelin:@": {"username": CANARY},
    ":zeppelin@": {"password": CANARY},
    "Zeppelin:%20zeppelin%20@": {"username": "Zeppelin", "password": f" {CANARY} "},
    "zep%40pelin:zeppelin%3A%2F%23@": {"username": "zep@pelin", "password": "zeppelin:/#"},
    "zeppelin@home:zep:pelin@": {"username": "zeppelin@home", "password": "zep:pelin"},
    "größe:zeppelinß@": {"username": "größe", "password": "zeppelinß"},
    "zeppelin%zz:zeppelin%@": {"username": "zeppelin%zz", "password": "zeppelin%"},
}
REST = (
    "?api_key=zeppelin",
    "/?token=zeppelin",
    "#zeppelin",
    "/#access_token=zeppelin",
    "?zeppelin",
)


@pytest.fixture
async def door(ollama: Ollama) -> AsyncGenerator[Gate]:
    """Return a proxy in front of the stand-in."""
    async with gate(ollama.url) as opened:
        yield opened


def basic(login: dict[str, str]) -> str:
    """Return the header for a user name and a password."""
    pair = f"{login.get('username', '')}:{login.get('password', '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def with_front(url: str, front: str) -> str:
    """Return an address with something in front of its host."""
    return url.replace("http://", f"http://{front}")


async def everything_shown(hass: HomeAssistant, entry: ConfigEntry) -> str:
    """Return all that anyone is shown of an entry, in lower case."""
    registry = er.async_get(hass)
    shown: list[Any] = [
        entry.title,
        entry.unique_id,
        await async_get_config_entry_diagnostics(hass, entry),
        [state.as_dict() for state in hass.states.async_all()],
        [one.extended_dict for one in er.async_entries_for_config_entry(registry, entry.entry_id)],
        [one.dict_repr for one in dr.async_get(hass).devices],
        [repr(issue) for issue in issues(hass).values()],
    ]
    return json.dumps(shown, default=str).lower()


@pytest.mark.parametrize(("front", "login"), USER_INFO.items(), ids=USER_INFO)
async def test_in_the_address(
    house: House, door: Gate, front: str, login: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """It becomes the stored credential, is sent as one, and is shown and logged nowhere."""
    hass = house.hass
    door.wants = basic(login)
    result = await answer(hass, await start(hass), url=with_front(door.url, front))
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, door.url)
    entry: ConfigEntry = result["result"]
    assert dict(entry.data) == {"url": door.url} | login
    assert how_it_is(entry) is ConfigEntryState.LOADED
    assert {visit.authorization for visit in door.visits} == {basic(login)}
    assert (await async_get_config_entry_diagnostics(hass, entry))["entry"]["has_password"]

    door.wants = "another one"
    await entry.runtime_data.async_refresh()
    await hass.async_block_till_done()
    assert CANARY not in await everything_shown(hass, entry)
    assert CANARY not in caplog.text.lower()


async def test_what_is_said(house: House, door: Gate, caplog: pytest.LogCaptureFixture) -> None:
    """A sentence about a refusal has the address without anything in it."""
    login = {"username": "captain", "password": CANARY}
    entry = add_server(house.hass, door.url)
    house.hass.config_entries.async_update_entry(entry, data=dict(entry.data) | login)
    await house.set_up(entry)
    door.wants = "another one"
    assert speech(await house.ask("hello")) == (
        f"The model server at {door.url} does not accept the user name and password. Enter the "
        "right ones in the settings of Ollama Warm."
    )
    door.wants, door.behind = None, "http://127.0.0.1:9"
    assert CANARY not in speech(await house.ask("hello"))
    assert CANARY not in caplog.text


@pytest.mark.parametrize("rest", REST)
async def test_behind_the_address(
    hass: HomeAssistant, door: Gate, rest: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It has no place in one: a sentence says so without it, and the rest can be submitted."""
    result = await answer(hass, await start(hass), url=with_front(door.url, "captain@") + rest)
    words = await refused(hass, result, "url")
    assert words.startswith("An address ends with its path.")
    assert suggested(result) == {"url": door.url, "username": "captain"}
    assert CANARY not in str(result["description_placeholders"])
    assert door.visits == []
    result = await answer(hass, result, **suggested(result))
    assert result["title"] == door.url
    assert CANARY not in caplog.text


BOTH = [
    {"url": "captain:zeppelin@", "api_key": API_KEY},
    {"url": "zeppelin@", "api_key": API_KEY},
    {"username": "captain", "password": CANARY, "api_key": API_KEY},
    {"url": "captain:zeppelin@", "password": "another"},
]


@pytest.mark.parametrize("typed", BOTH)
@pytest.mark.parametrize("again", [False, True])
async def test_two_credentials(
    house: House, door: Gate, typed: dict[str, str], *, again: bool
) -> None:
    """Which one is meant is asked in the form, whether the server is new or not."""
    hass = house.hass
    entry = await house.set_up(add_server(hass, door.url)) if again else None
    door.visits.clear()
    flow = await (reconfigure(hass, entry) if entry else start(hass))
    values = typed | {"url": with_front(door.url, typed.get("url", ""))}
    result = await answer(hass, flow, **values)
    assert (await refused(hass, result)).startswith("Two credentials were given")
    assert suggested(result)["url"] == door.url
    assert door.visits == []
    await answer(hass, result, url=door.url, username="captain", password=CANARY)
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    assert dict(entry.data) == {"url": door.url, "username": "captain", "password": CANARY}


@pytest.mark.parametrize("key", ["let\nme\nin", "let\rme", "let\x00me", "\x7f", "let\u2028me"])
async def test_a_key_that_no_header_can_hold(hass: HomeAssistant, door: Gate, key: str) -> None:
    """It is refused like any other wrong one."""
    result = await answer(hass, await start(hass), url=door.url, api_key=f"x{key}x")
    assert "does not accept this API key" in await refused(hass, result)
    assert door.visits == []


async def test_a_server_gets_a_password(house: House, door: Gate) -> None:
    """What is stored is in its fields, is used, and can be taken away again."""
    hass = house.hass
    login = {"username": "captain", "password": CANARY}
    entry = await house.set_up(add_server(hass, door.url, api_key=API_KEY))
    door.wants = basic(login)
    flow = await reconfigure(hass, entry)
    result = await answer(hass, flow, url=with_front(door.url, "captain:wrong@"))
    words = await refused(hass, result)
    assert words == f"The server at {door.url} does not accept this user name and password."
    assert suggested(result) == {"url": door.url, "username": "captain", "password": "wrong"}
    await answer(hass, result, url=with_front(door.url, "captain:zeppelin@"))
    assert dict(entry.data) == {"url": door.url} | login
    door.visits.clear()
    await house.ask("hello")
    assert {visit.authorization for visit in door.visits} == {basic(login)}
    door.wants = None
    flow = await reconfigure(hass, entry)
    assert suggested(flow) == dict(entry.data)
    await answer(hass, flow, url=door.url)
    assert dict(entry.data) == {"url": door.url}
    door.visits.clear()
    await house.ask("hello")
    assert {visit.authorization for visit in door.visits} == {None}


async def test_one_server_for_two_users(house: House, agent: ConfigEntry, ollama: Ollama) -> None:
    """A server that is set up is the same one with another credential in its address."""
    url = with_front(ollama.url, "captain:zeppelin@")
    result = await answer(house.hass, await start(house.hass), url=url)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")


STORED: list[tuple[dict[str, str], list[str], dict[str, str]]] = [
    ({}, ["api_key", "username", "password"], {}),
    ({"api_key": "old"}, ["api_key"], {}),
    (
        {"username": "captain", "password": "old"},
        ["username", "password"],
        {"username": "captain"},
    ),
    ({"username": "old"}, ["username", "password"], {}),
    ({"password": "old"}, ["username", "password"], {}),
]


@pytest.mark.parametrize(("stored", "asked", "known"), STORED)
async def test_asking_for_another(
    house: House, door: Gate, stored: dict[str, str], asked: list[str], known: dict[str, str]
) -> None:
    """What was refused is asked for, anything where nothing was sent, and then it is used."""
    hass = house.hass
    right = {"api_key": API_KEY} if "api_key" in stored else {"username": "a", "password": "b"}
    door.wants = f"Bearer {API_KEY}" if "api_key" in stored else basic(right)
    entry = add_server(hass, door.url)
    hass.config_entries.async_update_entry(entry, data=dict(entry.data) | stored)
    await house.set_up(entry)
    assert how_it_is(entry) is ConfigEntryState.SETUP_ERROR
    flow = await asked_for_a_key(hass)
    assert (fields(flow), suggested(flow)) == (asked, known)
    wrong = dict.fromkeys(right, "wrong")
    result = await answer(hass, flow, **wrong)
    words = "API key" if "api_key" in right else "user name and password"
    assert await refused(hass, result) == f"The server at {door.url} does not accept this {words}."
    result = await answer(hass, result, **right)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reauth_successful")
    assert how_it_is(entry) is ConfigEntryState.LOADED
    assert dict(entry.data) == {"url": door.url} | right


OLD: dict[str, tuple[str, str | None, dict[str, str]]] = {
    **{front: (front, None, login) for front, login in USER_INFO.items()},
    **{f"nothing, {rest}": ("", rest, {}) for rest in REST},
    "a user and a query": ("captain:zeppelin@", "/?token=zeppelin", USER_INFO["captain:zeppelin@"]),
    "nothing": ("", None, {}),
}


@pytest.mark.parametrize("there", [True, False], ids=["there", "away"])
@pytest.mark.parametrize(("front", "rest", "login"), OLD.values(), ids=OLD)
async def test_an_entry_of_before(  # noqa: PLR0913, PLR0917 (fixtures)
    house: House,
    door: Gate,
    front: str,
    rest: str | None,
    login: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    *,
    there: bool,
) -> None:
    """It sends the same as before, and its names lose what was secret in them."""
    hass = house.hass
    door.wants = basic(login) if login else None
    old = with_front(door.url, front) + (rest or "")
    entry = MockConfigEntry(
        domain=DOMAIN, entry_id="server", title=old, minor_version=2, data={"url": old}
    )
    entry.add_to_hass(hass)
    registry = er.async_get(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id="server", identifiers={(DOMAIN, "server")}, name=old
    )
    sensor = registry.async_get_or_create(
        "sensor",
        DOMAIN,
        "server_version",
        config_entry=entry,
        device_id=device.id,
        has_entity_name=True,
        object_id_base="Ollama version",
    )
    assert sensor.entity_id == f"sensor.{slugify(f'{old} Ollama version')}"
    caplog.clear()
    if not there:
        door.redirect = lambda *_: (302, "/login")
    await house.set_up(entry)
    assert (entry.title, entry.minor_version) == (door.url, MINOR_VERSION)
    assert dict(entry.data) == {"url": door.url} | login
    state = ConfigEntryState.LOADED if there else ConfigEntryState.SETUP_RETRY
    assert how_it_is(entry) is state
    moved = registry.async_get(sensor.id)
    assert moved is not None
    assert moved.entity_id == f"sensor.{slugify(f'{door.url} Ollama version')}"
    assert CANARY not in await everything_shown(hass, entry)
    assert CANARY not in caplog.text.lower()


TITLES = {
    "My server": "My server",
    "Big one (http://captain:zeppelin@nas)": "Big one (http://nas)",
    "http://zeppelin@elsewhere:11434": "http://elsewhere:11434",
    "https://nas/?token=zeppelin": "https://nas/",
    "me@home": "me@home",
}


@pytest.mark.parametrize(("title", "expected"), TITLES.items())
async def test_titles_of_before(house: House, ollama: Ollama, title: str, expected: str) -> None:
    """What its owner called a server stays, apart from what is secret in it."""
    entry = add_server(house.hass, ollama.url)
    house.hass.config_entries.async_update_entry(entry, title=title, minor_version=2)
    await house.set_up(entry)
    assert entry.title == expected


async def test_an_entry_with_both(house: House, door: Gate) -> None:
    """One of before that has a key, too, goes on with the key; neither was sent before."""
    door.wants = f"Bearer {API_KEY}"
    entry = add_server(house.hass, with_front(door.url, "captain:zeppelin@"), api_key=API_KEY)
    house.hass.config_entries.async_update_entry(entry, minor_version=2)
    await house.set_up(entry)
    assert dict(entry.data) == {"url": door.url, "api_key": API_KEY}
    assert how_it_is(entry) is ConfigEntryState.LOADED


async def test_an_entry_without_an_address(house: House) -> None:
    """One that cannot be read is left to its owner, without a secret in its title."""
    url = "http://captain:zeppelin@nas:port"
    entry = add_server(house.hass, url)
    house.hass.config_entries.async_update_entry(entry, title=url, minor_version=2)
    await house.set_up(entry)
    assert entry.title == "http://nas:port"
    assert suggested(await reconfigure(house.hass, entry)) == {}


@pytest.mark.parametrize(("front", "login"), USER_INFO.items(), ids=USER_INFO)
async def test_an_agent_of_home_assistant(
    hass: HomeAssistant, door: Gate, front: str, login: dict[str, str]
) -> None:
    """Its server is taken over with what stands in the address, as a credential."""
    door.wants = basic(login)
    add_core(hass, with_front(door.url, front) + "/?token=zeppelin", Old=CORE_AGENT)
    flow = await choose(hass, await start(hass), "take_over")
    result = await take_over(hass, flow, "Old")
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, door.url)
    assert dict(result["result"].data) == {"url": door.url} | login
    # It is not offered once more, though its address is written differently.
    assert (await start(hass))["type"] is FlowResultType.FORM


async def test_an_agent_with_both(hass: HomeAssistant, door: Gate) -> None:
    """Home Assistant's own integration sends the key only, so that is what is taken over."""
    add_core(hass, with_front(door.url, "captain:zeppelin@"), API_KEY, Old=CORE_AGENT)
    (agent,) = async_core_agents(hass).values()
    assert agent.server == {"url": door.url, "api_key": API_KEY}


@pytest.mark.parametrize("front", ["", *USER_INFO])
@pytest.mark.parametrize("rest", ["", "/", "/?token=zeppelin", "#zeppelin"])
async def test_who_else_uses_the_server(
    house: House, agent: ConfigEntry, ollama: Ollama, front: str, rest: str
) -> None:
    """An agent of Home Assistant's own is at the same server, whatever stands in its address."""
    assert OPTIONS["num_ctx"] == NUM_CTX
    add_core_agent(house.hass, with_front(ollama.url, front) + rest, num_ctx=4096)
    await house.ask("hello")
    await agent.runtime_data.async_refresh()
    await house.hass.async_block_till_done()
    found = issues(house.hass)
    assert [key for key in found if key.startswith("other_window")]
    assert CANARY not in str(found)


async def test_what_a_server_quotes(house: House, ollama: Ollama, door: Gate) -> None:
    """An address in an error of the server's loses what is secret in it, too."""
    entry = await house.set_up(add_server(house.hass, door.url))
    assert how_it_is(entry) is ConfigEntryState.LOADED
    message = 'Get "https://captain:zeppelin@registry/v2/?token=zeppelin"'
    head = reply("500 Internal Server Error", "application/json")
    async with answering(json.dumps({"error": message}).encode(), head=head) as url:
        door.behind = url
        words = speech(await house.ask("hello"))
    assert "registry" in words
    assert CANARY not in words


async def test_the_form_in_words(hass: HomeAssistant) -> None:
    """Each new field has its words in each step."""
    assert fields(await read_through(hass, await start(hass))) == [
        "url",
        "api_key",
        "username",
        "password",
    ]
