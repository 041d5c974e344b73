"""The command against a house that fails while it is asked: what is lost and what is not."""

import asyncio
from http import HTTPStatus
from itertools import pairwise
import json

import pytest

from ollama_warmer.round import rounds
from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import (
    WARM,
    CommandError,
    Cut,
    Goodbye,
    House,
    Message,
    Say,
    error_reply,
    reply,
)


async def test_answer_of_another_shape(house: House, run: Run) -> None:
    """An answer that cannot be read fails its target only."""
    house.answers = [{"response": "42"}]

    result = await run(house.url)

    assert result.exit_code == 1
    assert "app: failed, Home Assistant's answer has an unknown shape" in result.stdout
    assert "kitchen: warm" in result.stdout


async def test_refusal_of_another_shape(house: House, run: Run) -> None:
    """A refusal without code and message is one all the same."""
    house.answers = [Say(json.dumps({"id": 4, "type": "result", "success": False}))]

    result = await run(house.url)

    assert result.exit_code == 1
    assert "app: failed, the agent broke down over the warm-up" in result.stdout


async def test_question_that_is_not_answered_in_time(house: House, run: Run) -> None:
    """No answer fails the target; its late answer is not taken for the next one's."""
    house.answers = [(0.3, reply(None))]

    result = await run(house.url, "--json", timeouts="answer_timeout = 0.2")

    assert result.exit_code == 1
    app, kitchen = parsed(result)["targets"]
    assert app["verdict"] == "failed"
    assert app["reason"] == (
        "Home Assistant did not answer the warm-up within 0.2 s: the server goes on with it, raise "
        "home_assistant.answer_timeout"
    )
    assert kitchen["verdict"] == "warm"
    assert len(house.logins) == 1
    # No second try: it would wait behind the first one.
    assert len(house.questions) == 3


async def test_late_answer_arrives_meanwhile(house: House, run: Run) -> None:
    """An answer that no one waits for any more is dropped."""
    house.answers = [(0.2, reply(None)), (0.3, reply(WARM)), reply(WARM)]

    result = await run(house.url, timeouts="answer_timeout = 0.15")

    assert result.exit_code == 1
    assert "app, kitchen: failed" in result.stdout


async def test_connection_cut_after_sending(house: House, run: Run) -> None:
    """The target whose question was under way fails; the next is asked on a new connection."""
    house.answers = [Cut()]

    result = await run(house.url)

    assert result.exit_code == 1
    assert "app: failed, The connection to Home Assistant broke: see whether" in result.stdout
    assert "kitchen: warm" in result.stdout
    assert len(house.logins) == 2
    assert len(house.questions) == 3


async def test_connection_cut_and_nobody_left_to_ask(house: House, run: Run) -> None:
    """A cut in the last target leaves Home Assistant unreachable, as far as anyone knows."""
    house.answers = [reply(), reply(), reply(), Cut()]

    result = await run(house.url, "--json")

    assert result.exit_code == 3
    assert result.stderr == (
        "Error: The connection to Home Assistant broke: see whether it restarted\n"
    )
    assert [target["verdict"] for target in parsed(result)["targets"]] == ["warm", "failed"]


async def test_home_assistant_goes_away(house: House, run: Run) -> None:
    """When it does not come back, the rest fails and what was found out is still reported."""

    def leave(_: object) -> None:
        house.http_status = HTTPStatus.BAD_GATEWAY
        raise Cut

    house.overrides["conversation/process"] = leave

    result = await run(house.url, "--json", timeouts="start_timeout = 0.1")

    assert result.exit_code == 3
    app, kitchen = parsed(result)["targets"]
    assert "connection to Home Assistant broke" in app["reason"]
    assert "answered HTTP 502" in kitchen["reason"]
    assert "answered HTTP 502" in result.stderr


async def test_token_is_deleted_meanwhile(house: House, run: Run) -> None:
    """A token that is revoked in mid-round ends with exit code 4."""

    def revoke(_: object) -> None:
        house.token = "another"
        raise Cut

    house.overrides["conversation/process"] = revoke

    result = await run(house.url)

    assert result.exit_code == 4
    assert "refused the token" in result.stderr


@pytest.mark.parametrize("words", ["half a line {", b"\xff\xfe", "[1, 2]"])
async def test_garbage_instead_of_an_answer(house: House, run: Run, words: str | bytes) -> None:
    """A message that is none ends the connection, not the round."""
    house.answers = [Say(words)]

    result = await run(house.url)

    assert result.exit_code == 1
    assert (
        "app: failed, Home Assistant sent something that is not a message of its API"
        in result.stdout
    )
    assert "kitchen: warm" in result.stdout


async def test_messages_that_nobody_asked_for(house: House, run: Run) -> None:
    """Events and answers to other ids are passed over."""

    def chatter(message: dict[str, object]) -> None:
        raise Say(json.dumps({"id": message["id"], "type": "event", "event": {}}))

    house.overrides["conversation/process"] = chatter

    result = await run(house.url, timeouts="answer_timeout = 0.1")

    assert result.exit_code == 1
    assert "did not answer the warm-up within 0.1 s" in result.stdout


async def test_polite_goodbye(house: House, run: Run) -> None:
    """A connection that Home Assistant closes is told from one that broke."""

    def say_goodbye(_: object) -> None:
        raise Goodbye

    house.overrides["conversation/process"] = say_goodbye
    result = await run(house.url)

    assert result.exit_code == 3
    assert "Home Assistant closed the connection: see whether it restarted" in result.stderr


async def test_home_assistant_restarts(
    house: House, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A house that closes, is away, starts and is back: only the question under way is lost."""
    monkeypatch.setattr(rounds, "_PAUSE", 0.01)

    def go_away(message: Message) -> object:
        del house.overrides[message["type"]]
        house.http_status = HTTPStatus.BAD_GATEWAY
        house.states = ["unknown_command", "STARTING", "RUNNING"]
        asyncio.get_running_loop().call_later(0.1, setattr, house, "http_status", None)
        raise Goodbye

    house.overrides["conversation/process"] = go_away

    result = await run(house.url, "--json")

    assert result.exit_code == 1
    app, kitchen = parsed(result)["targets"]
    assert (app["verdict"], kitchen["verdict"]) == ("failed", "warm")
    assert "Home Assistant closed the connection" in app["reason"]
    assert len(house.questions) == 3


def targets(names: str) -> str:
    """Return the configuration of targets without a device, a letter each."""
    return "\n".join(f'[[targets]]\nname = "{name}"' for name in names)


async def test_given_up_questions_do_not_pile_up(house: House, run: Run) -> None:
    """No question is sent while the server goes on with one that was given up."""
    arrivals: list[float] = []

    def answer(_: Message) -> object:
        arrivals.append(asyncio.get_running_loop().time())
        return 0.3, reply()

    house.overrides["conversation/process"] = answer

    result = await run(
        house.url, "--json", targets=targets("abcd"), timeouts="answer_timeout = 0.2"
    )

    assert [target["verdict"] for target in parsed(result)["targets"]] == ["failed"] * 4
    assert len(arrivals) == 4
    assert min(later - earlier for earlier, later in pairwise(arrivals)) >= 0.3


async def test_given_up_question_is_not_waited_for_without_end(house: House, run: Run) -> None:
    """After as long again the next target has its turn, and at the end nothing is waited for."""
    house.answers = [(60, reply()), reply(), reply(), (60, reply())]

    result = await run(house.url, "--json", targets=targets("abc"), timeouts="answer_timeout = 0.2")

    assert [target["verdict"] for target in parsed(result)["targets"]] == [
        "failed",
        "warm",
        "failed",
    ]


async def test_every_target_has_a_result(house: House, run: Run) -> None:
    """Whatever goes wrong with some of them, none is left out, and the order is the file's."""
    house.answers = [
        *(reply(), Cut()),
        error_reply("unknown", "Sorry"),
        Say("garbage"),
        *(reply(), reply()),
        CommandError("unknown_error", "Unknown error"),
        (1, reply()),
        *(reply(), reply(None)),
    ]

    result = await run(
        house.url, "--json", targets=targets("abcdefg"), timeouts="answer_timeout = 0.5"
    )

    found = {target["name"]: target["verdict"] for target in parsed(result)["targets"]}
    assert "".join(found) == "abcdefg"
    assert [name for name, verdict in found.items() if verdict == "failed"] == list("abcef")
    assert (found["d"], found["g"]) == ("warm", "unknown")
    assert "the agent broke down over the warm-up" in parsed(result)["targets"][4]["reason"]
