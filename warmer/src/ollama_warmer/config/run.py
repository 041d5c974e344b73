"""The table [run] of the configuration file: when the daemon warms, and where it reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from ipaddress import ip_address
import re
from typing import Any, NamedTuple

import voluptuous as vol

from ollama_warmer.config import checks

# As often as the timer in systemd/ rings.
INTERVAL = 3600.0

_LONGEST_JITTER = 3600
_LARGEST_PORT = 65_535
_EXAMPLE = 'write it like "127.0.0.1:9877"'


class Address(NamedTuple):
    """Where to listen.

    Attributes:
        host: An address of this machine that no other machine reaches.
        port: A port from 1 to 65535.
    """

    host: str
    port: int

    @property
    def shown(self) -> str:
        """The address as it stands in a web address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """When the daemon makes a round of itself, and where it answers.

    Attributes:
        interval: Seconds from the end of a round to the next; none if there are times.
        times: Times of day in Home Assistant's time zone, sorted; empty if there is an interval.
        jitter: Up to so many seconds later, by chance.
        listen: Where metrics and health can be asked for; none for nowhere.
    """

    interval: float | None = INTERVAL
    times: tuple[time, ...] = ()
    jitter: float = 0.0
    listen: Address | None = None


DEFAULT = RunConfig()


def table(value: object) -> object:
    """Check the table [run]; raises vol.Invalid with the key."""
    checked = _TABLE(value)
    if isinstance(checked, dict) and {"interval", "times"} <= checked.keys():
        raise vol.Invalid("is given together with `interval`: leave one of them out", ["times"])
    return checked


def build(checked: Mapping[str, Any]) -> RunConfig:
    """Return the settings of a checked table."""
    if "times" in checked:
        return RunConfig(**{**checked, "interval": None})
    return RunConfig(**checked)


def times(value: object) -> tuple[time, ...]:
    """Check for a list of times of day; return them sorted."""
    example = 'has to be a list of times such as ["06:30", "17:00"]'
    if not isinstance(value, list) or not value:
        raise vol.Invalid(example)
    found = set()
    for entry in value:
        if not isinstance(entry, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", entry):
            raise vol.Invalid(f'{example}, in quotes, from "00:00" to "23:59"')
        found.add(time.fromisoformat(entry))
    return tuple(sorted(found))


def jitter(value: object) -> float:
    """Check for a number of seconds from zero to an hour."""
    mistake = vol.Invalid(f"has to be a number of seconds from 0 to {_LONGEST_JITTER}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise mistake
    # What is not a number at all is in no range, either.
    if not 0 <= value <= _LONGEST_JITTER:
        raise mistake
    return float(value)


def address(value: object) -> Address:
    """Check for an address that only this machine reaches, with a port.

    What is reported there has no secrets, but also no lock.
    """
    checked = checks.text(value)
    found = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^:\[\]]+)):(\d{1,5})", checked)
    if found is None or not 1 <= int(found[3]) <= _LARGEST_PORT:
        raise vol.Invalid(f"is not an address with a port: {_EXAMPLE}")
    host = found[1] or found[2]
    try:
        is_here = ip_address(host).is_loopback
    except ValueError as err:
        raise vol.Invalid(f"has to begin with the number of an address: {_EXAMPLE}") from err
    if not is_here:
        raise vol.Invalid(
            "can be reached from other machines, and nothing there asks for a password: use "
            "127.0.0.1 or [::1], and a proxy with a password in front of it if another machine "
            "has to read it"
        )
    return Address(host, int(found[3]))


_TABLE = checks.table(
    {
        vol.Optional("interval"): checks.seconds,
        vol.Optional("times"): times,
        vol.Optional("jitter"): jitter,
        vol.Optional("listen"): address,
    }
)
