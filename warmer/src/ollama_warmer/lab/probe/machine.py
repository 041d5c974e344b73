"""What a result says of the machine it was measured on, as far as the probe can see it."""

from collections.abc import Mapping
from ipaddress import ip_address
import os
import platform
import socket
from urllib.parse import urlsplit

# Settings of the server; this program sees its own environment, which is the same one at most on
# the same machine.
_SETTINGS = (
    "OLLAMA_NUM_PARALLEL",
    "OLLAMA_KV_CACHE_TYPE",
    "OLLAMA_MAX_LOADED_MODELS",
    "OLLAMA_CONTEXT_LENGTH",
)
_GIB = 1024**3


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return Ollama's settings in an environment; `unset` where there is none."""
    return {name: environ.get(name) or "unset" for name in _SETTINGS}


def machine(url: str) -> str:
    """Return processor and memory of the machine with the server; `unknown` for another one."""
    if not _is_this_machine(url):
        return "unknown"
    processor = platform.processor() or platform.machine() or "unknown"
    memory = _memory_gb()
    return processor if memory is None else f"{processor} / {memory} GB"


def place(url: str) -> str:
    """Return words that distinguish this machine from others, for the name of a folder."""
    if not _is_this_machine(url):
        return urlsplit(url).hostname or "unknown"
    memory = _memory_gb()
    name = socket.gethostname().partition(".")[0].lower()
    return name if memory is None else f"{name}-{memory}gb"


def _memory_gb() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB)
    except (AttributeError, ValueError, OSError):
        return None  # a system that does not say


def _is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
