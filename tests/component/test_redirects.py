"""Redirects: followed at the same origin only, and named in a sentence where they lead away."""

from collections.abc import AsyncGenerator, Awaitable, Callable
import json
from typing import Any

import aiohttp
import pytest

from custom_components.ollama_warm.ollama.client import OllamaClient
from custom_components.ollama_warm.ollama.errors import (
    NotArrivingError,
    OllamaError,
    RedirectedError,
)
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .gate import Gate, gate
from .support.flows import answer, refused, start
from .support.house import House, add_server, how_it_is, speech
from .support.sentences import sentence
from .support.server import Ollama, answering

WORDS = "Is the zeppelin at home?"
BODY: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": WORDS}]}
STATUSES = (301, 302, 303, 307, 308)
LOGIN = {"username": "captain", "password": "zeppelin"}


@pytest.fixture
async def session() -> AsyncGenerator[aiohttp.ClientSession]:
    """Return a session as Home Assistant shares one."""
    async with aiohttp.ClientSession() as opened:
        yield opened


@pytest.fixture
async def door(ollama: Ollama) -> AsyncGenerator[Gate]:
    """Return the proxy that is asked."""
    async with gate(ollama.url) as opened:
        yield opened


@pytest.fixture
async def other(ollama: Ollama) -> AsyncGenerator[Gate]:
    """Return another origin that would answer as well."""
    async with gate(ollama.url) as opened:
        yield opened


async def chat(client: OllamaClient) -> object:
    """Ask a question."""
    return [chunk async for chunk in client.chat(BODY)]


ASK: dict[str, Callable[[OllamaClient], Awaitable[object]]] = {
    "version": lambda client: client.version(),
    "models": lambda client: client.models(),
    "loaded": lambda client: client.loaded(),
    "chat": chat,
    "show": lambda client: client.show("tiny"),
    "read": lambda client: client.read({"model": "tiny", "prompt": WORDS}),
}
# `Location` for a path, where {other} is another origin -> what is said of it.
AWAY = {
    "{other}{path}": "{other}",
    "{other}{path}/": "{other}",
    "{other}/ollama{path}": "{other}/ollama",
    "{other}/login": "{other}",
    "{other}": "{other}",
    "{other}{path}?token=zeppelin": "{other}",
    "{other}/login?token=zeppelin#zeppelin": "{other}",
    "{other}/zeppelin": "{other}",
    "//{other_host}{path}": "{other}",
    "http://captain:zeppelin@{other_host}{path}": "{other}",
    "http://zeppelin@{other_host}/": "{other}",
    "http://{host}@{other_host}{path}": "{other}",
    "https://{host}{path}": "https://{host}",
    "https://{host}/ollama{path}?zeppelin": "https://{host}/ollama",
    "//localhost:{port}{path}": "http://localhost:{port}",
    "http://127.0.0.1{path}": "http://127.0.0.1",
    "http://127.0.0.1:80{path}": "http://127.0.0.1",
    "https://127.0.0.1:443{path}": "https://127.0.0.1",
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("location", "target"), AWAY.items(), ids=AWAY)
async def test_to_another_origin(  # noqa: PLR0913, PLR0917 (fixtures)
    session: aiohttp.ClientSession,
    door: Gate,
    other: Gate,
    location: str,
    target: str,
    status: int,
) -> None:
    """Nothing is sent there, whatever was asked, and it is named without anything secret."""
    host, other_host = (one.url.removeprefix("http://") for one in (door, other))
    values = {"other": other.url, "other_host": other_host, "host": host}
    values["port"] = host.rpartition(":")[2]
    door.redirect = lambda _, path: (status, location.format(path=path, **values))
    client = OllamaClient(session, door.url, **LOGIN)
    for name, ask in ASK.items():
        with pytest.raises(RedirectedError) as caught:
            await ask(client)
        named = {"url": door.url, "target": target.format(**values)}
        assert caught.value.translation_placeholders == named, name
        assert "zeppelin" not in repr(caught.value) + repr(caught.value.__cause__)
    assert len(door.visits) == len(ASK)
    assert other.visits == []


HERE = (
    *("{path}?again", "{url}{path}?again", "//{host}{path}?again", "?again"),
    *("http://captain:other@{host}{path}?again", "{path}?again#there"),
    "HTTP://{host}{path}?again",
)


@pytest.mark.parametrize("location", HERE)
@pytest.mark.parametrize("status", STATUSES)
async def test_at_the_same_origin(
    session: aiohttp.ClientSession, door: Gate, location: str, status: int
) -> None:
    """It is followed with credential and body, as long as the status keeps the body."""
    host = door.url.removeprefix("http://")
    door.redirect = lambda _, path: (
        None
        if path.endswith("?again")
        else (status, location.format(path=path, url=door.url, host=host))
    )
    client = OllamaClient(session, door.url, **LOGIN)
    assert await client.version()
    first, second = door.visits
    assert (second.method, second.path) == ("GET", f"{first.path}?again")
    assert first.authorization == second.authorization is not None
    door.visits.clear()
    if status in (307, 308):
        await chat(client)
        first, second = door.visits
        assert (second.method, second.path) == ("POST", "/api/chat?again")
        assert json.loads(second.body) == json.loads(first.body) == BODY
        assert first.authorization == second.authorization is not None
    else:
        with pytest.raises(NotArrivingError):
            await chat(client)
        assert len(door.visits) == 1


async def test_a_usual_port_may_be_said(session: aiohttp.ClientSession, ollama: Ollama) -> None:
    """An origin is the same with and without the usual port of its scheme.

    Nothing may listen at port 80 here, so the host is a proxy's that takes any.
    """
    async with gate(ollama.url) as door:
        door.redirect = lambda _, path: (
            None if "?" in path else (307, "http://nas.invalid:80/api/version?again")
        )
        async with aiohttp.ClientSession(proxy=door.url) as through:
            assert await OllamaClient(through, "http://nas.invalid").version()
            door.redirect = lambda *_: (307, "http://nas.invalid:81/api/version")
            with pytest.raises(RedirectedError):
                await OllamaClient(through, "http://nas.invalid").version()


@pytest.mark.parametrize("status", STATUSES)
async def test_a_body_that_would_be_lost(
    session: aiohttp.ClientSession, door: Gate, status: int
) -> None:
    """A path of the same origin at which Ollama is found is named; another one is not."""
    door.redirect = lambda _, path: (status, f"/ollama{path}")
    client = OllamaClient(session, door.url)
    if status in (307, 308):
        with pytest.raises(OllamaError):
            await client.show("tiny")
        assert [visit.path for visit in door.visits] == [
            "/api/show",
            *(f"{'/ollama' * times}/api/show" for times in (1, 2, 3)),
        ]
        return
    with pytest.raises(RedirectedError) as caught:
        await client.show("tiny")
    assert caught.value.translation_placeholders == {
        "url": door.url,
        "target": f"{door.url}/ollama",
    }
    door.redirect = lambda *_: (status, "/login?zeppelin")
    with pytest.raises(NotArrivingError):
        await client.show("tiny")


@pytest.mark.parametrize("status", STATUSES)
async def test_in_circles(session: aiohttp.ClientSession, door: Gate, status: int) -> None:
    """A few redirects are followed, and no more."""
    door.redirect = lambda _, path: (status, path)
    with pytest.raises(NotArrivingError):
        await OllamaClient(session, door.url).version()
    assert len(door.visits) == 4


BROKEN = (
    *("", "https://", "javascript:alert(1)", "ollama://nas/", "mailto:me@nas", "http://[::1"),
    *("http://nas\\@other/", "http://nas:99999/", "file:///etc/passwd", "http:///"),
    f"http://{'a' * 5000}/",
)


@pytest.mark.parametrize("location", [*BROKEN, None, "http://\udcff/"])
@pytest.mark.parametrize("status", STATUSES)
async def test_that_lead_nowhere(hass: HomeAssistant, location: str | None, status: int) -> None:
    """What is no address is not followed, and raises nothing else; without it, it is none."""
    line = "" if location is None else f"Location: {location}\r\n"
    head = f"HTTP/1.1 {status} Moved\r\n{line}Content-Length: 0\r\nConnection: close\r\n\r\n"
    async with answering(head=head.encode(errors="surrogateescape")) as url:
        client = OllamaClient(async_get_clientsession(hass), url)
        for ask in (ASK["version"], ASK["chat"]):
            with pytest.raises(NotArrivingError) as caught:
                await ask(client)
            assert caught.value.translation_placeholders == {"url": url}


SAID = (
    "The model server at {url} sends its visitors to {target}. Nothing was sent there. "
    "If that is right, enter that address in the settings of Ollama Warm."
)


async def test_a_server_that_moves_away(
    house: House, door: Gate, other: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    """A person hears where to, and neither words nor names of devices get there."""
    entry = await house.set_up(add_server(house.hass, door.url, api_key="hindenburg"))
    await house.ask("hello")
    door.redirect = lambda _, path: (307, other.url + path)
    reply = await house.ask(WORDS)
    assert speech(reply) == SAID.format(url=door.url, target=other.url)
    with pytest.raises(HomeAssistantError, match=other.url):
        await entry.runtime_data.warmth.async_warm("agent")
    await entry.runtime_data.async_refresh()
    assert not entry.runtime_data.last_update_success
    assert other.visits == []
    assert "hindenburg" not in caplog.text
    await house.hass.config_entries.async_reload(entry.entry_id)
    assert how_it_is(entry) is ConfigEntryState.SETUP_RETRY
    assert other.visits == []


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "nl"])
async def test_the_form_says_where_to(
    hass: HomeAssistant, door: Gate, other: Gate, language: str
) -> None:
    """Both addresses are in the sentence, and the one that it names can be entered."""
    door.redirect = lambda _, path: (308, other.url + path)
    result = await answer(hass, await start(hass), url=door.url)
    words = await refused(hass, result)
    assert words.startswith(f"The server at {door.url} sends its visitors to {other.url}.")
    values = result["description_placeholders"]
    heard = await sentence(hass, "config", "error.redirected", values, language)
    assert door.url in heard
    assert other.url in heard
    assert other.visits == []
    result = await answer(hass, result, url=other.url)
    assert result["title"] == other.url
    entry: ConfigEntry = result["result"]
    assert how_it_is(entry) is ConfigEntryState.LOADED
