"""Says by the counts of a placement what the moving time costs there."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from ollama_warmer.ollama.client import Answer
from ollama_warmer.round.verdicts import SURROUNDINGS, allowance

_Number = TypeVar("_Number", int, float)

# What llama.cpp reads at once, and so the step back to a recurrent model's last but one checkpoint,
# which lies a batch before the end. Ollama 0.35 takes 512, 1,024 or 2,048 by the window and by the
# free memory.
_BATCHES = (256, 512, 1024, 2048, 4096)
# The requests of a placement differ in length by the tokens of a time of day.
_BATCH_MARGIN = 16
# A model that is there answers at once; to load one takes longer than this.
_LOADING_S = 1.0


class Pattern(StrEnum):
    """What is re-read at each question."""

    WHOLE = "whole prompt"
    BATCH = "one batch"
    OWN = "own words"
    BEHIND = "everything behind it"
    MIXED = "not the same each time"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question of a placement.

    Attributes:
        answer: The call of the model that was sent the time.
        asked: The call before it that ended in the call of a tool; none in the other placements.
    """

    answer: Answer
    asked: Answer | None = None

    @property
    def calls(self) -> tuple[Answer, ...]:
        """The calls of the model, in order."""
        return (self.answer,) if self.asked is None else (self.asked, self.answer)

    @property
    def re_read(self) -> int | None:
        """Tokens re-read by all calls; none if a count is missing."""
        return _sum([call.re_read_tokens for call in self.calls])

    @property
    def prefill_s(self) -> float | None:
        """Seconds of reading by all calls; none if a time is missing."""
        return _sum([call.prefill_s for call in self.calls])

    @property
    def loaded_anew(self) -> bool:
        """Whether the model was loaded for it, which empties the cache."""
        return any((call.load_s or 0) > _LOADING_S for call in self.calls)


def judge(samples: Sequence[Sample], words: str) -> tuple[Pattern, str]:
    """Return the pattern of a placement, and a sentence with its figures.

    Args:
        samples: Its questions, without the warm-up.
        words: All that stands between the shared prefix and the template's last marks.
    """
    if any(sample.loaded_anew for sample in samples):
        return Pattern.UNKNOWN, (
            "the model was reloaded in between: someone else uses it with other options, or "
            "it does not stay loaded"
        )
    counts = [(sample.answer.prompt_tokens, sample.re_read) for sample in samples]
    known = [(prompt, read) for prompt, read in counts if prompt is not None and read is not None]
    if not known or len(known) < len(counts):
        return Pattern.UNKNOWN, (
            "the server did not report how many tokens were cached: Ollama 0.33.3 and newer do"
        )
    own = allowance(words)
    if min(prompt for prompt, _ in known) <= own + SURROUNDINGS:
        return Pattern.UNKNOWN, (
            "the prompt is too short to distinguish its parts from the time's words"
        )
    found = {_pattern(prompt, read, own) for prompt, read in known}
    pattern = found.pop() if len(found) == 1 else Pattern.MIXED
    return pattern, f"{_WORDS[pattern]}: {_figures(samples, known)}"


_WORDS = {
    Pattern.WHOLE: "the whole prompt is re-read each time",
    Pattern.BATCH: "one batch is re-read each time, back to the model's last checkpoint",
    Pattern.OWN: "only its own words are read",
    Pattern.BEHIND: "everything behind the time is re-read each time",
    Pattern.MIXED: "not the same each time, someone else may have asked in between",
}


def _pattern(prompt: int, read: int, own: int) -> Pattern:
    if read <= own:
        return Pattern.OWN
    if read >= prompt - SURROUNDINGS:
        return Pattern.WHOLE
    if any(abs(read - batch) <= _BATCH_MARGIN for batch in _BATCHES):
        return Pattern.BATCH
    return Pattern.BEHIND


def _figures(samples: Sequence[Sample], known: Sequence[tuple[int, int]]) -> str:
    read = [count for _, count in known]
    prompt = max(count for count, _ in known)
    tokens = f"{min(read):,}" if len(set(read)) == 1 else f"{min(read):,} to {max(read):,}"
    times = [sample.prefill_s for sample in samples if sample.prefill_s is not None]
    seconds = f", {max(times):.2f} s at most" if times else ""
    return f"{tokens} of {prompt:,} tokens{seconds}"


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if len(known) == len(values) else None
