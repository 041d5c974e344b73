"""What several commands share: kinds of options, and the warning about unencrypted addresses."""

from pathlib import Path

import click

from ollama_warmer.addresses import leaves_unencrypted

FILE = click.Path(path_type=Path)


def warn_of_http(url: str) -> None:
    """Say that the token can be read on its way, if it leaves this machine without TLS."""
    if leaves_unencrypted(url):
        click.echo(
            f"Warning: {url} is not encrypted, whoever listens in the network can read the token: "
            "use https where Home Assistant offers it",
            err=True,
        )
