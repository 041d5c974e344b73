"""Decides from the counts of a confirmation whether a prompt is warm."""

from collections.abc import Sequence
from enum import StrEnum

from ollama_warmer.counts.counts import Counts
from ollama_warmer.ollama.facts import Runner
from ollama_warmer.round.likely import likely

# The questions to a target, in order.
WARM_UP = "warm-up"
CONFIRMATION = "confirmation"
SECOND_CONFIRMATION = "second confirmation"

# What stands between the shared prefix and the question, and behind the question: the sentences
# that name the device's room and time zone, the marks of the template around the newest message
# and the start of the answer. The longest of it that was seen has some 60 tokens.
SURROUNDINGS = 96
# What our own agent calls a prompt of which it knows that other words were sent.
_CHANGED = "prompt changed"


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


def judge(question: str, counts: Counts, step: str = CONFIRMATION) -> tuple[Verdict, str]:
    """Return the verdict of a confirmation, and a sentence that says why.

    Args:
        question: The words of the confirmation.
        counts: What its first call of the model cost.
        step: What the sentence calls it.
    """
    if counts.prompt is None or counts.re_read is None:
        return Verdict.UNKNOWN, counts.reason or "the token counts are unknown"
    allowed = allowance(question)
    cost = f"the {step} re-read {counts.re_read} of {counts.prompt} tokens"
    if counts.source:
        cost = f"{counts.source} says that {cost}"
    if counts.re_read <= allowed and counts.cached:
        return _agree(f"{cost}, within the {allowed} allowed for its own words", counts)
    reported = counts.verdict or counts.reason
    why = _agents_words(counts) if reported else likely(counts, allowed)
    because = f"{cost}, where {allowed} are allowed for its own words"
    because = f"{because}; {why}" if why else because
    # A prompt so short that its question is most of it may be within the allowance and still have
    # come from nowhere.
    if counts.cached and counts.re_read * 2 <= counts.prompt:
        return Verdict.PARTLY_WARM, because
    return Verdict.COLD, because


def asks_for_another(questions: Sequence[str], counts: Sequence[Counts]) -> bool:
    """Return whether a third question has to show if a target is cold or was only unbranched.

    MLX keeps the state of a recurrent model where two prompts part, and makes it while it reads
    the second one: the first new conversation is cold and every later one warm (Ollama 0.34 and
    0.35.1, four builds of four). llama-server and Ollama's older runners have no such pattern, and
    words that changed, a clock for example, are cold for ever.

    Args:
        questions: The words of the warm-up and of the confirmation.
        counts: What they cost.
    """
    first, second = (
        judge(question, count)[0] for question, count in zip(questions, counts, strict=True)
    )
    if Verdict.WARM in {first, second} or second is Verdict.UNKNOWN:
        return False
    found = counts[-1]
    if found.facts.runner is not Runner.MLX:
        return found.facts.runner is None and _plain(found.verdict) != _CHANGED
    agreed = found.facts.agreed
    if agreed is None or found.prompt is None:
        return True
    return found.prompt - agreed <= allowance(questions[-1])


def conclude(questions: Sequence[str], counts: Sequence[Counts]) -> tuple[Verdict, str]:
    """Return a target's verdict after two or three questions, and a sentence that says why.

    Args:
        questions: The words of the warm-up, of the confirmation, and of the second one if there
            was one.
        counts: What they cost, in the same order.
    """
    verdict, reason = judge(questions[1], counts[1])
    for question, count in zip(questions[2:], counts[2:], strict=True):
        second, because = judge(question, count, SECOND_CONFIRMATION)
        if second is Verdict.WARM:
            return second, (
                f"{because}; before it the {CONFIRMATION} re-read {counts[1].re_read}, because "
                "this server keeps a state only where two prompts part, and had to read up to "
                "there once"
            )
        if count.re_read is not None:
            reason = f"{reason}; a {SECOND_CONFIRMATION} re-read {count.re_read}"
    return verdict, reason


def _agree(because: str, counts: Counts) -> tuple[Verdict, str]:
    """Call it warm only if the agent, which knows what it sent, does not say otherwise."""
    if counts.verdict is None or counts.verdict == Verdict.WARM:
        return Verdict.WARM, because
    verdict = Verdict.UNKNOWN if counts.verdict == Verdict.UNKNOWN else Verdict.PARTLY_WARM
    return verdict, f"{because}; {_agents_words(counts)}"


def _agents_words(counts: Counts) -> str:
    words = ": ".join(filter(None, (_plain(counts.verdict), counts.reason)))
    return f"the agent says {words}"


def _plain(verdict: str | None) -> str | None:
    return verdict and verdict.replace("_", " ")
