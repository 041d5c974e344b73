"""How a prefix is read into a server's cache, whatever the server and the model are.

The plain way is a chat that asks for one token. For a recurrent or sliding-window model that
Ollama renders itself, it leaves the nearest checkpoint a batch in front of the question, and
every new conversation re-reads that batch (1,018 to 1,030 tokens were measured). A raw prompt
that ends with the prefix leaves a checkpoint right there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .client import OllamaClient
from .facts import RENDER_ONLY, Memory, PromptPath, Runner, Version, memory_of, path_of, runner_of

# 0 would be left out on Ollama's rendered path, and the model would talk on and on.
ONE_TOKEN = {"num_predict": 1}
# Two tokens, three where a space is one of its own. llama.cpp's last checkpoint lies four
# tokens before the end of a prompt, so it falls inside the prefix.
_SUFFIX = "a b"
# Two questions that differ from their first letter: what their prompts share is the prefix.
_FIRST_WORDS, _OTHER_WORDS = "A", "0"


class Way(StrEnum):
    """The ways to warm a prefix."""

    CHAT = "chat"
    RAW = "raw"
    TWO_QUESTIONS = "two_questions"
    """MLX keeps its checkpoint only when a second conversation parts from the first."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The way for one model, and the server's version that it was chosen for."""

    way: Way
    version: str


async def async_choose(client: OllamaClient, body: Mapping[str, Any], version: str) -> Chosen:
    """Return the way that warms this model best on this server. Raises OllamaError."""
    shown = await client.show(body["model"])
    release = Version.read(version)
    mlx = runner_of(shown, release) is Runner.MLX
    if (
        path_of(shown) is PromptPath.RENDERED
        and (mlx or memory_of(shown) is not Memory.ATTENTION)
        and release.since(*RENDER_ONLY)
        and await async_raw_prompt(client, body)
    ):
        return Chosen(Way.RAW, version)
    return Chosen(Way.TWO_QUESTIONS if mlx else Way.CHAT, version)


async def async_raw_prompt(client: OllamaClient, body: Mapping[str, Any]) -> str | None:
    """Return the prompt of a raw ping: what all conversations share, and a short end.

    `body` is the chat body of a turn without its conversation; its first message is the system
    text. None where the server does not render. Raises OllamaError.
    """
    system = body["messages"][0]
    prompts = [
        await client.render({**body, "messages": [system, {"role": "user", "content": words}]})
        for words in (_FIRST_WORDS, _OTHER_WORDS)
    ]
    first, other = prompts
    if first is None or other is None:
        return None
    # A space belongs to the word behind it in most vocabularies.
    shared = first[: common_length(first, other)].rstrip(" ")
    return f"{shared}{_SUFFIX}" if shared else None


def common_length(first: str, other: str) -> int:
    """Return how many characters two texts share from their beginning."""
    low, high = 0, min(len(first), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == other[:middle] else (low, middle - 1)
    return low
