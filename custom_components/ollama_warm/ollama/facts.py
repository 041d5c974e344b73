"""Facts about Ollama: what came with which release, how a model remembers, who makes its prompt.

The one file that the integration and the warmer share: it lies here, and the warmer's package
takes it in when it is built. So it imports nothing but the standard library, and is written for
Python 3.11. Verdicts stay separate: the warmer is a second witness of what a question cost.

`shown` is always the answer of `/api/show`, of which every part may be missing or of another
type. Names of fields and rules are those of Ollama's server/routes.go and server/images.go of
summer 2026.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
import re
from typing import Any, Final, Self

CACHED_COUNT: Final = (0, 33, 3)
"""The first release that reports how many tokens were cached (ollama PR 17943)."""
RENDER_ONLY: Final = (0, 11, 5)
"""The first release that knows `_debug_render_only`; an older one would answer the chat."""
LLAMA_SERVER: Final = (0, 30, 0)
"""The first release that runs models in llama.cpp's own server (ollama PR 16031)."""
ORDERED_TOOLS: Final = (0, 14, 0)
"""The first release that keeps the order of tools' keys (ollama PR 13525)."""

RECURRENT: Final = (
    "arwkv",
    "falcon-h1",
    "granitehybrid",
    "jamba",
    "kimi-linear",
    "lfm2",
    "mamba",
    "nemotron_h",
    "plamo2",
    "qwen35",
    "qwen3next",
    "rwkv",
)
"""How the architectures begin (`general.architecture`) whose memory cannot be cut, only restored:
llama.cpp's recurrent and hybrid models of summer 2026."""
RECURRENT_KEYS: Final = (".ssm.", ".wkv.", ".shortconv.", ".kda.")
"""What stands in a key of `model_info` of such a model, whatever the name of its architecture."""
_WINDOW_KEY = ".attention.sliding_window"
_HARMONY = ("gptoss", "gpt-oss")
# What Ollama shows of a model that brings no template of its own.
_NO_TEMPLATE = re.compile(r"\s*(\{\{-?\s*\.Prompt\s*-?\}\}\s*)?")
# A statement of Jinja's, or an expression that begins as none of Go's templates can.
_JINJA = re.compile(
    r"\{%|\{#|\{\{-?\s*(?!(?:if|else|end|range|with|template|block|define|break|continue|len|index"
    r"|json|slice|eq|ne|lt|le|gt|ge|and|or|not|print|printf|println|html|js|urlquery|call|toJson"
    r"|currentDate|yesterdayDate|toTypeScriptType)\b)[A-Za-z_']"
)
_BUILT_IN = re.compile(r"^(?:RENDERER|PARSER)\s+\S", re.MULTILINE)


class Memory(StrEnum):
    """What of a prompt can be used again after a difference."""

    ATTENTION = "attention"
    """Anything in front of it."""
    SLIDING = "sliding window"
    """What is in front of a checkpoint, or within the model's window."""
    RECURRENT = "recurrent"
    """What is in front of a checkpoint."""


class PromptPath(StrEnum):
    """Who makes the prompt of messages and tools.

    Only on the native path llama-server learns where a user message begins, and makes a
    checkpoint there.
    """

    RENDERED = "rendered"
    """Ollama, by a template in Go's language or a built-in renderer."""
    NATIVE = "native"
    """llama-server, by the Jinja template in the model's file."""


class Runner(StrEnum):
    """The program that reads prompts."""

    LLAMA_SERVER = "llama-server"
    MLX = "MLX"
    GO = "Ollama's own"


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version, for comparing.

    Attributes:
        text: As the server says it.
        numbers: Its three numbers; none where it is no release, such as a build of one's own,
            which says 0.0.0.
        early: Whether it came before the release of these numbers, as `0.33.3-rc1` did.
    """

    text: str
    numbers: tuple[int, int, int] | None
    early: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `/api/version` says."""
        match = re.match(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(-rc)?", text)
        numbers = (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None
        if match is None or numbers is None or not any(numbers):
            return cls(text=text, numbers=None)
        return cls(text=text, numbers=numbers, early=match[4] is not None)

    def since(self, *release: int) -> bool:
        """Return whether it has what came with a release.

        An early build of that release counts as without, and so does what is no release.
        """
        if self.numbers is None:
            return False
        return self.numbers > release or (self.numbers == release and not self.early)

    def between(self, first: tuple[int, int, int], fixed: tuple[int, int, int]) -> bool:
        """Return whether it has a fault that came with one release and went with another."""
        return self.since(*first) and not self.since(*fixed)


def full_name(model: str) -> str:
    """Return a model's name with its tag, as Ollama lists it; the tag is `latest` if none is."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def memory_of(shown: Mapping[str, Any]) -> Memory:
    """Return how a model remembers; of which nothing is known counts as attention only."""
    info = shown.get("model_info")
    info = info if isinstance(info, dict) else {}
    architecture = str(info.get("general.architecture", "")).lower()
    if architecture.startswith(RECURRENT) or any(
        mark in key for key in info for mark in RECURRENT_KEYS
    ):
        return Memory.RECURRENT
    if any(key.endswith(_WINDOW_KEY) and info[key] for key in info):
        return Memory.SLIDING
    return Memory.ATTENTION


def path_of(shown: Mapping[str, Any]) -> PromptPath:
    """Return who makes a model's prompt.

    `template` is the one that Ollama has chosen: Jinja's where the file's own is used.
    """
    template = _text(shown, "template")
    if (
        _text(shown, "renderer")
        or _text(shown, "parser")
        or _BUILT_IN.search(_text(shown, "modelfile"))
        or _text(shown, "details", "format") == "safetensors"
    ):
        return PromptPath.RENDERED
    if "<|start|>" in template and "<|end|>" in template and _is_harmony(shown):
        return PromptPath.RENDERED
    if _NO_TEMPLATE.fullmatch(template) or _JINJA.search(template):
        return PromptPath.NATIVE
    return PromptPath.RENDERED


def selected_path(selected: str) -> PromptPath:
    """Return who makes the prompt, from `template selection` in Ollama's log (since 0.30.1)."""
    native = selected in {"gguf_chat_template", "none"}
    return PromptPath.NATIVE if native else PromptPath.RENDERED


def runner_of(shown: Mapping[str, Any], version: Version, said: str | None = None) -> Runner | None:
    """Return what runs a model, None where that cannot be known.

    `said` is the server's own word in `/api/ps` (`runner`, since 0.40), None where there is none.
    """
    form = _text(shown, "details", "format")
    if form == "safetensors" or (said is not None and "mlx" in said.lower()):
        return Runner.MLX
    if version.numbers is None or form not in {"", "gguf"}:
        return None
    # The early builds of that release ran models so, too.
    return Runner.LLAMA_SERVER if version.numbers >= LLAMA_SERVER else Runner.GO


def _is_harmony(shown: Mapping[str, Any]) -> bool:
    """Return whether a model is of the family whose prompts Ollama makes by its own rules."""
    info = shown.get("model_info")
    architecture = info.get("general.architecture") if isinstance(info, dict) else None
    return architecture in _HARMONY or _text(shown, "details", "family") in _HARMONY


def _text(value: object, *keys: str) -> str:
    """Return the text under these keys, empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
