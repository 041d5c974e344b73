"""Who else loads a model, and with which context length.

Ollama reloads a model for each request whose context length is another one, and what was
cached is lost.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from homeassistant.const import CONF_MODEL, CONF_URL
from homeassistant.core import HomeAssistant, callback

from ..const import CONF_NUM_CTX, CORE_DOMAIN, CORE_NUM_CTX, DEFAULT_NUM_CTX, DOMAIN, WINDOW_SHARE
from ..ollama.address import is_same_server
from ..ollama.facts import full_name
from .disabled import async_is_disabled

# Half as much again from one to the next, as each takes memory of the GPU.
_SIZES = (4096, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 98304, 131072, 196608, 262144)
# For a conversation, and for what is exposed next.
_ROOM = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUser:
    """An agent in this Home Assistant that has a model loaded."""

    subentry_id: str
    name: str
    ours: bool
    num_ctx: int


@callback
def async_clients(hass: HomeAssistant, url: str, model: str) -> Iterator[ModelUser]:
    """Yield all agents that use a model of a server."""
    for domain, usual in ((DOMAIN, DEFAULT_NUM_CTX), (CORE_DOMAIN, CORE_NUM_CTX)):
        for entry in hass.config_entries.async_entries(domain, include_disabled=False):
            if not is_same_server({**entry.data, **entry.options}.get(CONF_URL), url):
                continue
            for subentry in entry.subentries.values():
                if full_name(str(subentry.data.get(CONF_MODEL, ""))) == full_name(
                    model
                ) and not async_is_disabled(hass, subentry.subentry_id, domain):
                    yield ModelUser(
                        subentry_id=subentry.subentry_id,
                        name=subentry.title,
                        ours=domain == DOMAIN,
                        num_ctx=int(subentry.data.get(CONF_NUM_CTX, usual)),
                    )


def next_size(num_ctx: int, needed: int) -> int:
    """Return the next sensible context length in which a prompt has room."""
    larger = [size for size in _SIZES if size > num_ctx]
    fitting = [size for size in larger if size >= needed * _ROOM]
    return next(iter(fitting or larger[-1:]), num_ctx)


def fits(num_ctx: int, tokens: int) -> bool:
    """Return whether a prompt is read whole with this context length."""
    return tokens <= num_ctx * WINDOW_SHARE


def longest(shown: Mapping[str, Any]) -> int | None:
    """Return the longest context that a model was made for, from the answer of `/api/show`."""
    info = shown.get("model_info")
    if not isinstance(info, dict):
        return None
    length = info.get(f"{info.get('general.architecture')}.context_length")
    return length if isinstance(length, int) else None
