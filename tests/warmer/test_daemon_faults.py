"""A daemon around which everything breaks: it goes on, and nothing is lost."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
import resource

import pytest

from tests.warmer.support.daemon_process import running
from tests.warmer.support.house import Cut, Say, error_reply, open_house, reply
from tests.warmer.support.live_house import LiveHouse, until, write_config


@pytest.fixture(name="live")
async def _live() -> AsyncIterator[LiveHouse]:
    """Return a house that answers warm."""
    async with open_house(LiveHouse()) as opened:
        assert isinstance(opened, LiveHouse)
        yield opened


async def test_connection_cut_after_sending(live: LiveHouse, tmp_path: Path) -> None:
    """The round goes on with the next target, and is made again soon."""
    live.answers = [Cut()]
    async with running(write_config(tmp_path, live.url)) as daemon:
        await until(lambda: len(daemon.rounds) == 2, seconds=25)

    first, second = daemon.rounds
    assert [target["verdict"] for target in first["targets"]] == ["failed", "warm"]
    assert (second["occasion"], second["verdict"]) == ("after a failure", "warm")


async def test_home_assistant_goes_and_comes(live: LiveHouse, tmp_path: Path) -> None:
    """It is missed in the middle of a round, and warmed as soon as it is back."""
    live.answers = [(60, reply())]
    async with running(write_config(tmp_path, live.url)) as daemon:
        await until(lambda: live.questions)
        live.http_status = HTTPStatus.BAD_GATEWAY
        await live.cut()
        await daemon.has_said("answered HTTP 502")
        live.http_status = None
        await daemon.has_said("Round (Home Assistant is back): warm")

    assert daemon.rounds[0]["verdict"] == "failed"
    assert daemon.rounds[-1]["verdict"] == "warm"
    # It is told once that it is away, not at every attempt.
    assert daemon.said.count("answered HTTP 502") <= 2


async def test_home_assistant_comes_late(live: LiveHouse, tmp_path: Path) -> None:
    """What is still starting is waited for, and asked nothing before."""
    live.states = ["unknown_command", "STARTING", "RUNNING"]
    async with running(write_config(tmp_path, live.url)) as daemon:
        await daemon.has_said("Round (start): warm")

    kinds = [message["type"] for message in live.asked]
    assert kinds[:3] == ["get_config"] * 3


@pytest.mark.parametrize(
    "answer", [Say("half a line {"), {"response": "42"}, error_reply("unknown", "No one's words")]
)
async def test_answers_that_are_none(live: LiveHouse, tmp_path: Path, answer: object) -> None:
    """Whatever comes instead of an answer fails one target of one round."""
    live.answers = [answer]
    async with running(write_config(tmp_path, live.url, "interval = 0.1")) as daemon:
        await until(lambda: len(daemon.rounds) >= 3)

    verdicts = [[target["verdict"] for target in it["targets"]] for it in daemon.rounds[:3]]
    assert verdicts == [["failed", "warm"], ["warm", "warm"], ["warm", "warm"]]
    assert "No one's words" not in daemon.said + daemon.state.read_text()


async def test_events_that_are_none(live: LiveHouse, tmp_path: Path) -> None:
    """Events of unknown shapes change nothing."""
    async with running(write_config(tmp_path, live.url, "interval = 0.1")) as daemon:
        await until(lambda: live.watched)
        await live.fire("entity_registry_updated", action=[], changes=5)
        await live._send_all("subscribe_entities", {"a": [], "c": {"light.a": 7}, "r": {"b": None}})
        await live._send_all("area_registry_updated", {})
        before = len(daemon.rounds)
        await until(lambda: len(daemon.rounds) > before + 2)

    assert "mistake" not in daemon.said


async def test_rights_that_are_missing(live: LiveHouse, tmp_path: Path) -> None:
    """Where Home Assistant does not report something, that is said, and the rest goes on."""
    live.refused = {"subscribe_entities", "label_registry_updated"}
    async with running(write_config(tmp_path, live.url)) as daemon:
        await daemon.has_said("Round (start): warm")

    assert "Home Assistant does not report who talks to a satellite: " in daemon.said
    assert "Home Assistant does not report label_registry_updated: " in daemon.said


async def test_disk_full(live: LiveHouse, tmp_path: Path) -> None:
    """Rounds that cannot be written are kept, warming goes on, and it is said once."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

    async with running(
        write_config(tmp_path, live.url, "interval = 0.1"), preexec=no_room
    ) as daemon:
        await until(lambda: len(live.questions) >= 4 * 3)
        assert daemon.rounds == []
        assert daemon.said.count("cannot be written") == 1
        daemon.allow_files()
        await until(lambda: len(daemon.rounds) >= 4)

    assert daemon.rounds[0]["occasion"] == "start"


@pytest.mark.parametrize("left", ["", '{"version": 1, "rou', "[]", "\0" * 100])
async def test_state_file_truncated(live: LiveHouse, tmp_path: Path, left: str) -> None:
    """What is left of a broken file is put aside, and the history begins again."""
    async with running(write_config(tmp_path, live.url, "interval = 0.1")) as daemon:
        await until(daemon.state.exists)
        daemon.state.write_text(left)
        await daemon.has_said("is damaged")
        await until(lambda: daemon.rounds)

    assert daemon.state.with_name("state.json.corrupt").read_text() == left
    assert "warm" in {it["verdict"] for it in daemon.rounds}


async def test_port_that_is_taken(live: LiveHouse, tmp_path: Path) -> None:
    """An address that another program listens on ends the start with a sentence."""
    taken = live.url.rpartition(":")[2]
    async with running(write_config(tmp_path, live.url, f'listen = "127.0.0.1:{taken}"')) as daemon:
        assert await daemon.exit_code() == 2

    assert f"Error: 127.0.0.1:{taken} cannot be listened on: Address already in use" in daemon.said
