"""What several commands share: kinds of options, a warning, and a question before long work."""

from pathlib import Path
import sys

import click

from ollama_warmer.config.addresses import leaves_unencrypted
from ollama_warmer.errors import ConfigError
from ollama_warmer.screen import say

FILE = click.Path(path_type=Path)


def warn_of_http(url: str) -> None:
    """Say that the token can be read on its way, if it leaves this machine without TLS."""
    if leaves_unencrypted(url):
        say(
            f"Warning: {url} is not encrypted, whoever listens in the network can read the token: "
            "use https where Home Assistant offers it"
        )


def confirm(warning: str) -> None:
    """Ask whether to go on in spite of a warning.

    Raises:
        ConfigError: The person does not want to, or there is no terminal to ask on.
    """
    if not _on_a_terminal():
        raise ConfigError(f"{warning} Add --yes if that is meant")
    if not click.confirm(f"{warning} Go on?", err=True):
        raise ConfigError("Nothing was measured")


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
