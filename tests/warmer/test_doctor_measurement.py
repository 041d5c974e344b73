"""What the doctor makes of answers: counts, the window, and what moved in between."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ollama_warmer.config.config import Config, HomeAssistantConfig, Target
from ollama_warmer.counts.counts import Counts, Facts
from ollama_warmer.doctor.checks.answers import check_counts, check_measured, check_window
from ollama_warmer.doctor.checks.stability import check_moving, check_new_conversation
from ollama_warmer.doctor.findings import Level
from ollama_warmer.doctor.measurement import (
    Measurement,
    Size,
    fits_window,
    measure,
    measured_size,
    remembered_size,
)
from ollama_warmer.doctor.seen import Known
from ollama_warmer.errors import WarmerError
from ollama_warmer.history.state import StateFile
from ollama_warmer.house.credentials import Token
from ollama_warmer.ollama.facts import Memory, PromptPath
from ollama_warmer.round.asking import Step
from ollama_warmer.round.rounds import Round, TargetResult
from ollama_warmer.round.verdicts import Verdict
from tests.warmer.support.house import AGENT, TOKEN, House

RECURRENT = Known(memory=Memory.RECURRENT, path=PromptPath.RENDERED, batch=1024, window=16_384)
ATTENTION = Known(memory=Memory.ATTENTION, path=PromptPath.NATIVE, window=16_384)
NOTHING = Facts()


def target(name: str = "app", agent: str = AGENT) -> Target:
    """Return a target."""
    return Target(name=name, agent=agent, text="1?", confirm_text="{number}?")


def asked(*found: tuple[int | None, int | None], facts: Facts = NOTHING) -> Measurement:
    """Return a measurement of one agent: prompt and re-read tokens of each question."""
    steps = []
    for prompt, re_read in found:
        cached = prompt - re_read if prompt is not None and re_read is not None else None
        told = Counts(prompt=prompt, cached=cached, re_read=re_read, reason="why", facts=facts)
        steps.append(Step(step="confirmation", counts=told, seconds=1.0))
    prompt, re_read = found[-1]
    verdict = Verdict.COLD
    if prompt is None or re_read is None:
        verdict = Verdict.UNKNOWN
    elif re_read <= 100:
        verdict = Verdict.WARM
    result = TargetResult(target=target(), steps=tuple(steps), verdict=verdict, reason="why")
    return Measurement(results=(result,), paused=60.0)


def levels(measurement: Measurement, known: Known, *, fits: bool = True) -> dict[str, Level]:
    """Return what is said of counts, of a clock and of a new conversation."""
    return {
        it.id: it.level
        for it in (
            *check_counts(measurement, known),
            *check_moving(measurement, known, fits=fits),
            *check_new_conversation(measurement, known, frozenset({AGENT}), fits=fits),
        )
    }


ALL_WELL = {"counts": Level.OK, "clock": Level.OK, "new_conversation": Level.OK}


@pytest.mark.parametrize(
    ("measurement", "known", "expected"),
    [
        (asked((8000, 8000), (8005, 15)), ATTENTION, ALL_WELL),
        (asked((8000, 8000), (8005, 15)), RECURRENT, ALL_WELL),
        (
            asked((8000, 8000), (8005, 8000)),
            ATTENTION,
            {"counts": Level.OK, "clock": Level.PROBLEM},
        ),
        (
            asked((8000, 8000), (8005, 8005)),
            RECURRENT,
            {"counts": Level.OK, "clock": Level.PROBLEM},
        ),
        (
            asked((8000, 8000), (8005, 1030)),
            RECURRENT,
            {"counts": Level.OK, "clock": Level.UNKNOWN, "new_conversation": Level.ADVICE},
        ),
        # One batch is nothing special where the memory can be cut anywhere.
        (
            asked((8000, 8000), (8005, 1030)),
            ATTENTION,
            {"counts": Level.OK, "clock": Level.PROBLEM},
        ),
        (
            asked((8000, 8000), (8005, 8000), facts=Facts(others=1)),
            ATTENTION,
            {"counts": Level.OK, "clock": Level.UNKNOWN},
        ),
        (
            asked((8000, 8000), (8005, 8000), facts=Facts(loads=1)),
            ATTENTION,
            {"counts": Level.OK, "clock": Level.UNKNOWN},
        ),
        (
            asked((8000, None), (8005, None)),
            ATTENTION,
            {"counts": Level.PROBLEM, "new_conversation": Level.UNKNOWN},
        ),
        (
            asked((8000, None), (8005, None)),
            Known(log_trouble=True),
            {"counts": Level.UNKNOWN, "new_conversation": Level.UNKNOWN},
        ),
    ],
)
def test_what_answers_say(
    measurement: Measurement, known: Known, expected: dict[str, Level]
) -> None:
    """A clock, a batch, someone in between, or no counts: never one for the other."""
    assert levels(measurement, known) == expected


def test_mlx_is_warm_the_second_time() -> None:
    """A third question shows it."""
    measurement = asked((8000, 8000), (8005, 8000), (8007, 15))
    assert levels(measurement, ATTENTION) == ALL_WELL
    found = list(check_new_conversation(measurement, ATTENTION, frozenset(), fits=True))
    assert "as on MLX" in found[0].words


@pytest.mark.parametrize(
    ("known", "level"),
    [
        (RECURRENT, Level.ADVICE),
        (Known(memory=Memory.RECURRENT, path=PromptPath.RENDERED, ours=frozenset({AGENT})), None),
        (ATTENTION, None),
    ],
)
def test_a_new_conversation_before_anybody_was_asked(known: Known, level: Level | None) -> None:
    """What is likely is advice, and never ok."""
    (found,) = check_new_conversation(None, known, frozenset({AGENT}), fits=True)
    assert found.level is (level or Level.UNKNOWN)


@pytest.mark.parametrize(
    ("size", "window", "overflows", "level"),
    [
        (8000, 16_384, [], Level.OK),
        (15_000, 16_384, [], Level.ADVICE),
        (16_383, 16_384, [], Level.PROBLEM),
        (None, 16_384, ["a prompt was refused"], Level.PROBLEM),
        (None, 16_384, [], Level.UNKNOWN),
        (8000, None, [], Level.UNKNOWN),
        # Someone else's prompt did not fit, ours does.
        (8000, 16_384, ["a prompt was refused"], Level.OK),
    ],
)
def test_the_window(
    size: int | None, window: int | None, overflows: list[str], level: Level
) -> None:
    """Nine tenths of it is advice, all of it a problem."""
    known = None if size is None else Size(tokens=size)
    fits = fits_window(None, known, window)
    assert check_window(known, window, overflows, fits=fits).level is level


@pytest.mark.parametrize(
    ("measurement", "fits"),
    [
        (asked((8001, 8001), (8001, 8000)), False),
        (asked((8001, 8001), (8006, 8000)), True),
        (asked((8001, 8001), (8001, 15)), True),
        (asked((12_000, 12_000), (12_000, 12_000)), True),
        (asked((12_000, 12_000), (12_005, 15), facts=Facts(cut=True)), False),
    ],
)
def test_a_prompt_that_is_cut_to_half_of_the_window(measurement: Measurement, fits: bool) -> None:  # noqa: FBT001 - a column of a table
    """It has the same length whatever is asked, and nothing is said of a clock."""
    size = measured_size(measurement)
    assert fits_window(measurement, size, 16_384) is fits
    if not fits:
        assert levels(measurement, ATTENTION, fits=fits)["clock"] is Level.UNKNOWN


def test_who_could_not_be_asked() -> None:
    """No one asked, no one there, or an error for an answer."""
    failed = TargetResult(target=target(), verdict=Verdict.FAILED, reason="no. Look at the log")
    assert check_measured(None).level is Level.UNKNOWN
    assert check_measured(Measurement(trouble="gone. Start it")).level is Level.PROBLEM
    finding = check_measured(Measurement(results=(failed,)))
    assert (finding.level, finding.advice) == (Level.PROBLEM, "Look at the log")
    assert levels(Measurement(results=(failed,)), ATTENTION) == {"new_conversation": Level.UNKNOWN}


async def test_each_agent_is_asked_once_at_its_first_target(house: House) -> None:
    """Two questions with a pause in between, and no third."""
    house.agents.append("conversation.other")
    config = Config(
        home_assistant=HomeAssistantConfig(url=house.url),
        targets=(target("app"), target("more"), target("else", "conversation.other")),
    )
    said: list[str] = []
    measurement = await measure(config, Token(TOKEN), 0.01, said.append)
    assert [it["agent_id"] for it in house.questions] == [AGENT] * 2 + ["conversation.other"] * 2
    assert [it.verdict for it in measurement.results] == [Verdict.WARM] * 2
    assert measurement.paused == 0.01
    assert measured_size(measurement) == Size(tokens=5104)
    assert said == [f"Asking {AGENT} ...", "Asking conversation.other ..."]


async def test_the_minute_changes_between_the_questions(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock of minutes would show."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("ollama_warmer.doctor.measurement._sleep", sleep)
    config = Config(home_assistant=HomeAssistantConfig(url=house.url), targets=(target(),))
    said: list[str] = []
    await measure(config, Token(TOKEN), None, said.append)
    assert len(slept) == 1
    assert 1 < slept[0] <= 61.5
    assert "for the next minute" in said[1]


async def test_a_house_that_is_gone() -> None:
    """What could not be asked is said, and nothing raised."""
    config = Config(
        home_assistant=HomeAssistantConfig(url="http://127.0.0.1:1"), targets=(target(),)
    )
    measurement = await measure(config, Token(TOKEN), 0, lambda _: None)
    assert str(measurement.trouble).startswith("Home Assistant cannot be reached")
    assert not measurement.answered


def test_the_size_of_the_last_round(tmp_path: Path) -> None:
    """It is remembered with its time, and a round without counts is passed over."""
    state = StateFile(tmp_path / "home.json")
    assert remembered_size((state.path,)) is None
    at = datetime(2026, 8, 28, 15, 5, tzinfo=UTC)
    results = asked((5000, 5000), (5104, 15)).results
    state.add(Round(results=results), at=at, occasion="command", seconds=1.0)
    failed = TargetResult(
        target=target(), verdict=Verdict.FAILED, reason="no", error=WarmerError("no")
    )
    state.add(Round(results=(failed,)), at=at, occasion="command", seconds=1.0)
    assert remembered_size((state.path,)) == Size(tokens=5104, since=at)
