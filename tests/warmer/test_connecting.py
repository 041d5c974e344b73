"""The command against a house that is down, starting or none: the words a person sees."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
import json

import pytest
from websockets.asyncio.server import ServerConnection, serve

from ollama_warmer.house import client as home_assistant, connecting
from tests.warmer.conftest import Run
from tests.warmer.support.house import TOKEN, CommandError, House, open_house

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def tcp(talk: Talk) -> AsyncIterator[str]:
    """Serve something that is no WebSocket server."""
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_home_assistant_is_down(house: House, run: Run) -> None:
    """Nothing listens: exit code 3 and where to look."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with tcp(talk) as url:
        pass
    result = await run(url)

    assert result.exit_code == 3
    assert result.stderr == (
        f"Error: Home Assistant cannot be reached at {url}: Connection refused. See whether it "
        "runs, and check home_assistant.url in the configuration file\n"
    )
    assert result.stdout == ""


async def test_name_that_does_not_resolve(run: Run) -> None:
    """An unknown name is unreachable too."""
    result = await run("http://no-such-house.invalid:8123")

    assert result.exit_code == 3
    assert "cannot be reached at http://no-such-house.invalid:8123: " in result.stderr


async def test_host_that_does_not_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that takes connections and says nothing is given up."""
    monkeypatch.setattr(connecting, "_OPEN_TIMEOUT", 0.2)
    done = asyncio.Event()

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await done.wait()
        writer.close()

    async with tcp(talk) as url:
        result = await run(url)
        done.set()

    assert result.exit_code == 3
    assert f"{url} did not answer within 0.2 s: see whether Home Assistant runs" in result.stderr


async def test_server_that_does_not_speak_http(run: Run) -> None:
    """Another service on that port is not Home Assistant."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-Something\r\n")
        await writer.drain()
        writer.close()

    async with tcp(talk) as url:
        result = await run(url)

    assert result.exit_code == 3
    assert f"What answers at {url} is not Home Assistant, or wants https" in result.stderr


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (HTTPStatus.NOT_FOUND, "answered HTTP 404 instead of opening a WebSocket: check that"),
        (HTTPStatus.OK, "answered HTTP 200 instead of opening a WebSocket: check that"),
        (HTTPStatus.FORBIDDEN, "may have banned this machine after wrong tokens"),
    ],
)
async def test_wrong_url(house: House, run: Run, status: HTTPStatus, words: str) -> None:
    """A web server without Home Assistant's WebSocket is named as such."""
    house.http_status = status

    result = await run(house.url)

    assert result.exit_code == 3
    assert words in result.stderr


async def test_websocket_that_is_not_home_assistant(house: House, run: Run) -> None:
    """The token is not shown to a server that does not ask for it as Home Assistant does."""
    house.greeting = json.dumps({"type": "hello"})

    result = await run(house.url)

    assert result.exit_code == 3
    assert "does not log in like Home Assistant: check home_assistant.url" in result.stderr
    assert not house.logins


@pytest.mark.parametrize("code", [1000, 1001, 1011])
async def test_login_that_is_broken_off(run: Run, code: int) -> None:
    """Whoever asks for the token as Home Assistant does is Home Assistant."""

    async def stop(connection: ServerConnection) -> None:
        await connection.send(House().greeting)
        await connection.recv()
        await connection.close(code)

    async with serve(stop, "127.0.0.1", 0) as server:
        result = await run(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    assert result.exit_code == 3
    assert "did not finish the login: see whether it is stopping or restarting" in result.stderr


@pytest.mark.parametrize("greeting", ["hello", "[]", "[" * 100_000])
async def test_websocket_that_does_not_speak_json(house: House, run: Run, greeting: str) -> None:
    """The same for a greeting that is not JSON, or without an end."""
    house.greeting = greeting

    result = await run(house.url)

    assert result.exit_code == 3
    assert "does not log in like Home Assistant" in result.stderr
    assert not house.logins


async def test_redirect_to_another_machine(house: House, run: Run) -> None:
    """A redirect does not carry the token to another host."""
    port = house.url.rpartition(":")[2]
    house.location = f"ws://localhost:{port}/elsewhere"

    result = await run(house.url)

    assert result.exit_code == 3
    assert (
        f"{house.url} sends its visitors on to http://localhost:{port}, and the token"
        in result.stderr
    )
    assert not house.logins


async def test_redirect_to_another_port(house: House, run: Run) -> None:
    """Another port of the same machine is another program, and is not shown the token."""
    async with open_house(House()) as other:
        house.location = f"{other.url.replace('http', 'ws')}/elsewhere"

        result = await run(house.url)

        assert result.exit_code == 3
        assert f"{house.url} sends its visitors on to {other.url}, and the token" in result.stderr
        assert not house.logins
        assert not other.logins


async def test_redirect_on_the_same_machine(house: House, run: Run) -> None:
    """A redirect that stays on the host is followed."""
    house.location = "/elsewhere"

    assert (await run(house.url)).exit_code == 0


async def test_proxies_are_for_the_internet(
    house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy in the environment is not asked for a machine at home."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert (await run(house.url)).exit_code == 0


async def test_token_is_refused(house: House, run: Run) -> None:
    """A wrong or expired token: exit code 4, how to get another, no second try."""
    result = await run(house.url, token="an.old.token")

    assert result.exit_code == 4
    assert result.stderr == (
        "Error: Home Assistant refused the token: Invalid access token or password. It may be "
        "wrong, expired or deleted: make a new one in Home Assistant under your profile, Security, "
        "Long-lived access tokens\n"
    )
    assert len(house.logins) == 1


@pytest.mark.parametrize("before", [0, 280])
async def test_refusal_that_quotes_the_token(house: House, run: Run, before: int) -> None:
    """Even a server's own words do not bring the token to the screen, nor half of it."""
    house.token = "another"
    house.refusal["message"] = f"{'x' * before}Got {TOKEN} \x1b[2J"

    result = await run(house.url)

    assert result.exit_code == 4
    assert "Got *** " in result.stderr
    assert TOKEN[:12] not in result.stderr
    assert "\x1b" not in result.stderr


async def test_still_starting(house: House, run: Run) -> None:
    """Questions wait until Home Assistant has started."""
    house.states = ["unknown_command", "NOT_RUNNING", "STARTING", "RUNNING"]

    result = await run(house.url)

    assert result.exit_code == 0
    assert [message["type"] for message in house.asked[:5]] == [
        "get_config",
        "get_config",
        "get_config",
        "get_config",
        "conversation/agent/list",
    ]


async def test_never_started(house: House, run: Run) -> None:
    """A start that takes too long is unreachable, with the option that gives it longer."""
    house.states = ["STARTING"]

    result = await run(house.url, timeouts="start_timeout = 0.1")

    assert result.exit_code == 3
    assert (
        "Home Assistant has not finished starting within 0.1 s (it says STARTING): look at its "
        "log, or raise home_assistant.start_timeout" in result.stderr
    )


async def test_state_is_not_told(house: House, run: Run) -> None:
    """A refusal to tell the state is not taken for starting."""

    def refuse(_: object) -> None:
        raise CommandError("unauthorized", "Unauthorized")

    house.overrides["get_config"] = refuse

    result = await run(house.url)

    assert result.exit_code == 3
    assert "does not report its state" in result.stderr


async def test_state_of_another_shape(house: House, run: Run) -> None:
    """A state that is not there is not taken for running."""
    house.overrides["get_config"] = lambda _: "fine"

    result = await run(house.url, timeouts="start_timeout = 0.05")

    assert result.exit_code == 3
    assert "(it says None)" in result.stderr


@pytest.mark.parametrize("kind", ["conversation/agent/list", "config/device_registry/list"])
@pytest.mark.parametrize("result", [[{"name": "without an id"}], {"agents": 5}, "none"])
async def test_lists_of_another_shape(house: House, run: Run, kind: str, result: object) -> None:
    """A list that cannot be read ends the command before anything is asked."""
    house.overrides[kind] = lambda _: result

    outcome = await run(house.url)

    assert outcome.exit_code == 3
    assert "has an unknown shape: update the older of Home Assistant and this" in outcome.stderr
    assert not house.questions


async def test_command_that_is_not_answered(
    house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Home Assistant that hangs is unreachable."""
    monkeypatch.setattr(home_assistant, "_COMMAND_TIMEOUT", 0.1)
    house.overrides["get_config"] = lambda _: (5.0, {})

    result = await run(house.url)

    assert result.exit_code == 3
    assert "did not answer get_config within 0.1 s: see whether it hangs" in result.stderr
