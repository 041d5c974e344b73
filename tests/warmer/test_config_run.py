"""The table [run]."""

from datetime import time
from pathlib import Path

import pytest

from ollama_warmer.config.config import load_config
from ollama_warmer.config.run import Address, RunConfig
from ollama_warmer.errors import ConfigError

HEAD = """agent = "conversation.a"
[home_assistant]
url = "http://house:8123"
[[targets]]
name = "app"
"""


def load(folder: Path, table: str | None) -> RunConfig:
    """Return what a configuration with this table says."""
    path = folder / "home.toml"
    path.write_text(HEAD + ("" if table is None else f"[run]\n{table}"))
    return load_config(path).run


def test_without_the_table(tmp_path: Path) -> None:
    """Every hour, and nothing to listen to."""
    assert load(tmp_path, None) == load(tmp_path, "") == RunConfig(interval=3600)


def test_times(tmp_path: Path) -> None:
    """Times take the place of the interval, sorted and each once."""
    found = load(tmp_path, 'times = ["17:00", "06:30", "17:00"]\njitter = 60')

    assert found == RunConfig(interval=None, times=(time(6, 30), time(17)), jitter=60)


@pytest.mark.parametrize(
    ("listen", "address", "shown"),
    [
        ("127.0.0.1:9877", Address("127.0.0.1", 9877), "127.0.0.1:9877"),
        ("[::1]:80", Address("::1", 80), "[::1]:80"),
    ],
)
def test_listen(tmp_path: Path, listen: str, address: Address, shown: str) -> None:
    """An address of this machine with a port."""
    found = load(tmp_path, f'interval = 0.5\nlisten = "{listen}"')

    assert found == RunConfig(interval=0.5, listen=address)
    assert address.shown == shown


@pytest.mark.parametrize(
    ("table", "mistake"),
    [
        (
            'interval = 60\ntimes = ["06:30"]',
            "times: is given together with `interval`: leave one of them out",
        ),
        ("interval = 0", "interval: has to be above 0 and at most 86400 seconds"),
        ("times = []", 'times: has to be a list of times such as ["06:30", "17:00"]'),
        ("times = [06:30:00]", 'in quotes, from "00:00" to "23:59"'),
        ('times = ["6:30"]', 'in quotes, from "00:00" to "23:59"'),
        ('times = ["24:00"]', 'in quotes, from "00:00" to "23:59"'),
        ("jitter = -1", "jitter: has to be a number of seconds from 0 to 3600"),
        ("jitter = nan", "jitter: has to be a number of seconds from 0 to 3600"),
        ("jitter = true", "jitter: has to be a number of seconds from 0 to 3600"),
        ('listen = "0.0.0.0:9877"', "listen: can be reached from other machines, and nothing"),
        ('listen = "192.168.1.5:9877"', "listen: can be reached from other machines"),
        ('listen = "[::]:9877"', "listen: can be reached from other machines"),
        ('listen = "127.0.0.1"', "listen: is not an address with a port"),
        ('listen = "127.0.0.1:0"', "listen: is not an address with a port"),
        ('listen = "::1:9877"', "listen: is not an address with a port"),
        ('listen = "house:9877"', "listen: has to begin with the number of an address"),
        ("port = 9877", "port: is not a known key, allowed are interval, jitter, listen, times"),
    ],
)
def test_mistakes(tmp_path: Path, table: str, mistake: str) -> None:
    """Each mistake is told with its key and what would be right."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, table)

    assert mistake in str(caught.value)
    assert "run." in str(caught.value)
