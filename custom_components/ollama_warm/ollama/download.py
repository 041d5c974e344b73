"""A model that the server downloads, and how far it has come."""

from collections.abc import Callable
from contextlib import aclosing

from .client import OllamaClient
from .reading import count


async def async_download(
    client: OllamaClient, model: str, progress: Callable[[float], None]
) -> None:
    """Have a model downloaded, and report each percent of it as a share of 1. Raises OllamaError.

    A model comes in layers, and Ollama names the size of each only when it comes to it. The
    share never falls: the first layer is by far the largest.
    """
    sizes: dict[str, int] = {}
    there: dict[str, int] = {}
    reported = 0
    async with aclosing(client.pull(model)) as chunks:
        async for chunk in chunks:
            if not (size := count(chunk.get("total"))):
                continue
            layer = str(chunk.get("digest"))
            sizes[layer], there[layer] = size, count(chunk.get("completed")) or 0
            percent = min(100, 100 * sum(there.values()) // sum(sizes.values()))
            if percent > reported:
                reported = percent
                progress(percent / 100)
