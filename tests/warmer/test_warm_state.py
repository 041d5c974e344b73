"""`warm` keeps each round where `status` finds it."""

import asyncio
from pathlib import Path

from click.testing import CliRunner
import pytest

from ollama_warmer.cli import main
from ollama_warmer.history.state import StateFile
from tests.warmer.conftest import Run
from tests.warmer.support.house import KITCHEN, TOKEN, CommandError, House, reply


def last(path: Path) -> dict[str, object]:
    """Return the verdict of each target in the newest round."""
    return {it["name"]: it["verdict"] for it in StateFile(path).load()["rounds"][-1]["targets"]}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return where the rounds of the tests' configuration are kept."""
    return tmp_path / "state/ollama-warmer/home.json"


async def test_a_round_is_kept(house: House, run: Run, kept: Path, tmp_path: Path) -> None:
    """What `warm` found is what `status` shows, with the same exit code."""
    assert (await run(house.url)).exit_code == 0

    (only,) = StateFile(kept).load()["rounds"]
    assert (only["occasion"], only["verdict"]) == ("command", "warm")
    assert [it["device"] for it in only["targets"]] == [None, KITCHEN]
    shown = await asyncio.to_thread(
        CliRunner().invoke, main, ["status", "--config", str(tmp_path / "home.toml")]
    )
    assert shown.exit_code == 0, shown.output
    assert "2 warm" in shown.output


@pytest.mark.parametrize(
    ("answers", "names"),
    [
        ([], ["app, kitchen"]),
        ([reply(None)] * 4, ["app, kitchen"]),
        ([CommandError("odd", "No")] * 2, ["app, kitchen"]),
        ([reply(), reply(), CommandError("odd", "No")], ["app", "kitchen"]),
    ],
)
async def test_what_holds_for_all_is_said_once(
    house: House, run: Run, tmp_path: Path, answers: list[object], names: list[str]
) -> None:
    """By `warm` and by `status`, behind the names of all; what differs stays apart."""
    house.answers = list(answers)

    warmed = (await run(house.url)).stdout
    arguments = ["status", "--config", str(tmp_path / "home.toml")]
    shown = (await asyncio.to_thread(CliRunner().invoke, main, arguments)).stdout

    for said in (warmed, shown):
        reasons = [line for line in said.splitlines() if line.startswith(("app", "kitchen"))]
        assert [line.partition(": ")[0] for line in reasons] == names


async def test_nothing_secret_is_kept(house: House, run: Run, kept: Path) -> None:
    """Neither the token nor a question, nor what the agent answered."""
    await run(house.url)

    state = str(StateFile(kept).load())
    assert TOKEN not in state
    assert [asked["text"] for asked in house.questions if asked["text"] in state] == []


async def test_a_house_that_is_away_is_kept_too(run: Run, kept: Path) -> None:
    """Or `status` would go on showing the round before."""
    result = await run("http://127.0.0.1:9", timeouts="start_timeout = 0.1")

    assert result.exit_code == 3
    assert last(kept) == {"app": "failed", "kitchen": "failed"}


async def test_another_place_is_named(house: House, run: Run, kept: Path, tmp_path: Path) -> None:
    """With --state, for one target."""
    other = tmp_path / "other.json"
    await run(house.url, "--state", str(other), "--target", "app")

    assert last(other) == {"app": "warm"}
    assert StateFile(kept).load()["rounds"] == []


async def test_a_place_that_cannot_be_written_is_a_warning(
    house: House, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    """The verdict and the exit code are those of the round."""
    result = await run(house.url, "--state", "/proc/nowhere/home.json")

    assert result.exit_code == 0
    assert "cannot be written" in caplog.text


async def test_a_plan_is_no_round(house: House, run: Run, kept: Path) -> None:
    """--dry-run asks nothing and keeps nothing."""
    await run(house.url, "--dry-run")

    assert StateFile(kept).load()["rounds"] == []
