"""The table `[counts]` of the configuration file."""

from pathlib import Path

import pytest

from ollama_warmer.config.config import CountsConfig, CountsSource, load_config
from ollama_warmer.errors import ConfigError

REST = """
[home_assistant]
url = "http://house:8123"
[[targets]]
name = "app"
agent = "conversation.a"
"""


def load(folder: Path, table: str) -> CountsConfig:
    """Return what a table says."""
    path = folder / "home.toml"
    path.write_text(f"{table}\n{REST}")
    return load_config(path).counts


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", CountsConfig()),
        ("[counts]", CountsConfig(source=CountsSource.AUTO)),
        ('[counts]\nsource = "none"', CountsConfig(source=CountsSource.NONE)),
        (
            '[counts]\nsource = "file"\npath = "/var/log/ollama.log"',
            CountsConfig(source=CountsSource.FILE, path=Path("/var/log/ollama.log")),
        ),
        (
            '[counts]\nsource = "journald"',
            CountsConfig(source=CountsSource.JOURNALD, unit="ollama"),
        ),
        (
            '[counts]\nsource = "journald"\nunit = "llama@gpu.service"',
            CountsConfig(source=CountsSource.JOURNALD, unit="llama@gpu.service"),
        ),
        (
            '[counts]\nsource = "docker"\ncontainer = "ollama"',
            CountsConfig(source=CountsSource.DOCKER, container="ollama"),
        ),
        (
            '[counts]\nsource = "command"\ncommand = ["ssh", "gpu", "tail -F x"]',
            CountsConfig(source=CountsSource.COMMAND, command=("ssh", "gpu", "tail -F x")),
        ),
    ],
)
def test_read(tmp_path: Path, table: str, expected: CountsConfig) -> None:
    """Every source can be named, and nothing has to be."""
    assert load(tmp_path, table) == expected


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            'source = "log"',
            "source: is not known, allowed are auto, reply, file, journald, docker, command, none",
        ),
        ('source = "file"', 'path: is missing: source = "file" needs it'),
        ('source = "docker"', 'container: is missing: source = "docker" needs it'),
        ('source = "command"', 'command: is missing: source = "command" needs it'),
        ('path = "/x"', 'path: is for source = "file" only: name that source'),
        ('source = "file"\npath = "ollama.log"', "path: has to be a full path such as "),
        ('source = "journald"\nunit = "--all"', "unit: is not a name: it begins with a letter"),
        ('source = "command"\ncommand = "tail -F x"', "command: has to be a list such as "),
        ('source = "command"\ncommand = []', "command: has to be a list such as "),
        ('source = "command"\ncommand = ["tail", 1]', "command: has to be text in quotes, not a"),
        ('file = "/x"', "file: is not a known key, allowed are command, container, path, source,"),
    ],
)
def test_mistakes(tmp_path: Path, table: str, message: str) -> None:
    """Each mistake is told with its key and what would be right."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, f"[counts]\n{table}")
    assert f"counts.{message}" in str(caught.value)
