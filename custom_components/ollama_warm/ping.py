"""How a prefix is read into a server's cache, whatever the server and the model are.

The plain way is a chat that asks for one token. For a recurrent or sliding-window model that
Ollama renders itself, it leaves the nearest checkpoint a batch in front of the question, and
every new conversation re-reads that batch (1,018 to 1,030 tokens were measured). A raw prompt
that ends with the prefix leaves a checkpoint right there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
import re
from typing import Any

from .api import OllamaClient

# 0 would be left out on Ollama's rendered path, and the model would talk on and on.
ONE_TOKEN = {"num_predict": 1}
# The first Ollama that knows `_debug_render_only`.
_RENDERS_SINCE = (0, 11, 5)
# Two tokens, three where a space is one of its own. llama.cpp's last checkpoint lies four
# tokens before the end of a prompt, so it falls inside the prefix.
_SUFFIX = "a b"
# Two questions that differ from their first letter: what their prompts share is the prefix.
_FIRST_WORDS, _OTHER_WORDS = "A", "0"
_RECURRENT = re.compile(
    r"qwen3(5|next)|nemotron_h|lfm2|granitehybrid|falcon-h1|jamba|mamba|rwkv|plamo2|kimi-linear"
)


class Way(StrEnum):
    """The ways to warm a prefix."""

    CHAT = "chat"
    RAW = "raw"
    TWO_QUESTIONS = "two_questions"
    """MLX keeps its checkpoint only when a second conversation parts from the first."""


class Memory(StrEnum):
    """What a model can go back to: any token, or a checkpoint only."""

    ATTENTION = "attention"
    SLIDING = "sliding"
    RECURRENT = "recurrent"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The way for one model, and the server's version that it was chosen for."""

    way: Way
    version: str


async def async_choose(client: OllamaClient, body: Mapping[str, Any], version: str) -> Chosen:
    """Return the way that warms this model best on this server. Raises OllamaError."""
    shown = await client.show(body["model"])
    mlx = _text(shown, "details", "format") == "safetensors"
    renders = mlx or _ollama_renders(shown)
    if (
        renders
        and (mlx or memory_of(shown) is not Memory.ATTENTION)
        and version_numbers(version) >= _RENDERS_SINCE
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


def memory_of(shown: Mapping[str, Any]) -> Memory:
    """Return how a model remembers, from the answer of `/api/show`."""
    info = shown.get("model_info")
    info = info if isinstance(info, dict) else {}
    if _RECURRENT.match(str(info.get("general.architecture", ""))) or any(
        ".ssm." in key for key in info
    ):
        return Memory.RECURRENT
    if any(key.endswith(".attention.sliding_window") and info[key] for key in info):
        return Memory.SLIDING
    return Memory.ATTENTION


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version for comparing; those of a pre-release are its release's."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))


def _ollama_renders(shown: Mapping[str, Any]) -> bool:
    """Return whether Ollama makes the prompt itself, and not llama-server from the model's file.

    A template in Go's language or a built-in renderer says so; one in Jinja's is the file's.
    """
    template = _text(shown, "template")
    return bool(_text(shown, "renderer") or (template and "{%" not in template))


def _text(value: object, *keys: str) -> str:
    """Return the text under these keys, empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
