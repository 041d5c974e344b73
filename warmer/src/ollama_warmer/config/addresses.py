"""Says whether an address leads to another machine."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def leaves_unencrypted(url: str) -> bool:
    """Whether what is sent to a web address can be read on its way."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not _is_this_machine(parts.hostname or "")


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
