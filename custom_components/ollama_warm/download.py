"""A model that the server downloads, and how far it has come."""

from collections.abc import Callable

from .api import OllamaClient


async def async_download(
    client: OllamaClient, model: str, progress: Callable[[float], None]
) -> None:
    """Have a model downloaded, and tell each percent of it as a share of 1. Raises OllamaError.

    A model comes in layers, and Ollama names the size of each only when it comes to it. The
    share never falls: the first layer is by far the largest.
    """
    sizes: dict[str, int] = {}
    there: dict[str, int] = {}
    told = 0
    async for chunk in client.pull(model):
        layer, size = str(chunk.get("digest")), chunk.get("total")
        if not isinstance(size, int) or size <= 0:
            continue
        sizes[layer], there[layer] = size, int(chunk.get("completed") or 0)
        percent = min(100, 100 * sum(there.values()) // sum(sizes.values()))
        if percent > told:
            told = percent
            progress(percent / 100)
