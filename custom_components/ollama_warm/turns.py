"""What a turn cost, and whose doing it was.

A turn is one call of the model. Nothing here knows anybody's words: a turn keeps counts, a
verdict, and of the prompt at most a quote of the system text that changed.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .api import Counts
from .prefix.agent_prefix import WirePrefix

# Template ends and the tokens in front of a checkpoint: on the native path a recurrent model
# was seen to re-read 14 tokens more than an attention-only one for the same question.
FEW_TOKENS = 24
# Tokens per character differ between an entity list and a sentence, and a template may leave
# the tools out, so the share of the new text is not the share of its tokens.
_DENSER = 1.5
_BYTES_PER_TOKEN = 3
# A loaded model answers at once; one that had to be loaded takes seconds (Ollama counts it).
_LOADED_ANEW_S = 0.2
_LONGEST_QUOTE = 120
_BATCHES = (512, 1024, 2048)


class Verdict(StrEnum):
    """What the counts of a turn say of the cache."""

    WARM = "warm"
    PROMPT_CHANGED = "prompt_changed"
    SERVER_LOST_IT = "server_lost_it"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """Why tokens were re-read."""

    NOTHING = "nothing"
    NO_COUNT = "no_count"
    FIRST_PROMPT = "first_prompt"
    SEGMENT_CHANGED = "segment_changed"
    TOOL_CHANGED = "tool_changed"
    MODEL_LOADED = "model_loaded"
    CHECKPOINT = "checkpoint"
    EVICTED = "evicted"


@dataclass(frozen=True, slots=True)
class Wire:
    """The text of one turn in parts: system text, tools, then each message."""

    parts: tuple[str, ...]

    @property
    def length(self) -> int:
        """Return the length in characters."""
        return sum(map(len, self.parts))

    @property
    def stable_length(self) -> int:
        """Return the length of the part that is the same for everybody."""
        return sum(map(len, self.parts[:2]))

    def behind(self, length: int) -> str:
        """Return the text behind that many characters."""
        return "".join(self.parts)[length:]

    def shared(self, other: Wire | None) -> int:
        """Return how many characters from the beginning are the same."""
        total = 0
        for mine, theirs in zip(self.parts, other.parts if other else (), strict=False):
            if mine != theirs:
                return total + _common_length(mine, theirs)
            total += len(mine)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One call of the model. Counts are None when unknown; durations are in seconds."""

    prompt_tokens: int | None
    cached_tokens: int | None
    prefill_s: float | None
    load_s: float | None
    total_s: float | None
    verdict: Verdict
    reason: Reason
    detail: str = ""
    """What changed: a quote of the system text, or the name of a tool."""
    node: str | None = None

    @property
    def re_read_tokens(self) -> int | None:
        """Return how many tokens of the prompt had to be read, None when unknown."""
        if self.prompt_tokens is None or self.cached_tokens is None:
            return None
        return self.prompt_tokens - self.cached_tokens

    def as_dict(self) -> dict[str, Any]:
        """Return the turn as the contract with the warmer has it."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "re_read_tokens": self.re_read_tokens,
            "prefill_s": self.prefill_s,
            "load_s": self.load_s,
            "total_s": self.total_s,
            "verdict": self.verdict.value,
            "reason": self.sentence(),
            "node": self.node,
        }

    def sentence(self) -> str | None:
        """Return the reason in words, None when there is nothing to explain."""
        if self.reason is Reason.NOTHING:
            return None
        if self.detail:
            return f"{self.reason.value}: {self.detail}"
        return self.reason.value


def judge(counts: Counts, wire: Wire, last: Wire | None, prefix: WirePrefix) -> Turn:
    """Return the turn with its verdict: what was to be expected, and what came.

    `last` is what this agent last sent to the server, None when nothing is known of it.
    """
    verdict, reason, detail = _verdict(counts, wire, last, prefix)
    return Turn(
        prompt_tokens=counts.prompt_tokens,
        cached_tokens=counts.cached_tokens,
        prefill_s=counts.prefill_s,
        load_s=counts.load_s,
        total_s=counts.total_s,
        verdict=verdict,
        reason=reason,
        detail=detail,
    )


def _verdict(
    counts: Counts, wire: Wire, last: Wire | None, prefix: WirePrefix
) -> tuple[Verdict, Reason, str]:
    """Compare the counts with what the wire text lets expect."""
    if counts.prompt_tokens is None or counts.cached_tokens is None:
        return Verdict.UNKNOWN, Reason.NO_COUNT, ""
    shared = wire.shared(last)
    re_read = counts.prompt_tokens - counts.cached_tokens
    if shared < wire.stable_length:
        return Verdict.PROMPT_CHANGED, *_what_changed(last, prefix)
    if re_read <= _tokens_at_most(wire, shared, counts.prompt_tokens) + FEW_TOKENS:
        return Verdict.WARM, Reason.NOTHING, ""
    return Verdict.SERVER_LOST_IT, _likely_cause(counts, re_read), ""


def _tokens_at_most(wire: Wire, shared: int, prompt_tokens: int) -> float:
    """Return how many tokens the text may have that the server has not seen."""
    new = wire.behind(shared)
    by_share = len(new) * prompt_tokens / max(wire.length, 1) * _DENSER
    return max(by_share, len(new.encode()) / _BYTES_PER_TOKEN)


def _what_changed(last: Wire | None, prefix: WirePrefix) -> tuple[Reason, str]:
    """Name the part of the prefix that is not as it was."""
    if last is None:
        return Reason.FIRST_PROMPT, ""
    if prefix.lost:
        return Reason.SEGMENT_CHANGED, prefix.lost[0][:_LONGEST_QUOTE]
    if prefix.changed_tools:
        return Reason.TOOL_CHANGED, prefix.changed_tools[0][:_LONGEST_QUOTE]
    return Reason.SEGMENT_CHANGED, ""


def _likely_cause(counts: Counts, re_read: int) -> Reason:
    """Return why a server no longer has what it was sent, the likeliest cause first."""
    if (counts.load_s or 0) > _LOADED_ANEW_S:
        return Reason.MODEL_LOADED
    if counts.cached_tokens and any(0 <= re_read - batch <= batch // 4 for batch in _BATCHES):
        return Reason.CHECKPOINT
    return Reason.EVICTED


def _common_length(first: str, second: str) -> int:
    """Return how many characters two texts share from their beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
