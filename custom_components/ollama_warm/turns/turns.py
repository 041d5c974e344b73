"""What a turn cost, and whose doing it was.

A turn is one call of the model. Nothing here knows anyone's words: a turn keeps counts, a
verdict, and of the prompt at most a quote of the system text that changed.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
import hashlib
import json
from typing import Any

from ..ollama.counts import Counts
from ..prefix.explain import PrefixPart, explain
from ..prefix.tool_union import WireTool

# Template ends and the tokens in front of a checkpoint: on the native path a recurrent model
# was seen to re-read 14 tokens more than an attention-only one for the same question.
FEW_TOKENS = 24
# Tokens per character differ between an entity list and a sentence, and a template may leave
# the tools out, so the share of the new text is not the share of its tokens.
_DENSER = 1.5
_BYTES_PER_TOKEN = 3
# Ollama's load_duration is a few milliseconds for a model that is there, and next to nothing
# takes less than this to load. It only counts where the whole cache is gone.
_RELOADED_S = 0.05
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
    RIDES_ALONG = "rides_along"
    NO_COUNT = "no_count"
    FIRST_PROMPT = "first_prompt"
    SEGMENT_CHANGED = "segment_changed"
    TOOL_CHANGED = "tool_changed"
    MODEL_LOADED = "model_loaded"
    OTHER_OPTIONS = "other_options"
    OTHER_NODE = "other_node"
    CHECKPOINT = "checkpoint"
    EVICTED = "evicted"
    FAILED = "failed"
    """No one knows, as the question or the warm-up reached no result."""


_OF_PART = {PrefixPart.SEGMENT: Reason.SEGMENT_CHANGED, PrefixPart.TOOL: Reason.TOOL_CHANGED}


@dataclass(frozen=True, slots=True)
class Wire:
    """The text of one turn: the prefix, then each message as text. `node` served it, if known."""

    system: str
    tools: tuple[WireTool, ...]
    messages: tuple[str, ...] = ()
    node: str | None = None
    tools_length: int | None = None
    """The length of the tools in characters, where it is known already."""

    def length(self) -> int:
        """Return the length in characters."""
        tools = len(json.dumps(self.tools)) if self.tools_length is None else self.tools_length
        return len(self.system) + tools + sum(map(len, self.messages))

    def remembered(self) -> Wire:
        """Return what is kept of this turn for judging the next one: of its words, digests."""
        return replace(self, messages=tuple(map(_digest, self.messages)))


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
    detail: str = field(default="", repr=False)
    """What changed: a quote of the system text, or the name of a tool. For administrators."""
    node: str | None = None
    riding_tokens: int | None = None
    """About how many tokens of the question were there because they were learned as moving; an
    estimate from their length, None where they were not sent with this call."""
    first_token_s: float | None = None
    """From sending the question to the first word of the answer, None for a warm-up."""

    @property
    def re_read_tokens(self) -> int | None:
        """Return how many tokens of the prompt had to be read, None when unknown."""
        if self.prompt_tokens is None or self.cached_tokens is None:
            return None
        return self.prompt_tokens - self.cached_tokens

    def as_dict(self) -> dict[str, Any]:
        """Return the turn as the contract with the warmer has it.

        Of the reason only its kind: the detail quotes the prompt, and `shown.py` knows for whom.
        """
        return {
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "re_read_tokens": self.re_read_tokens,
            "prefill_s": self.prefill_s,
            "load_s": self.load_s,
            "total_s": self.total_s,
            "verdict": self.verdict.value,
            "reason": self._reason_text(),
            "node": self.node,
        }

    def _reason_text(self) -> str | None:
        """Return the kind of the reason, with the tokens that ride along; None for nothing."""
        if self.reason is Reason.RIDES_ALONG:
            return f"{self.reason.value}: about {self.riding_tokens} tokens"
        return None if self.reason is Reason.NOTHING else self.reason.value


FAILED = Turn(
    prompt_tokens=None,
    cached_tokens=None,
    prefill_s=None,
    load_s=None,
    total_s=None,
    verdict=Verdict.UNKNOWN,
    reason=Reason.FAILED,
)
"""A turn that reached no result."""


def judge(
    counts: Counts,
    wire: Wire,
    last: Wire | None,
    *,
    other_options: bool = False,
    riding: int | None = None,
) -> Turn:
    """Return the turn with its verdict: what was to be expected, and what came.

    `last` is what this agent last sent to the server, as it was or as it is remembered; None when
    nothing is known of it.
    `other_options` says that the model was last seen loaded with another context length.
    `riding` is about how many tokens were sent once more because they are known to move.
    """
    verdict, reason, detail = _verdict(counts, wire, last, other_options=other_options)
    if reason is Reason.NOTHING and riding and riding > FEW_TOKENS:
        reason = Reason.RIDES_ALONG
    return Turn(
        prompt_tokens=counts.prompt_tokens,
        cached_tokens=counts.cached_tokens,
        prefill_s=counts.prefill_s,
        load_s=counts.load_s,
        total_s=counts.total_s,
        verdict=verdict,
        reason=reason,
        detail=detail,
        node=counts.node,
        riding_tokens=riding,
    )


def _verdict(
    counts: Counts, wire: Wire, last: Wire | None, *, other_options: bool
) -> tuple[Verdict, Reason, str]:
    """Compare the counts with what the wire text lets expect."""
    if counts.prompt_tokens is None or counts.cached_tokens is None:
        return Verdict.UNKNOWN, Reason.NO_COUNT, ""
    if last is None:
        return Verdict.PROMPT_CHANGED, Reason.FIRST_PROMPT, ""
    if changed := explain(wire.system, wire.tools, last.system, last.tools):
        return Verdict.PROMPT_CHANGED, _OF_PART[changed.part], changed.quote
    re_read = counts.prompt_tokens - counts.cached_tokens
    if re_read <= _tokens_at_most(wire, last, counts.prompt_tokens) + FEW_TOKENS:
        return Verdict.WARM, Reason.NOTHING, ""
    cause = _likely_cause(counts, re_read, last.node, other_options=other_options)
    return Verdict.SERVER_LOST_IT, cause, ""


def _likely_cause(
    counts: Counts, re_read: int, last_node: str | None, *, other_options: bool
) -> Reason:
    """Return why a server has not what it was sent, the first cause that the counts allow."""
    if not counts.cached_tokens and (counts.load_s or 0) > _RELOADED_S:
        return Reason.MODEL_LOADED
    if other_options:
        return Reason.OTHER_OPTIONS
    if last_node and counts.node != last_node:
        return Reason.OTHER_NODE
    # A batch behind the end of the last prompt, which was longer or shorter than this one.
    if counts.cached_tokens and any(abs(re_read - batch) <= batch // 4 for batch in _BATCHES):
        return Reason.CHECKPOINT
    return Reason.EVICTED


def _tokens_at_most(wire: Wire, last: Wire, prompt_tokens: int) -> float:
    """Return how many tokens the text may have that the server has not seen."""
    same = 0
    for mine, theirs in zip(wire.messages, last.messages, strict=False):
        if theirs not in (mine, _digest(mine)):
            break
        same += 1
    new = "".join(wire.messages[same:])
    by_share = len(new) * prompt_tokens / max(wire.length(), 1) * _DENSER
    return max(by_share, len(new.encode()) / _BYTES_PER_TOKEN)


def _digest(message: str) -> str:
    """Return a name for a message that says nothing of its words."""
    return hashlib.sha256(message.encode()).hexdigest()
