"""Adding a server: what is asked, what is refused and with which words, and how it goes on."""

from typing import Any

import pytest

from homeassistant.config_entries import ConfigFlowResult
from homeassistant.const import CONF_API_KEY, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from tests.rig.ollama import Fault, FaultKind

from .support.flows import answer, refused, start
from .support.house import add_server
from .support.sentences import sentence
from .support.server import API_KEY, JSON, NOWHERE, Ollama, answering, reply


async def accepted(hass: HomeAssistant, flow: ConfigFlowResult, url: str, **more: str) -> None:
    """Go on in the same form with the right values, and get an entry."""
    result = await answer(hass, flow, **{CONF_URL: url}, **more)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == url
    assert result["data"] == {CONF_URL: url, **more}


async def test_a_server_is_added(hass: HomeAssistant, ollama: Ollama) -> None:
    """The address is saved without blanks and slashes around it, and without an empty key."""
    flow = await start(hass)
    assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "server")
    assert not flow["errors"]
    result = await answer(hass, flow, url=f" {ollama.url}/ ", api_key=" ")
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {CONF_URL: ollama.url}
    assert result["title"] == ollama.url


@pytest.mark.parametrize("url", ["living room", "localhost:11434", "ftp://nas", "http://a:b", " "])
async def test_what_is_no_address(hass: HomeAssistant, ollama: Ollama, url: str) -> None:
    """What cannot be an address is refused beside its field, and can be put right."""
    flow = await start(hass)
    words = await refused(hass, await answer(hass, flow, url=url), CONF_URL)
    assert words == "This is not an address. It should look like http://localhost:11434."
    await accepted(hass, flow, ollama.url)


OTHERS = {
    "html": ([b"<html>Sign in</html>"], reply(content_type="text/html"), "but it is not Ollama"),
    "wrong port": ([b"[]"], JSON, "but it is not Ollama"),
    "no version": ([b"{}"], JSON, "but it is not Ollama"),
    "no models": ([b'{"version": "0.35.1"}'], JSON, "but it is not Ollama"),
    "not found": ([b"404"], reply("404 Not Found", "text/plain"), "but it is not Ollama"),
    "half json": ([b'{"version": "0.3'], JSON, "stopped in the middle of its answer"),
    "no json": ([b"\xff\xfe"], JSON, "stopped in the middle of its answer"),
    "not http": ([], b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "Nothing answers at"),
    "hangs up": ([], b" ", "Nothing answers at"),
}


@pytest.mark.parametrize(("pieces", "head", "expected"), OTHERS.values(), ids=OTHERS)
async def test_something_else_answers(
    hass: HomeAssistant, ollama: Ollama, pieces: list[bytes], head: bytes, expected: str
) -> None:
    """A server that is no Ollama, or a broken one, is distinguished from one that is not there."""
    flow = await start(hass)
    async with answering(*pieces, head=head) as url:
        words = await refused(hass, await answer(hass, flow, url=url))
    assert expected in words
    assert url in words
    await accepted(hass, flow, ollama.url)


async def test_nothing_answers(hass: HomeAssistant, ollama: Ollama) -> None:
    """A server that is down, or another port, is named with what to look for."""
    flow = await start(hass)
    words = await refused(hass, await answer(hass, flow, url=NOWHERE))
    assert words == (
        f"Nothing answers at {NOWHERE}. Check the address, and that Ollama is running and listens "
        "on more than its own machine."
    )
    await accepted(hass, flow, ollama.url)


async def test_the_server_fails(hass: HomeAssistant, ollama: Ollama) -> None:
    """Ollama's own words are shown."""
    flow = await start(hass)
    ollama.stand_in.fault = Fault(FaultKind.STATUS_500, paths=("/api/tags",))
    words = await refused(hass, await answer(hass, flow, url=ollama.url))
    assert words == ("Ollama reports an error: llama-server process has terminated: exit status 2")
    ollama.stand_in.fault = None
    await accepted(hass, flow, ollama.url)


@pytest.mark.parametrize("values", [{}, {CONF_API_KEY: "wrong"}], ids=["no key", "wrong key"])
async def test_a_key_is_wanted(hass: HomeAssistant, ollama: Ollama, values: dict[str, Any]) -> None:
    """A proxy that wants another key says so, and takes the right one."""
    ollama.stand_in.api_key = API_KEY
    flow = await start(hass)
    words = await refused(hass, await answer(hass, flow, url=ollama.url, **values))
    assert words == f"The server at {ollama.url} does not accept this API key."
    await accepted(hass, flow, ollama.url, api_key=API_KEY)


async def test_a_server_twice(hass: HomeAssistant, ollama: Ollama) -> None:
    """A server that is there is not added again, however its address is written."""
    add_server(hass, ollama.url)
    result = await answer(hass, await start(hass), url=f"{ollama.url}/")
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")
    words = await sentence(hass, "config", "abort.already_configured")
    assert words == "This server is already set up."


async def test_errors_in_french(hass: HomeAssistant) -> None:
    """The same is said in French."""
    result = await answer(hass, await start(hass), url=NOWHERE)
    values = result["description_placeholders"]
    words = await sentence(hass, "config", "error.cannot_connect", values, "fr")
    assert words.startswith("Rien ne répond")
