"""What one call of the model cost, and how a reply says it; what is missing is never zero."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ollama_warmer.ollama.facts import Runner
from ollama_warmer.words import printable

KEY = "ollama_warm"
VERSION = 1

_NO_COUNTS = (
    "the agent's answer carries no token counts: name the model server's log under [counts] in the "
    "configuration"
)


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


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What one call of the model cost.

    Attributes:
        prompt: Tokens of the whole prompt; none if unknown.
        cached: Tokens of it that the server did not read again; none if unknown.
        re_read: Tokens of it that the server read again; none if unknown.
        verdict: The agent's own verdict, if it gave one.
        reason: Why, in the agent's words; or why the counts are unknown.
        source: The log that they come from; none if they come with the reply.
        facts: What that log shows beside them.
    """

    prompt: int | None = None
    cached: int | None = None
    re_read: int | None = None
    verdict: str | None = None
    reason: str | None = None
    source: str | None = None
    facts: Facts = field(default_factory=Facts, compare=False)

    def as_object(self) -> dict[str, int | None]:
        """Return the tokens for JSON and the state file, null where they are unknown."""
        return {"prompt": self.prompt, "cached": self.cached, "re_read": self.re_read}


class _MalformedError(Exception):
    """The reply's counts are not of the agreed shape; the text says where."""


def from_reply(response: Mapping[str, Any]) -> Counts:
    """Return the counts of the first call of the model that an agent made for a reply.

    The first call is the one that meets the prompt as the warm-up left it.

    Args:
        response: Home Assistant's intent response, of any shape.
    """
    block = response
    for key in ("speech", "plain", "extra_data", KEY):
        inner = block.get(key) if isinstance(block, Mapping) else None
        if inner is None:
            return Counts(reason=_NO_COUNTS)
        block = inner
    try:
        return _first_turn(block)
    except _MalformedError as err:
        return Counts(reason=f"the token counts in the agent's answer are malformed: {err}")


def _first_turn(block: object) -> Counts:
    if not isinstance(block, Mapping):
        raise _MalformedError("they are not an object")
    version = block.get("version")
    if version != VERSION or isinstance(version, bool):
        shown = printable(version)
        return Counts(
            reason=f"the agent's token counts have version {shown} and this warmer reads version "
            f"{VERSION}: update the older of the two"
        )
    turns = block.get("turns")
    if not isinstance(turns, list):
        raise _MalformedError("turns is not a list")
    if not turns:
        return Counts(reason="the agent answered without calling the model")
    if not isinstance(turns[0], Mapping):
        raise _MalformedError("a turn is not an object")
    return _read(turns[0])


def _read(turn: Mapping[str, Any]) -> Counts:
    prompt, cached, re_read = (
        _count(turn, key) for key in ("prompt_tokens", "cached_tokens", "re_read_tokens")
    )
    verdict, reason = _words(turn, "verdict"), _words(turn, "reason")
    if prompt is None or cached is None:
        missing = "prompt" if prompt is None else "cached"
        unknown = f"the model server did not report how many {missing} tokens there were"
        return Counts(
            prompt=prompt,
            cached=cached,
            verdict=verdict,
            reason=f"{unknown}: {reason}" if reason else unknown,
        )
    if not 0 <= cached <= prompt or re_read not in {None, prompt - cached}:
        raise _MalformedError(
            f"{prompt} prompt, {cached} cached and {re_read} re-read tokens contradict each other"
        )
    return Counts(
        prompt=prompt, cached=cached, re_read=prompt - cached, verdict=verdict, reason=reason
    )


def _count(turn: Mapping[str, Any], key: str) -> int | None:
    value = turn.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise _MalformedError(f"{key} is {printable(value)}")


def _words(turn: Mapping[str, Any], key: str) -> str | None:
    value = turn.get(key)
    if value is None or isinstance(value, str):
        return printable(value) if value else None
    raise _MalformedError(f"{key} is not text")
