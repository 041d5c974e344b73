"""What Prometheus and a health check are told, and what is left out because no one knows it."""

import asyncio
from datetime import UTC, datetime
import socket

import aiohttp
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
import pytest

from ollama_warmer.config.config import Target
from ollama_warmer.config.run import Address, RunConfig
from ollama_warmer.counts.counts import Counts
from ollama_warmer.daemon.board import Board, Finished, Part
from ollama_warmer.daemon.metrics import registry
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.serving import Serving
from ollama_warmer.errors import ConfigError
from ollama_warmer.round.rounds import Round, Step, TargetResult
from ollama_warmer.round.verdicts import Verdict

AT = datetime(2026, 11, 30, 5, 30, tzinfo=UTC)
COUNTED = Counts(prompt=5104, cached=5080, re_read=24)
PREFIX = "ollama_warmer_"


def result(name: str, verdict: Verdict, *counts: Counts) -> TargetResult:
    """Return how a target stands whose questions cost this."""
    target = Target(name=name, agent="conversation.a", device="d", text="One?", confirm_text="Two?")
    steps = tuple(Step(step="warm-up", counts=it, seconds=0.5) for it in counts)
    return TargetResult(target=target, steps=steps, verdict=verdict, reason="secret words")


def finished(*results: TargetResult, ended: float = 0) -> Finished:
    """Return a round."""
    occasions = (Occasion.OLLAMA_BACK, Occasion.SCHEDULE)
    return Finished(outcome=Round(results=results), occasions=occasions, at=AT, ended=ended)


@pytest.fixture
def board() -> Board:
    """Return a board on which nothing stands yet."""
    return Board(RunConfig(interval=600, jitter=60), started=0)


def samples(board: Board) -> dict[str, float]:
    """Return what is told, by name and labels."""
    found: CollectorRegistry = registry(board)
    return {
        f"{sample.name}{sorted(sample.labels.items())}".replace("[]", ""): sample.value
        for family in found.collect()
        for sample in family.samples
    }


def test_before_the_first_round(board: Board) -> None:
    """Only what is known is told."""
    assert samples(board) == {f"{PREFIX}home_assistant_up": 0}


def test_counts(board: Board) -> None:
    """The first question is what a person would have met, the last one is the proof."""
    cold = Counts(prompt=5104, cached=0, re_read=5104)
    board.add(finished(result("kitchen", Verdict.WARM, cold, COUNTED)))
    board.connected, board.ollama, board.planned = True, False, AT

    found = samples(board)

    kitchen = "[('target', 'kitchen')]"
    assert found[f"{PREFIX}target_first_question_re_read_tokens{kitchen}"] == 5104
    assert found[f"{PREFIX}target_first_question_cached_tokens{kitchen}"] == 0
    assert found[f"{PREFIX}target_last_question_re_read_tokens{kitchen}"] == 24
    assert found[f"{PREFIX}target_last_question_cached_tokens{kitchen}"] == 5080
    assert found[f"{PREFIX}target_last_question_prompt_tokens{kitchen}"] == 5104
    assert found[f"{PREFIX}target_last_question_seconds{kitchen}"] == 0.5
    assert found[f"{PREFIX}home_assistant_up"] == 1
    assert found[f"{PREFIX}ollama_up"] == 0
    assert found[f"{PREFIX}last_round_timestamp_seconds"] == AT.timestamp()
    assert found[f"{PREFIX}next_round_timestamp_seconds"] == AT.timestamp()
    verdicts = {key: value for key, value in found.items() if "target_verdict" in key}
    assert len(verdicts) == len(Verdict)
    assert [key for key, value in verdicts.items() if value] == [
        f"{PREFIX}target_verdict[('ollama_warmer_target_verdict', 'warm'), ('target', 'kitchen')]"
    ]
    rounds = f"{PREFIX}rounds_total[('occasion', 'Ollama is back'), ('verdict', 'warm')]"
    assert found[rounds] == 1


def test_unknown_counts_are_absent(board: Board) -> None:
    """What no one counted has no sample, and what was not asked has none, either."""
    board.add(finished(result("app", Verdict.UNKNOWN, Counts(prompt=5104), Counts(prompt=5104))))
    found = samples(board)
    app = "[('target', 'app')]"
    assert found[f"{PREFIX}target_last_question_prompt_tokens{app}"] == 5104
    assert f"{PREFIX}target_last_question_cached_tokens{app}" not in found
    assert f"{PREFIX}target_last_question_re_read_tokens{app}" not in found

    # The next round fails: the counts of the last one are not reported as if they were new.
    board.add(finished(result("app", Verdict.FAILED, COUNTED)))
    found = samples(board)
    assert found[f"{PREFIX}target_first_question_re_read_tokens{app}"] == 24
    assert not [key for key in found if "last_question" in key]


def test_target_that_is_no_more(board: Board) -> None:
    """A target that the new configuration does not have is reported no more."""
    board.add(finished(result("app", Verdict.WARM, COUNTED), result("attic", Verdict.COLD)))
    board.configure(RunConfig(), {"app"})

    found = samples(board)
    assert "app" in str(found)
    assert "attic" not in str(found)


def test_summary(board: Board) -> None:
    """One line for `systemctl status`."""
    assert board.summary(UTC) == "no round yet"
    board.add(finished(result("app", Verdict.WARM), result("attic", Verdict.COLD)))
    board.planned = AT
    board.troubles[Part.HOME] = "Home Assistant sleeps"

    assert board.summary(UTC) == (
        "Home Assistant sleeps; last round 05:30:00 (Ollama is back, schedule): cold, 1 of 2 "
        "targets warm; next round 05:30:00"
    )


def test_ailments(board: Board) -> None:
    """Not connected, or no round for longer than the schedule allows."""
    assert board.ailment(0) == "Home Assistant has not been reached yet"
    board.troubles[Part.HOME] = "it sleeps"
    assert board.ailment(0) == "it sleeps"

    board.connected = True
    assert board.ailment(660 + 1800) is None
    assert board.ailment(660 + 1801) == "the last round was over 2461 s ago: see the log"
    board.add(finished(result("app", Verdict.COLD), ended=2400))
    assert board.ailment(660 + 1801) is None


def free_port() -> int:
    """Return a port that no one uses."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_over_http(board: Board) -> None:
    """Both pages answer on the address, with no one's words, until it is closed."""
    serving = Serving(board)
    address = Address("127.0.0.1", free_port())
    await serving.change(address)
    await serving.change(address)
    board.add(
        finished(result("k\n\"'{}", Verdict.WARM, COUNTED), ended=asyncio.get_running_loop().time())
    )
    async with aiohttp.ClientSession(f"http://{address.shown}") as session:
        async with session.get("/health") as response:
            assert response.status == 503
            assert await response.json() == {
                "status": "unhealthy",
                "reason": "Home Assistant has not been reached yet",
            }
        board.connected = True
        async with session.get("/health") as response:
            assert (response.status, await response.json()) == (200, {"status": "ok"})
        async with session.get("/metrics") as response:
            text = await response.text()
            assert response.content_type == "text/plain"
        families = {family.name for family in text_string_to_metric_families(text)}
        assert {f"{PREFIX}target_verdict", f"{PREFIX}rounds"} <= families
        assert "secret words" not in text
        await serving.change(None)
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get("/health")


async def test_port_that_is_taken(board: Board) -> None:
    """It is said which one, and the address from before stays in use."""
    serving = Serving(board)
    first = Address("127.0.0.1", free_port())
    await serving.change(first)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"127.0.0.1:{port} cannot be listened on: Address"):
            await serving.change(Address("127.0.0.1", port))
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{first.shown}/health") as it,
    ):
        assert it.status == 503
    await serving.change(None)
