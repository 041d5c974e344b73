"""How a model remembers a prompt, what runs it, and who makes its prompt."""

from collections.abc import Mapping
from enum import StrEnum
import re
from typing import Any

# Architectures whose memory cannot be cut, only restored: ollama's sched.go and llama.cpp's own
# list of recurrent and hybrid models, as of summer 2026.
_RECURRENT = re.compile(
    r"qwen35|qwen3next|nemotron_h|lfm2|granitehybrid|falcon-h1|jamba|mamba|rwkv"
)


class Memory(StrEnum):
    """What of a prompt can be used again after a difference."""

    ATTENTION = "attention"
    SLIDING = "sliding window"
    RECURRENT = "recurrent"


class Runner(StrEnum):
    """The program that reads prompts."""

    LLAMA_SERVER = "llama-server"
    MLX = "MLX"
    GO = "Ollama's own"


class Path(StrEnum):
    """Who makes the prompt of messages and tools.

    Only on the native path llama-server learns where a user message begins, and makes a
    checkpoint there.
    """

    RENDERED = "rendered"
    NATIVE = "native"


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


def path_of(shown: Mapping[str, Any]) -> Path:
    """Return who makes the prompt, from the answer of `/api/show` (Ollama 0.12 and newer).

    A template in Go's language is Ollama's to execute, one in Jinja's is llama-server's.
    """
    if shown.get("renderer") or shown.get("parser"):
        return Path.RENDERED
    template = str(shown.get("template") or "")
    return Path.RENDERED if "{{" in template and "{%" not in template else Path.NATIVE


def selected_path(selected: str) -> Path:
    """Return who makes the prompt, from `template selection` in Ollama's log (since 0.30.1)."""
    return Path.NATIVE if selected == "gguf_chat_template" else Path.RENDERED
