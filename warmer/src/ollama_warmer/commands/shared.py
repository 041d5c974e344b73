"""What several commands share: kinds of options, and the warning about unencrypted addresses."""

from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import click

FILE = click.Path(path_type=Path)


def warn_of_http(url: str) -> None:
    """Say that the token can be read on its way, if it leaves this machine without TLS."""
    parts = urlsplit(url)
    if parts.scheme == "http" and not _is_this_machine(parts.hostname or ""):
        click.echo(
            f"Warning: {url} is not encrypted, whoever listens in the network can read the token: "
            "use https where Home Assistant offers it",
            err=True,
        )


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
