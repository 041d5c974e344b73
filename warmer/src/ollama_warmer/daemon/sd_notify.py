"""Reports to systemd how the service stands, by the protocol of sd_notify(3)."""

from collections.abc import Mapping
import logging
import os
import socket
import time

_PATIENCE = 0.5

_LOGGER = logging.getLogger(__name__)


class Notifier:
    """Sends states to systemd; does nothing where systemd did not ask for them.

    Attributes:
        watchdog: Seconds within which systemd wants to hear from us; none if it does not.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Read what systemd says of itself in the environment."""
        # A name in the abstract namespace is written with an @ for its leading null byte.
        self._address = environ.get("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        self._failed = False
        self.watchdog = _watchdog(environ) if self._address else None

    def ready(self) -> None:
        """Say that start or reload is over."""
        self._send("READY=1")

    def reloading(self) -> None:
        """Say that the configuration is being read; `ready` has to follow."""
        # systemd knows by the time whether this is the answer to its own signal.
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now}")

    def stopping(self) -> None:
        """Say that the service ends."""
        self._send("STOPPING=1")

    def status(self, words: str) -> None:
        """Show a line in `systemctl status`."""
        self._send(f"STATUS={' '.join(words.split())}")

    def alive(self) -> None:
        """Keep the watchdog from ending us."""
        self._send("WATCHDOG=1")

    def _send(self, state: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                # A systemd that hangs must not make us hang.
                sender.settimeout(_PATIENCE)
                sender.connect(self._address)
                sender.send(state.encode())
        except OSError as err:
            if not self._failed:
                why = err.strerror or "it does not listen"
                _LOGGER.warning("systemd cannot be informed how the service stands: %s", why)
            self._failed = True
        else:
            self._failed = False


def _watchdog(environ: Mapping[str, str]) -> float | None:
    """Return the seconds of the watchdog, if it watches this process."""
    asked = environ.get("WATCHDOG_USEC", "")
    process = environ.get("WATCHDOG_PID", "") or str(os.getpid())
    if not asked.isdigit() or int(asked) == 0 or process != str(os.getpid()):
        return None
    return int(asked) / 1_000_000
