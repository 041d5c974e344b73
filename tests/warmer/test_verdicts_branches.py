"""The third question: a server that is cold for the first new conversation and warm for the next.

MLX keeps the state of a recurrent model only where two prompts part, and makes it while it reads
the second one.
"""

from pathlib import Path

import pytest

from ollama_warmer.counts.counts import Counts, Facts
from ollama_warmer.ollama.facts import Runner
from ollama_warmer.round.verdicts import Verdict, asks_for_another, conclude
from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import COLD, House, counts, error_reply, reply
from tests.warmer.support.log_writer import APP, MLX, file_counts, mlx_request, writes
from tests.warmer.test_lines import request

LOST = counts(3179, 4, verdict="server lost it", reason="no state was kept there")
BARE = counts(3179, 4)
WORDS = "1234 minus 5678?"


async def test_branch_had_to_be_read(house: House, run: Run, tmp_path: Path) -> None:
    """The pattern itself, with published counts: warm, and the reason says why so late."""
    path = tmp_path / "ollama.log"
    house.overrides["conversation/process"] = writes(path, *([line] for line in MLX))

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    (target,) = parsed(result)["targets"]
    assert (result.exit_code, target["verdict"]) == (0, "warm")
    assert [(step["step"], step["re_read"]) for step in target["steps"]] == [
        ("warm-up", 3178),
        ("confirmation", 3175),
        ("second confirmation", 13),
    ]
    assert target["reason"] == (
        f"the log {path} says that the second confirmation re-read 13 of 3179 tokens, within the "
        "112 allowed for its own words; before it the confirmation re-read 3175, because this "
        "server keeps a state only where two prompts part, and had to read up to there once"
    )


async def test_questions_differ_from_the_start(house: House, run: Run, tmp_path: Path) -> None:
    """No two of a target's questions begin with the same token."""
    path = tmp_path / "ollama.log"
    house.overrides["conversation/process"] = writes(path, *([line] for line in MLX))

    await run(house.url, targets=file_counts(path) + APP)

    first, second, third = (question["text"] for question in house.questions)
    assert len({first[0], second[0], third[0]}) == 3
    assert len({question["conversation_id"] for question in house.questions}) == 3


async def test_cold_stays_cold(house: House, run: Run, tmp_path: Path) -> None:
    """If the third question is cold, too, the verdict stays; there is no fourth."""
    path = tmp_path / "ollama.log"
    lines = [mlx_request(3178, 12, 0), *(mlx_request(3179, 3166, 4) for _ in range(2))]
    house.overrides["conversation/process"] = writes(path, *([line] for line in lines))

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    (target,) = parsed(result)["targets"]
    assert (result.exit_code, target["verdict"], len(house.questions)) == (1, "cold", 3)
    assert "the confirmation re-read 3175 of 3179 tokens" in target["reason"]
    assert target["reason"].endswith("; a second confirmation re-read 3175")


async def test_clock_is_not_asked_about_twice(house: House, run: Run, tmp_path: Path) -> None:
    """If MLX knew only the beginning, other words were sent: no third question can be warm."""
    path = tmp_path / "ollama.log"
    lines = [mlx_request(3178, 12, 0), mlx_request(3179, 15, 0)]
    house.overrides["conversation/process"] = writes(path, *([line] for line in lines))

    result = await run(house.url, "--json", targets=file_counts(path) + APP)

    (target,) = parsed(result)["targets"]
    assert (target["verdict"], len(house.questions)) == ("cold", 2)
    assert "likely something at the top of the prompt changes" in target["reason"]


async def test_counts_of_a_reply(house: House, run: Run) -> None:
    """Without a log only a third question can tell, unless the agent knows that words changed."""
    for first, second, third, verdict, asked in (
        (LOST, LOST, counts(3179, 3166, verdict="warm"), "warm", 3),
        (BARE, BARE, counts(3179, 3166), "warm", 3),
        (BARE, BARE, BARE, "cold", 3),
        (BARE, counts(3179, 2200), BARE, "partly warm", 3),
        (BARE, BARE, counts(3179, None), "cold", 3),
        (COLD, COLD, None, "cold", 2),
        (counts(3179, 3166), BARE, None, "cold", 2),
        (BARE, counts(3179, 3166), None, "warm", 2),
        (BARE, counts(3179, None), None, "unknown", 2),
    ):
        house.asked.clear()
        house.answers = [reply(block) for block in (first, second, third)[:asked]]
        report = parsed(await run(house.url, "--json", targets=APP))
        assert (report["verdict"], len(house.questions)) == (verdict, asked)


async def test_third_question_fails(house: House, run: Run) -> None:
    """A third question without an answer fails the target as any other does."""
    house.answers = [reply(BARE), reply(BARE), error_reply("unknown", "Sorry")]

    (target,) = parsed(await run(house.url, "--json", targets=APP))["targets"]

    assert (target["verdict"], len(target["steps"])) == ("failed", 2)
    assert "the agent answered the second confirmation with the error" in target["reason"]


@pytest.mark.parametrize("cached", [0, 12, 4000])
async def test_llama_server_has_no_such_pattern(
    house: House, run: Run, tmp_path: Path, cached: int
) -> None:
    """What llama-server does not have after one new conversation it has after none."""
    path = tmp_path / "ollama.log"
    house.overrides["conversation/process"] = writes(
        path, request(5104, 0, task=1), request(5104, cached, task=9)
    )

    report = parsed(await run(house.url, "--json", targets=file_counts(path) + APP))

    assert report["verdict"] in {"cold", "partly warm"}
    assert len(house.questions) == 2


def test_first_question_may_be_unknown() -> None:
    """It only has to be possible that it was the first new conversation."""
    facts = Facts(runner=Runner.MLX, against=3166)
    second = Counts(prompt=3179, cached=4, re_read=3175, facts=facts)
    assert asks_for_another([WORDS, WORDS], [Counts(), second])


def test_third_can_only_improve() -> None:
    """Whatever the third question shows, it is warm or the verdict of the second one."""
    cold = Counts(prompt=3179, cached=4, re_read=3175)
    partly = Counts(prompt=3179, cached=2200, re_read=979)
    for third in (cold, partly, Counts(reason="no one counted")):
        verdict, reason = conclude([WORDS] * 3, [cold, cold, third])
        assert verdict is Verdict.COLD
        assert "no one counted" not in reason
