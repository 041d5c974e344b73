"""What systemd is told, on a socket of its kind."""

from collections.abc import Iterator
import logging
import os
from pathlib import Path
import socket
import time

import pytest

from ollama_warmer.daemon.sd_notify import Notifier


@pytest.fixture(params=["path", "abstract"])
def ear(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """Return a socket and its name as systemd writes it in the environment."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.settimeout(5)
        name = str(tmp_path / "notify")
        if request.param == "abstract":
            name = f"@ollama-warmer-test-{os.getpid()}"
        listener.bind(name.replace("@", "\0", 1))
        yield listener, name


def heard(ear: socket.socket) -> str:
    """Return the next message."""
    return ear.recv(4096).decode()


def test_messages(ear: tuple[socket.socket, str]) -> None:
    """Each state is told in the words of sd_notify(3)."""
    listener, name = ear
    notifier = Notifier({"NOTIFY_SOCKET": name})

    notifier.status("last round 06:30:\nwarm")
    notifier.ready()
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    notifier.reloading()
    notifier.alive()
    notifier.stopping()

    assert heard(listener) == "STATUS=last round 06:30: warm"
    assert heard(listener) == "READY=1"
    reloading, _, moment = heard(listener).partition("\nMONOTONIC_USEC=")
    assert reloading == "RELOADING=1"
    assert 0 <= int(moment) - before < 5_000_000
    assert heard(listener) == "WATCHDOG=1"
    assert heard(listener) == "STOPPING=1"


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({"WATCHDOG_USEC": "60000000"}, 60),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 60),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_watchdog(environ: dict[str, str], seconds: float | None) -> None:
    """It counts only if it watches this process."""
    assert Notifier({"NOTIFY_SOCKET": "/run/notify", **environ}).watchdog == seconds
    assert Notifier(environ).watchdog is None


def test_without_systemd() -> None:
    """Nothing is told where no one listens."""
    Notifier({}).ready()


def test_broken_socket(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A socket that is gone is said once, and breaks nothing."""
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "gone")})

    with caplog.at_level(logging.WARNING):
        notifier.alive()
        notifier.alive()

    assert caplog.messages == [
        "systemd cannot be informed how the service stands: No such file or directory"
    ]
