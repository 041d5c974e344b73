"""Says in words why a prompt was probably read again, for an agent that does not know it itself.

What the log shows is stated as a fact; what follows from it only by experience is called likely.
The rules are those of seventeen builds that were measured with Ollama 0.34 and 0.35.1, and of what
Ollama 0.30 to 0.33 and llama.cpp b9452 to b10488 do.
"""

from ollama_warmer.counts.counts import Counts, Facts
from ollama_warmer.ollama.facts import Runner

# What Ollama and llama.cpp choose for a batch.
_BATCHES = (256, 512, 1024, 2048)
# A rollback of one batch is some tokens more or less, as the prompts are of different length.
_ABOUT = 40
# A prompt that was cut fills the window, or half of it, to within a few tokens.
_BRIM = 8
# Up to here, or up to one part in twenty, is "at the top".
_TOP = 64
_TOP_PART = 20
_MOVING = "such as a clock or a temperature: look at the agent's instructions"


def likely(counts: Counts, allowed: int) -> str | None:
    """Return why a question that was not warm was not, without a full stop; none if no one knows.

    Args:
        counts: What the question cost, known to be too much.
        allowed: How many tokens it could have read and been warm.
    """
    if counts.prompt is None or counts.cached is None or counts.re_read is None:
        return None
    for reason in (_too_large, _lost, _no_state_behind_it):
        if because := reason(counts.facts, counts.prompt, counts.cached, allowed):
            return because
    return _moving_words(counts.facts, counts.prompt, counts.cached)


def _too_large(facts: Facts, prompt: int, cached: int, _: int) -> str | None:
    """Return that the prompt does not fit: it is cut, each time at another place."""
    what_to_do = "raise the agent's num_ctx or expose less"
    window = f"the context window of {facts.window} tokens" if facts.window else "the window"
    if facts.cut:
        return f"the log shows that prompt and answer did not fit into {window}: {what_to_do}"
    if facts.window is None or cached * 2 > prompt:
        return None
    for part, size in (("all", facts.window), ("half", facts.window // 2)):
        if abs(prompt - size) <= _BRIM:
            return (
                f"likely the prompt is larger than {window}, {part} of which it fills, and was "
                f"cut: {what_to_do}"
            )
    return None


def _lost(facts: Facts, prompt: int, cached: int, _: int) -> str | None:
    """Return what emptied the server's cache, or took its place there."""
    if cached * 2 > prompt:
        return None
    if facts.loads:
        return (
            "the log shows that the model was reloaded in between, which empties its cache: "
            "likely its keep_alive had run out, or another client asked it with other options, "
            "such as num_ctx"
        )
    if facts.others:
        who = "another request" if facts.others == 1 else f"{facts.others} other requests"
        return (
            f"the log shows {who} in between: likely the prompt had to make room, ask when no one "
            "else does"
        )
    if facts.lost:
        return (
            "lines are missing in the log since the question before: whether the model was loaded "
            "again in between, or another request took its place, is not known"
        )
    if facts.runner is Runner.LLAMA_SERVER and not cached and not facts.checkpoints:
        # Any two prompts of one template have their first tokens in common.
        return (
            "the log shows that the server had kept nothing at all: likely its prompt cache is "
            "off, or the question came into another of its slots"
        )
    return None


def _no_state_behind_it(facts: Facts, prompt: int, cached: int, allowed: int) -> str | None:
    """Return that the server knew the words and had no state to go on from."""
    if facts.agreed is not None and prompt - facts.agreed > allowed:
        return None
    if facts.runner is Runner.MLX and facts.agreed is not None:
        return (
            f"the log shows that {facts.agreed} tokens were the same and that MLX had kept the "
            f"state of only {cached}: it keeps a recurrent model's where two prompts part, likely "
            "this one had to make room"
        )
    batches = (facts.batch,) if facts.batch else _BATCHES
    batch = next((it for it in batches if abs(prompt - cached - it) <= _ABOUT), None)
    could_be = facts.checkpoints or facts.runner is None
    if batch is not None and could_be:
        return (
            f"likely the model is recurrent, and its nearest checkpoint is one batch of {batch} "
            "tokens back: nothing in the prompt has changed, and every new conversation costs this "
            "much, unless the agent is Ollama Warm's or the model has its chat template in its own "
            "file"
        )
    if facts.agreed is not None:
        return (
            f"the log shows that {facts.agreed} tokens were the same and that the server had no "
            f"checkpoint there: likely the model is recurrent, and a prompt of {prompt} tokens is "
            "too short for one, or its checkpoints had to make room"
        )
    return None


def _moving_words(facts: Facts, prompt: int, cached: int) -> str:
    """Return where the prompt is another one at every question."""
    same = cached if facts.agreed is None else max(facts.agreed, cached)
    if same <= max(_TOP, prompt // _TOP_PART):
        where = "at the top of the prompt"
    else:
        where = f"behind the first {same} tokens of the prompt"
    words = f"likely something {where} changes with every question, {_MOVING}"
    if facts.forced:
        return f"the log shows that the server had no checkpoint in front of it: {words}"
    if facts.runner is None or facts.lost:
        return words
    return f"the log shows no other request in between: {words}"
