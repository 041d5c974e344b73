"""The log of llama-server, alone or below Ollama 0.30 and newer.

What the lines mean: llama.cpp's server-context.cpp (b9452, which Ollama 0.30.0 carries, to b10488
of Ollama 0.33) and Ollama's llama_server.go.
"""

from dataclasses import replace
import re

from ollama_warmer.counts.counts import Facts
from ollama_warmer.counts.register import NUMBER, QUOTE, LogFormat, starting
from ollama_warmer.counts.requests import Request, Requests
from ollama_warmer.ollama.facts import Runner

_SLOT = re.compile(rf"id\s+{NUMBER}\s*\|\s*task\s+{NUMBER}\s*\|\s*(.*)", re.ASCII)
_NEW = re.compile(rf"new prompt,.*?\b(?:task\.n_tokens|n_prompt_tokens) = {NUMBER}\b", re.ASCII)
_REUSED = re.compile(
    rf"(?:(?:cached n_tokens|n_past|n_tokens) = {NUMBER}, memory_seq_rm \["
    rf"|kv cache rm \[{NUMBER}, end\))",
    re.ASCII,
)
_READ = re.compile(rf"prompt eval time =\s*[\d.]+ ms /\s*{NUMBER} tokens", re.ASCII)
# Before May 2026 llama-server began this line with an empty one, and no slot stands in front of
# it. The library's own summary at the end of a process has the same words.
_READ_WITHOUT_SLOT = re.compile(
    rf"(?<!perf_context_print: )(?<!perf_print: ){_READ.pattern}", re.ASCII
)
_RELEASED = re.compile(rf"stop processing\b(?:: n_(?:tokens|past) = {NUMBER},)?", re.ASCII)
_WINDOW = re.compile(rf"new prompt, n_ctx_slot = {NUMBER}", re.ASCII)
# Capital C before b9829; the number behind "against" is the first token that differs, less a
# sliding window.
_CHECKPOINT = re.compile(
    rf"[cC]hecking checkpoint with \[-?\d+, -?\d+\] against {NUMBER}\.\.\.", re.ASCII
)
_SLIDING = re.compile(rf"erased invalidated context checkpoint \(.*?\bn_swa = {NUMBER},", re.ASCII)
_FORCED = re.compile(r"forcing full prompt re-processing")
_CUT = re.compile(r"stop processing: n_(?:tokens|past) = \d+, truncated = 1", re.ASCII)
_BATCH = re.compile(rf" -ub {NUMBER}\b", re.ASCII)
_PROGRESS = re.compile(r"prompt processing\b.*? progress = (\d(?:\.\d{1,9})?)", re.ASCII)


class LlamaServer(LogFormat):
    """Lines about slots and tasks; what a request cost stands in several of them."""

    runner = Runner.LLAMA_SERVER
    starting = starting("llama-server")
    loaded = re.compile(r":\s+model loaded(?:\\+[nr\"]|\"|\s*$)")
    # Ollama's word for it comes after llama-server's own.
    ready = re.compile(rf"msg={QUOTE}llama-server started in ")

    # Python 3.11 has no @override.
    def take(self, line: str, found: Requests) -> bool:  # type: ignore[explicit-override]
        """Note what a line says of a request; return whether it is one of this format."""
        if match := _SLOT.search(line):
            _take_slot(found, *match.groups())
            return True
        if match := _READ_WITHOUT_SLOT.search(line):
            found.note_read_somewhere(int(match[1]))
            return True
        if match := _BATCH.search(line):
            found.seen = replace(found.seen, batch=int(match[1]))
        return False

    def progress(self, line: str) -> float | None:  # type: ignore[explicit-override]
        """Return which share of a prompt has been read; from the fourth second on it is said."""
        return float(match[1]) if (match := _PROGRESS.search(line)) else None


def _take_slot(found: Requests, slot: str, task: str, words: str) -> None:
    """Take a line about the request in a slot."""
    if match := _NEW.match(words):
        found.begin(Request(int(match[1]), (found.starts, slot, task)))
    if (request := found.of_slot(slot, task)) is None:
        if _REUSED.match(words) or _RELEASED.match(words):
            found.note_stranger()
        return
    if found.is_first(request):
        found.seen = _with(found.seen, words)
    if match := _REUSED.match(words):
        # It is printed once for each batch: only the first says what was there before.
        if request.cached is None:
            request.cached = int(match[1] or match[2])
    elif match := _READ.match(words):
        request.note_read(int(match[1]))
    elif match := _RELEASED.match(words):
        request.done = True
        request.length = int(match[1]) if match[1] else None


def _with(facts: Facts, words: str) -> Facts:
    """Return the facts with those of a line, without its slot and task."""
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
