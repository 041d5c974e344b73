"""`warm --dry-run`: what would be asked where, and no agent hears of it."""

import pytest

from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import AGENT, KITCHEN, CommandError, House, Message


def asked(house: House) -> set[str]:
    """Return the kinds of commands that the house was sent."""
    return {message["type"] for message in house.asked}


async def test_everything_is_shown_and_nothing_asked(house: House, run: Run) -> None:
    """Each target with agent, device, language and both questions, as they would be sent."""
    result = await run(house.url, "--dry-run")

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"app: {AGENT}, no device, language en"
    assert lines[3] == f"kitchen: {AGENT}, device {KITCHEN}, language en"
    for line in lines[1:3] + lines[4:6]:
        assert line.startswith("  would ask: ")
        assert "{number}" not in line
    assert lines[6:] == ["Nothing was asked."]
    assert asked(house) == {
        "get_config",
        "conversation/agent/list",
        "config/device_registry/list",
    }


async def test_one_target_as_json(house: House, run: Run) -> None:
    """`--target` and `--json` work as without it."""
    result = await run(house.url, "--dry-run", "--json", "--target", "kitchen")

    report = parsed(result)
    assert report["dry_run"] is True
    (target,) = report["targets"]
    questions = target.pop("questions")
    assert len(questions) == len(set(questions)) == 2
    assert target == {
        "name": "kitchen",
        "agent": AGENT,
        "device": KITCHEN,
        "language": "en",
        "problem": None,
    }
    assert not house.questions


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("agents", f'All would fail: Home Assistant has no conversation agent "{AGENT}"'),
        ("devices", f'  would fail: Home Assistant has no device "{KITCHEN}"'),
    ],
)
async def test_target_that_would_be_missed(house: House, run: Run, kind: str, problem: str) -> None:
    """A wrong agent or device is found without asking anyone, and said once."""
    setattr(house, kind, [])

    result = await run(house.url, "--dry-run")

    assert result.exit_code == 1
    assert result.stdout.count(problem) == result.stdout.count("would fail: ") == 1
    assert not house.questions


async def test_what_cannot_be_checked(house: House, run: Run) -> None:
    """A refused list is a problem of each target that it is needed for."""

    def refuse(_: Message) -> object:
        raise CommandError("unauthorized", "Unauthorized")

    house.overrides["config/device_registry/list"] = refuse

    result = await run(house.url, "--dry-run")

    assert result.exit_code == 1
    assert result.stdout.count("would fail: the device cannot be checked, ") == 1


async def test_refused_token(house: House, run: Run) -> None:
    """Errors are those of a round."""
    result = await run(house.url, "--dry-run", token="another.token.of-nobody")

    assert result.exit_code == 4
    assert result.stdout == ""
