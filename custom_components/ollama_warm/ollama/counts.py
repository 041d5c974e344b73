"""What a server counted for one request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from . import reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the last chunk of an answer says of the prompt. Durations are in seconds.

    `cached_tokens` is None when the server does not say it: Ollama before 0.33.3, or a
    backend that does not report. `prompt_tokens` includes the cached ones.
    """

    prompt_tokens: int | None
    cached_tokens: int | None
    prefill_s: float | None
    load_s: float | None
    total_s: float | None
    answer_tokens: int | None
    node: str | None = None
    """Which machine answered, where a router in front says so (Ollama Herd's X-Fleet-Node)."""

    @classmethod
    def from_chunk(cls, chunk: Mapping[str, Any], node: str | None = None) -> Self:
        """Read the counts of a chunk with `done: true`.

        No prompt has 0 tokens, and none has more cached ones than there are: what contradicts
        itself is unknown.
        """
        prompt = reading.count(chunk.get("prompt_eval_count")) or None
        cached = reading.count(chunk.get("prompt_eval_cached_count"))
        if prompt is not None and cached is not None and cached > prompt:
            cached = None
        return cls(
            prompt_tokens=prompt,
            cached_tokens=cached,
            prefill_s=reading.seconds(chunk.get("prompt_eval_duration")),
            load_s=reading.seconds(chunk.get("load_duration")),
            total_s=reading.seconds(chunk.get("total_duration")),
            answer_tokens=reading.count(chunk.get("eval_count")),
            node=node,
        )
