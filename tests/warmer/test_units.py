"""The systemd units, as far as they can be checked without starting them."""

from configparser import RawConfigParser
from pathlib import Path
import re
import shutil
import subprocess

import click
import pytest

from ollama_warmer.cli import main
from ollama_warmer.errors import ExitCode
from ollama_warmer.history.place import SERVICES
from ollama_warmer.house.credentials import CREDENTIAL

UNITS = Path(__file__).parents[2] / "systemd"
SERVICE = "ollama-warmer@.service"
TIMER = "ollama-warmer@.timer"
DAEMON = "ollama-warmerd.service"
COMMAND = "/opt/ollama-warmer/bin/ollama-warmer"
CODES = {ExitCode.NOT_ALL_WARM, ExitCode.CONFIGURATION, ExitCode.AUTHENTICATION}

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze"
)
services = pytest.mark.parametrize("name", [SERVICE, DAEMON])


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
    for name in (SERVICE, TIMER, DAEMON):
        text = (UNITS / name).read_text()
        (tmp_path / name.replace("@", "@home")).write_text(text.replace(COMMAND, str(command)))
    return tmp_path


@needs_systemd
def test_units_are_valid(installed: Path) -> None:
    """`systemd-analyze verify` has nothing to say."""
    names = ("ollama-warmer@home.service", "ollama-warmer@home.timer", DAEMON)
    said = analyze("verify", *(installed / name for name in names))

    # It also reads the units of this machine, which are not ours to judge.
    assert "ollama-warmer" not in said


@needs_systemd
@services
def test_service_is_hardened(name: str) -> None:
    """The exposure is at most 1.5 of 10."""
    said = analyze("security", "--offline=true", "--threshold=15", UNITS / name)

    assert "Overall exposure level" in said


@needs_systemd
def test_timer_rings_five_past_every_hour() -> None:
    """Every hour, at five past."""
    said = analyze("calendar", "--iterations=3", unit(TIMER)["Timer"]["OnCalendar"])

    elapses = re.findall(r"(?:Next elapse|Iter(?:ation|\.) #\d): \S+ \S+ (\d\d):(\d\d:\d\d)", said)
    assert [minute for _, minute in elapses] == ["05:00"] * 3
    hours = [int(hour) for hour, _ in elapses]
    assert [(later - hours[0]) % 24 for later in hours] == [0, 1, 2]


@services
def test_services_call_the_command_as_it_is(name: str) -> None:
    """What a unit starts is a command of the program, with options that it has."""
    path, command, *arguments = unit(name)["Service"]["ExecStart"].split()

    known = main.get_command(click.Context(main), command)
    assert known is not None
    options = {option for each in known.params for option in each.opts}
    assert path == COMMAND
    assert {word for word in arguments if word.startswith("-")} <= options


@services
def test_services_share_a_user_and_the_state(name: str) -> None:
    """Both write where `status` looks, and neither takes the other's file away."""
    service = unit(name)["Service"]

    assert service["User"] == "ollama-warmer"
    assert service["DynamicUser"] == "yes"
    assert Path("/var/lib", service["StateDirectory"]) == SERVICES
    assert service["StateDirectoryMode"] == "0700"


@services
def test_no_dump_has_the_token(name: str) -> None:
    """A service that is killed leaves nothing of its memory on the disk."""
    assert unit(name)["Service"]["LimitCORE"] == "0"


def test_both_services_are_locked_in_alike() -> None:
    """Whatever hardens one of them hardens the other."""
    once, daemon = (dict(unit(name)["Service"]) for name in (SERVICE, DAEMON))
    start = list(once).index("LimitCORE")

    assert {key: daemon.get(key) for key in list(once)[start:]} == dict(list(once.items())[start:])


def test_daemon_tells_systemd_how_it_is() -> None:
    """It is ready when it says so, beats, reads its configuration again, and ends soon."""
    service = unit(DAEMON)["Service"]

    assert service["Type"] == "notify"
    assert service["ExecStart"] == f"{COMMAND} run --config /etc/ollama-warmer/home.toml"
    assert service["LoadCredential"] == f"{CREDENTIAL}:/etc/ollama-warmer/home.token"
    assert service["WatchdogSec"] == "60s"
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert service["TimeoutStopSec"] == "10s"
    assert unit(DAEMON)["Install"]["WantedBy"] == "multi-user.target"


def test_daemon_always_comes_back() -> None:
    """Unless only a person can help."""
    service = unit(DAEMON)["Service"]

    assert service["Restart"] == "always"
    prevented = {int(code) for code in service["RestartPreventExitStatus"].split()}
    assert prevented == {ExitCode.CONFIGURATION, ExitCode.AUTHENTICATION}


def test_daemon_and_timer_exclude_each_other() -> None:
    """Whoever starts one ends the other: both would ask every question twice."""
    assert unit(DAEMON)["Unit"]["Conflicts"] == TIMER.replace("@", "@home")


def test_round_fits_the_program() -> None:
    """The unit, the credential and the exit codes fit the program."""
    service = unit(SERVICE)["Service"]

    assert service["ExecStart"] == f"{COMMAND} warm --config /etc/ollama-warmer/%i.toml"
    assert service["LoadCredential"] == f"{CREDENTIAL}:/etc/ollama-warmer/%i.token"
    assert service["Type"] == "oneshot"
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
