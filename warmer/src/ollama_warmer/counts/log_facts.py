"""Finds in a model server's log why it read a prompt again, which the counts alone do not tell.

What the lines mean: llama.cpp's server-context.cpp (b9452, which Ollama 0.30.0 carries, to b10488
of Ollama 0.33), Ollama's llama_server.go and x/mlxrunner/prefix_cache.go (0.33).
"""

from dataclasses import dataclass, replace
from enum import StrEnum
import re

_NUMBER = r"(\d{1,9})"  # longer ones are none of a log's
_WINDOW = re.compile(rf"new prompt, n_ctx_slot = {_NUMBER}", re.ASCII)
# Capital C before b9829; the number behind "against" is the first token that differs, less a
# sliding window.
_CHECKPOINT = re.compile(
    rf"[cC]hecking checkpoint with \[-?\d+, -?\d+\] against {_NUMBER}\.\.\.", re.ASCII
)
_SLIDING = re.compile(rf"erased invalidated context checkpoint \(.*?\bn_swa = {_NUMBER},", re.ASCII)
_FORCED = re.compile(r"forcing full prompt re-processing")
_CUT = re.compile(r"stop processing: n_(?:tokens|past) = \d+, truncated = 1", re.ASCII)
_CUT_BEFORE = re.compile(r'msg=\\?"truncating input prompt\\?"')
_BATCH = re.compile(rf" -ub {_NUMBER}\b", re.ASCII)
_PROGRESS = re.compile(r"prompt processing\b.*? progress = (\d(?:\.\d{1,9})?)", re.ASCII)
_MLX_PROGRESS = re.compile(
    rf'msg=\\?"Prompt processing progress\\?" processed={_NUMBER} total={_NUMBER}', re.ASCII
)


class Runner(StrEnum):
    """The program that reads the prompts, by the lines that it writes."""

    LLAMA_SERVER = "llama-server"
    GO = "Ollama's runner of 0.4 to 0.24"
    MLX = "MLX"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a log shows about one question, as far as it does.

    Attributes:
        runner: Who read the prompt.
        window: Tokens that fit into the slot's context.
        against: The first token that the server had not seen before, less `sliding`, whether or
            not it still had a state to go on from there. A server that can cut its memory anywhere
            does not say.
        sliding: Tokens of the model's sliding window.
        checkpoints: Whether it looked for a checkpoint: only a recurrent model, or one with a
            sliding window, needs one.
        batch: Tokens of one batch, if the model was loaded meanwhile.
        forced: Whether it said that it read the whole prompt for want of a checkpoint.
        cut: Whether the prompt, or its answer, did not fit into the context.
        loads: How often a model was loaded since the question before was answered.
        others: Requests of others since the question before was answered.
        lost: Whether lines are missing since the question before was answered.
    """

    runner: Runner | None = None
    window: int | None = None
    against: int | None = None
    sliding: int = 0
    checkpoints: bool = False
    batch: int | None = None
    forced: bool = False
    cut: bool = False
    loads: int = 0
    others: int = 0
    lost: bool = False

    @property
    def agreed(self) -> int | None:
        """Tokens at the beginning that the server had seen before, at least; none if not said."""
        # Less than one window of them shows as 0.
        return self.against + self.sliding if self.against else self.against


def with_slot_line(facts: Facts, words: str) -> Facts:
    """Return the facts with those of a line of llama-server, without its slot and task."""
    if match := _WINDOW.match(words):
        return replace(facts, runner=Runner.LLAMA_SERVER, window=int(match[1]))
    if match := _CHECKPOINT.match(words):
        # Every checkpoint is held against the same token.
        return replace(facts, checkpoints=True, against=int(match[1]))
    if match := _SLIDING.match(words):
        return replace(facts, checkpoints=True, sliding=int(match[1]))
    if _FORCED.match(words):
        return replace(facts, checkpoints=True, forced=True)
    if _CUT.match(words):
        return replace(facts, cut=True)
    return facts


def with_line(facts: Facts, line: str) -> Facts:
    """Return the facts with those of a line that belongs to no slot."""
    if match := _BATCH.search(line):
        return replace(facts, batch=int(match[1]))
    if _CUT_BEFORE.search(line):
        return replace(facts, cut=True)
    return facts


def progress(line: str) -> float | None:
    """Return which share of a prompt has been read, 0 to 1, if the line tells it."""
    if match := _PROGRESS.search(line):
        return min(float(match[1]), 1.0)
    if (match := _MLX_PROGRESS.search(line)) and int(match[2]):
        return min(int(match[1]) / int(match[2]), 1.0)
    return None
