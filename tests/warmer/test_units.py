"""The systemd units, as far as they can be checked without starting them."""

from configparser import RawConfigParser
from pathlib import Path
import re
import shutil
import subprocess

import pytest

from ollama_warmer.credentials import CREDENTIAL
from ollama_warmer.errors import ExitCode

UNITS = Path(__file__).parents[2] / "systemd"
SERVICE = "ollama-warmer@.service"
TIMER = "ollama-warmer@.timer"
COMMAND = "/opt/ollama-warmer/bin/ollama-warmer"
CODES = {ExitCode.NOT_ALL_WARM, ExitCode.CONFIGURATION, ExitCode.AUTHENTICATION}

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze"
)


def unit(name: str) -> RawConfigParser:
    """Return a unit's settings; of a setting that is given twice the last one."""
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / name)
    return parser


def analyze(*arguments: object) -> str:
    """Return what systemd-analyze prints; fail with its words if it finds something."""
    result = subprocess.run(
        ["systemd-analyze", "--no-pager", *map(str, arguments)],  # noqa: S607 - where it is differs
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Copy the units to a folder, as instances whose command exists."""
    command = tmp_path / "ollama-warmer"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    for name in (SERVICE, TIMER):
        text = (UNITS / name).read_text()
        (tmp_path / name.replace("@", "@home")).write_text(text.replace(COMMAND, str(command)))
    return tmp_path


@needs_systemd
def test_units_are_valid(installed: Path) -> None:
    """`systemd-analyze verify` has nothing to say."""
    said = analyze(
        "verify", installed / "ollama-warmer@home.service", installed / "ollama-warmer@home.timer"
    )

    # It also reads the units of this machine, which are not ours to judge.
    assert "ollama-warmer" not in said


@needs_systemd
def test_service_is_hardened() -> None:
    """The exposure is at most 1.5 of 10."""
    said = analyze("security", "--offline=true", "--threshold=15", UNITS / SERVICE)

    assert "Overall exposure level" in said


@needs_systemd
def test_timer_rings_five_past_every_hour() -> None:
    """Every hour, at five past."""
    said = analyze("calendar", "--iterations=3", unit(TIMER)["Timer"]["OnCalendar"])

    elapses = re.findall(r"(?:Next elapse|Iter(?:ation|\.) #\d): \S+ \S+ (\d\d):(\d\d:\d\d)", said)
    assert [minute for _, minute in elapses] == ["05:00"] * 3
    hours = [int(hour) for hour, _ in elapses]
    assert [(later - hours[0]) % 24 for later in hours] == [0, 1, 2]


def test_service_calls_the_command_as_it_is() -> None:
    """The unit, the credential and the exit codes fit the program."""
    service = unit(SERVICE)["Service"]

    assert service["ExecStart"] == f"{COMMAND} warm --config /etc/ollama-warmer/%i.toml"
    assert service["LoadCredential"] == f"{CREDENTIAL}:/etc/ollama-warmer/%i.token"
    assert service["Type"] == "oneshot"
    assert service["DynamicUser"] == "yes"
    prevented = service["RestartPreventExitStatus"].split()
    assert {int(code) for code in prevented if code.isdigit()} == CODES
    assert "SuccessExitStatus" not in service


def test_round_ends_before_the_next_one() -> None:
    """A start has an end, and restarts stop before the timer's next hour."""
    assert unit(SERVICE)["Service"]["TimeoutStartSec"] == "45min"
    assert unit(SERVICE)["Unit"]["StartLimitIntervalSec"] == "50min"


def test_timer_catches_up() -> None:
    """A machine that was off warms at once."""
    timer = unit(TIMER)["Timer"]

    assert timer["Persistent"] == "true"
    assert timer["FixedRandomDelay"] == "true"
    assert unit(TIMER)["Install"]["WantedBy"] == "timers.target"
