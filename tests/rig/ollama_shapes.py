"""What Ollama's answers look like: objects, durations, times and errors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from tests.rig import weights
from tests.rig.models import CHAT_TEMPLATE, Memory
from tests.rig.ollama_engine import Json, Timings

NANOSECONDS = 1_000_000_000
MILLISECOND = 1_000_000

# Enough of a template in Go's language to be told from one in Jinja's; nobody executes it.
GO_TEMPLATE = (
    "{{- if .System }}<|im_start|>system\n{{ .System }}{{ .Tools }}<|im_end|>\n{{ end }}"
    "{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}"
    "<|im_start|>assistant\n"
)


@dataclass
class ServedModel:
    """A model as the stand-in serves it."""

    name: str
    memory: Memory
    gguf: Path
    path: Literal["native", "rendered"] = "native"
    answer_tokens: int = 12
    """Where an answer ends by itself (the model would not know)."""
    capabilities: tuple[str, ...] = ("completion", "tools")
    """Add "thinking" for a model that takes `think: true`."""
    chat_template: str = ""
    """In place of the file's own one, as a Modelfile's TEMPLATE can be; empty leaves it."""
    shows_chat_template: bool = False
    """Native models only: newer Ollamas show the file's own Jinja template as `template`."""
    context_length: int = weights.TRAINED_CONTEXT
    threads: int = 1
    """More only help a model that has work for them."""

    @property
    def full_name(self) -> str:
        """Name with a tag, as Ollama lists it."""
        return self.name if ":" in self.name else f"{self.name}:latest"

    @property
    def digest(self) -> str:
        """Something that tells this model from the others."""
        return hashlib.sha256(self.full_name.encode()).hexdigest()

    @property
    def template(self) -> str:
        """What /api/show has to say about the template."""
        if self.path == "rendered":
            return GO_TEMPLATE
        return CHAT_TEMPLATE if self.shows_chat_template else ""


@dataclass
class Record:
    """One chat or generate request, with the truth about it."""

    endpoint: str
    model: str
    body: Json
    raw: str
    """The body as it came in, byte for byte."""
    started: float
    kind: Literal["answer", "render", "load", "unload", "refused"] = "refused"
    prompt: str | None = None
    """The prompt as text, before a token in front of it, whoever rendered it."""
    native: Json | None = None
    """What llama.cpp was sent, where it made the prompt itself."""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    """llama.cpp's own count, reported or not."""
    seconds: float = 0
    """Time it took to read the prompt."""
    load_seconds: float = 0
    ended: float | None = None
    cancelled: bool = False
    error: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def re_read_tokens(self) -> int:
        """Prompt tokens that were not in memory."""
        if self.prompt_tokens is None or self.cached_tokens is None:
            raise ValueError(f"{self.endpoint} read no prompt: {self.kind}")
        return self.prompt_tokens - self.cached_tokens


@dataclass
class Scripted:
    """An answer that takes the place of the model's own; the prompt is read all the same."""

    content: str | list[str] = ""
    """A list is streamed piece by piece."""
    tool_calls: list[Json] = field(default_factory=list)
    """Ollama's form, {"function": {"name": ..., "arguments": {...}}}, or only the inner part."""
    thinking: str = ""

    @property
    def pieces(self) -> list[str]:
        """The content as it is streamed."""
        return [self.content] if isinstance(self.content, str) else list(self.content)

    def calls(self) -> list[Json]:
        """Return the tool calls as Ollama writes them, with numbers and ids."""
        return [
            {
                "id": call.get("id", f"call_{index:08d}"),
                "function": {"index": index} | call.get("function", call),
            }
            for index, call in enumerate(self.tool_calls)
        ]


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; a pre-release counts as what it leads up to."""
    return tuple(int(part) for part in version.partition("-")[0].split("."))


def now() -> str:
    """Return the present time as Ollama writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def chat_part(content: str, thinking: str = "", calls: Sequence[Json] = ()) -> Json:
    """Return the part of a /api/chat object that carries the answer."""
    message: Json = {"role": "assistant", "content": content}
    if thinking:
        message["thinking"] = thinking
    if calls:
        message["tool_calls"] = list(calls)
    return {"message": message}


def generate_part(content: str, thinking: str = "", calls: Sequence[Json] = ()) -> Json:
    """Return the part of a /api/generate object that carries the answer."""
    part: Json = {"response": content}
    if thinking:
        part["thinking"] = thinking
    if calls:
        part["tool_calls"] = list(calls)
    return part


def metrics(timings: Timings, total: float, load: float, version: str, *, cached: bool) -> Json:
    """Return the figures of a last chunk; what is zero is left out, except the cached count."""
    # One release counted only what it had to read.
    counted = timings.read if version == "0.30.0" else timings.cached + timings.read
    figures = {
        "total_duration": int(total * NANOSECONDS),
        "load_duration": int(load * NANOSECONDS),
        "prompt_eval_count": counted,
        "prompt_eval_duration": int(timings.read_ms * MILLISECOND),
        "eval_count": timings.written,
        "eval_duration": int(timings.written_ms * MILLISECOND),
    }
    shown: Json = {name: value for name, value in figures.items() if value}
    if cached:
        shown["prompt_eval_cached_count"] = timings.cached
    return shown


def details(model: ServedModel) -> Json:
    """Return the short description of a model."""
    family = model.memory.architecture
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "0.6M",
        "quantization_level": "F32",
    }


def listed(model: ServedModel) -> Json:
    """Return a model as /api/tags and /api/ps name it."""
    return {
        "name": model.full_name,
        "model": model.full_name,
        "size": model.gguf.stat().st_size,
        "digest": model.digest,
        "details": details(model),
    }


def shown(model: ServedModel) -> Json:
    """Return the answer of /api/show."""
    family = model.memory.architecture
    info: dict[str, Any] = {
        "general.architecture": family,
        f"{family}.block_count": weights.LAYERS,
        f"{family}.context_length": model.context_length,
        f"{family}.embedding_length": weights.WIDTH,
    }
    if model.memory is Memory.RECURRENT:
        info[f"{family}.ssm.conv_kernel"] = weights.CONVOLUTION
        info[f"{family}.ssm.inner_size"] = weights.INNER
        info[f"{family}.ssm.state_size"] = weights.STATE
    if model.memory is Memory.SLIDING:
        info[f"{family}.attention.sliding_window"] = weights.SLIDING_WINDOW
    answer: Json = {
        "modelfile": f"FROM {model.full_name}\n",
        "details": details(model),
        "model_info": info,
        "capabilities": list(model.capabilities),
        "modified_at": now(),
    }
    return answer | ({"template": model.template} if model.template else {})


def error(status: int, message: str) -> web.Response:
    """Return an error as Ollama answers it."""
    return web.json_response({"error": message}, status=status)


def line(data: Json) -> bytes:
    """Return an object as one line of a stream."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
