"""Trains the tiny models' vocabulary: byte-level BPE on Home Assistant's own texts.

Home Assistant's prompts are made of names, YAML, tool descriptions and JSON schemas. A vocabulary
trained on such texts cuts them into about as many tokens as a real model's does.
"""

from dataclasses import dataclass
from importlib import import_module
import json
from pathlib import Path
import re
from typing import Any, cast

SIZE = 4096
# A text longer than this says nothing new to the trainer, and would drown the others.
LONGEST_TEXT = 20_000
# Every third integration: enough words, and a second of training instead of four.
STRIDE = 3
PYTHON_TEXTS = ("helpers/llm.py", "helpers/intent.py")

START = "<|im_start|>"
END = "<|im_end|>"
BEGIN_OF_TEXT = "<bos>"
PADDING = "<pad>"
# The vocabulary writes a space as this letter.
WHOLE_WORD = re.compile("\u0120[a-z]{3,}")
CONTROL_TOKENS = (PADDING, BEGIN_OF_TEXT, START, END)


@dataclass(frozen=True)
class Vocabulary:
    """What a GGUF needs to know of a vocabulary; a token's number is its place in the list."""

    tokens: list[str]
    merges: list[str]

    def number(self, token: str) -> int:
        """Return the number of a token."""
        return self.tokens.index(token)

    def unspeakable(self) -> list[int]:
        """Return the tokens an answer must not hold: all but whole words with a space in front.

        Such words come out of the tokenizer as they went in. So an answer that is sent back as
        history has the tokens it was written with, as the answers of trained models have.
        """
        return [n for n, token in enumerate(self.tokens) if not WHOLE_WORD.fullmatch(token)]


def training_texts(home_assistant: Path) -> list[str]:
    """Return the texts to learn from, the same ones in the same order on every machine."""
    integrations = sorted(home_assistant.glob("components/*/strings.json"))[::STRIDE]
    paths = [*integrations, *(home_assistant / name for name in PYTHON_TEXTS)]
    return [path.read_text(encoding="utf-8")[:LONGEST_TEXT] for path in paths]


def train(home_assistant: Path) -> Vocabulary:
    """Train the vocabulary on the installed Home Assistant."""
    tokenizers = import_module("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=sorted(byte_level.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(training_texts(home_assistant), trainer)
    model = cast("dict[str, Any]", json.loads(tokenizer.to_str())["model"])
    numbers = cast("dict[str, int]", model["vocab"])
    merges = [
        merge if isinstance(merge, str) else " ".join(cast("list[str]", merge))
        for merge in model["merges"]
    ]
    return Vocabulary(sorted(numbers, key=numbers.__getitem__), merges)
