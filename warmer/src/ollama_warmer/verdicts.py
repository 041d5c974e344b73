"""Decides from the counts of a confirmation whether a prompt is warm."""

from enum import StrEnum

from ollama_warmer.counts import Counts

# What stands between the shared prefix and the question, and behind the question: the sentences
# that name the device's room and time zone, the marks of the template around the newest message
# and the start of the answer. The longest of it that was seen has some 60 tokens.
SURROUNDINGS = 96


class Verdict(StrEnum):
    """How a target stands, from the best to the worst."""

    WARM = "warm"
    PARTLY_WARM = "partly warm"
    UNKNOWN = "unknown"
    COLD = "cold"
    FAILED = "failed"

    @property
    def severity(self) -> int:
        """The place in the list above, 0 for the best."""
        return list(Verdict).index(self)


def allowance(question: str) -> int:
    """Return how many tokens a warm server may have to read for a question it has not seen.

    A token is at least one byte, so the question's bytes are an upper bound of its tokens. A share
    of the prompt would be no measure: one batch of 1,024 tokens is little of a long prompt and
    still seconds of waiting.
    """
    return len(question.encode()) + SURROUNDINGS


def judge(question: str, counts: Counts) -> tuple[Verdict, str]:
    """Return the verdict of a confirmation, and a sentence that says why.

    Args:
        question: The words of the confirmation.
        counts: What its first call of the model cost.
    """
    if counts.prompt is None or counts.re_read is None:
        return Verdict.UNKNOWN, counts.reason or "the token counts are unknown"
    allowed = allowance(question)
    cost = f"the confirmation re-read {counts.re_read} of {counts.prompt} tokens"
    if counts.source:
        cost = f"{counts.source} says that {cost}"
    if counts.re_read <= allowed and counts.cached:
        return _agree(f"{cost}, within the {allowed} allowed for its own words", counts)
    because = f"{cost}, where {allowed} are allowed for its own words{_agents_words(counts)}"
    # A prompt so short that its question is most of it may be within the allowance and still have
    # come from nowhere.
    if counts.cached and counts.re_read * 2 <= counts.prompt:
        return Verdict.PARTLY_WARM, because
    return Verdict.COLD, because


def _agree(because: str, counts: Counts) -> tuple[Verdict, str]:
    """Call it warm only if the agent, which knows what it sent, does not say otherwise."""
    if counts.verdict is None or counts.verdict == Verdict.WARM:
        return Verdict.WARM, because
    verdict = Verdict.UNKNOWN if counts.verdict == Verdict.UNKNOWN else Verdict.PARTLY_WARM
    return verdict, f"{because}{_agents_words(counts)}"


def _agents_words(counts: Counts) -> str:
    verdict = counts.verdict and counts.verdict.replace("_", " ")
    words = ": ".join(filter(None, (verdict, counts.reason)))
    return f"; the agent says {words}" if words else ""
