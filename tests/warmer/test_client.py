"""The WebSocket client by itself: several commands at once, and every way to lose them."""

import asyncio

import pytest

from ollama_warmer.errors import CannotConnect, CommandFailed, NoAnswer
from ollama_warmer.house.client import HomeAssistant, connect
from ollama_warmer.house.connecting import open_session
from ollama_warmer.house.credentials import Token
from tests.warmer.support.house import TOKEN, Cut, House

pytestmark = pytest.mark.usefixtures("house")


async def test_answers_find_their_commands(house: House) -> None:
    """Commands under way at once get their own answers, in whatever order these come."""
    house.overrides["slow"] = lambda message: (0.05, message["word"])
    house.overrides["quick"] = lambda message: message["word"]

    async with connect(house.url, Token(TOKEN)) as home:
        answers = await asyncio.gather(
            home.command("slow", {"word": "first"}, within=5),
            home.command("quick", {"word": "second"}, within=5),
            home.command("slow", {"word": "third"}, within=5),
        )

    assert list(answers) == ["first", "second", "third"]
    assert [message["id"] for message in house.asked] == [1, 2, 3]


async def test_one_error_is_one_commands_error(house: House) -> None:
    """The code is kept, the connection stays."""
    async with connect(house.url, Token(TOKEN)) as home:
        with pytest.raises(CommandFailed) as caught:
            await home.command("nonsense", within=5)
        assert home.connected
        await home.wait_until_running(5)

    assert caught.value.code == "unknown_command"


async def test_all_commands_end_with_the_connection(house: House) -> None:
    """None is left waiting, and none can be sent any more."""

    def cut(_: object) -> None:
        raise Cut

    house.overrides["slow"] = lambda _: (5.0, None)
    house.overrides["cut"] = cut

    async with connect(house.url, Token(TOKEN)) as home:
        ends = await asyncio.gather(
            home.command("slow", within=5),
            home.command("slow", within=5),
            home.command("cut", within=5),
            return_exceptions=True,
        )
        assert all(isinstance(end, CannotConnect) for end in ends)
        assert not home.connected
        with pytest.raises(CannotConnect, match="connection to Home Assistant broke"):
            await home.command("get_config", within=5)


async def test_commands_end_when_the_client_leaves(house: House) -> None:
    """Leaving the connection ends what still waits in it."""
    house.overrides["slow"] = lambda _: (5.0, None)

    async with connect(house.url, Token(TOKEN)) as home:
        waiting = asyncio.create_task(home.command("slow", within=5))
        await asyncio.sleep(0.01)

    with pytest.raises(CannotConnect):
        await waiting


async def test_sending_into_a_closed_connection(house: House) -> None:
    """A loss that is noticed while sending is one like any other."""
    async with open_session(house.url, Token(TOKEN)) as connection:
        await connection.close()
        home = HomeAssistant(connection)

        with pytest.raises(CannotConnect, match="connection to Home Assistant broke"):
            await home.command("get_config", within=5)

        assert not home.connected


async def test_answer_that_came_just_before_the_end(house: House) -> None:
    """An answer that has arrived is not replaced by the end of the connection."""
    async with open_session(house.url, Token(TOKEN)) as connection:
        home = HomeAssistant(connection)
        answered = asyncio.get_running_loop().create_future()
        answered.set_result("in time")
        home._pending[1] = answered
        await connection.close()

        await home.receive()

        assert await answered == "in time"


async def test_given_up_command_is_forgotten(house: House) -> None:
    """A command without an answer leaves nothing behind."""
    house.overrides["slow"] = lambda _: (0.1, None)

    async with connect(house.url, Token(TOKEN)) as home:
        with pytest.raises(NoAnswer):
            await home.command("slow", within=0.05)
        assert not home._pending
        await asyncio.sleep(0.1)
        assert home.connected


async def test_token_is_not_logged(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """At no log level does the token leave the program."""
    caplog.set_level("DEBUG")

    async with connect(house.url, Token(TOKEN)) as home:
        await home.wait_until_running(5)

    client_records = [record for record in caplog.records if "server" not in record.name]
    assert all(TOKEN not in record.getMessage() for record in client_records)
