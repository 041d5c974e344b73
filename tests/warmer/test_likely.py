"""Likely reasons: what the log shows is stated as a fact, all else as likely."""

import pytest

from ollama_warmer.counts.counts import Counts, Facts
from ollama_warmer.ollama.facts import Runner
from ollama_warmer.round.likely import likely
from tests.warmer.test_lines import fixture, parts, window

ALLOWED = 112
CLOCK = (
    "likely something at the top of the prompt changes with every question, such as a clock or a "
    "temperature: look at the agent's instructions"
)
ONE_BATCH = (
    "likely the model is recurrent, and its nearest checkpoint is one batch of 1024 tokens back: "
    "nothing in the prompt has changed, and every new conversation costs this much, unless the "
    "agent is Ollama Warm's or the model has its chat template in its own file"
)


def counts(prompt: int, cached: int, **facts: object) -> Counts:
    """Return counts with what a log shows beside them."""
    known = Facts(**facts)  # type: ignore[arg-type]
    return Counts(prompt=prompt, cached=cached, re_read=prompt - cached, facts=known)


def why(prompt: int, cached: int, **facts: object) -> str | None:
    """Return the likely reason for these counts."""
    return likely(counts(prompt, cached, **facts), ALLOWED)


@pytest.mark.parametrize(
    ("name", "part", "reason"),
    [
        (
            "xllamacpp_clock_attention",
            1,
            f"the log shows no other request in between: {CLOCK}",
        ),
        (
            "xllamacpp_clock_recurrent",
            1,
            f"the log shows that the server had no checkpoint in front of it: {CLOCK}",
        ),
        (
            "xllamacpp_clock_sliding",
            1,
            f"the log shows that the server had no checkpoint in front of it: {CLOCK}",
        ),
        (
            "llama_server_b10050_slots_debug",
            0,
            f"the log shows that the server had no checkpoint in front of it: {CLOCK}",
        ),
        (
            "xllamacpp_one_batch_back",
            1,
            ONE_BATCH,
        ),
        (
            "ollama_reload",
            0,
            (
                "the log shows that the model was reloaded in between, which empties its cache: "
                "likely its keep_alive had run out, or another client asked it with other options, "
                "such as num_ctx"
            ),
        ),
        (
            "ollama_cut",
            0,
            (
                "the log shows that prompt and answer did not fit into the context window of 8192 "
                "tokens: raise the agent's num_ctx or expose less"
            ),
        ),
    ],
)
def test_lines_of_a_log(name: str, part: int, reason: str) -> None:
    """From the lines that a server wrote to the sentence for a person."""
    assert likely(window(parts(fixture(name))[part]).counts(), ALLOWED) == reason


@pytest.mark.parametrize("batch", [512, 1024, 2048])
def test_one_batch_back(batch: int) -> None:
    """A rollback is known by its size, without a log and with one, but not on attention."""
    prompt = 8000
    for around in (-20, 0, 20):
        reason = why(prompt, prompt - batch + around)
        assert f"one batch of {batch} tokens back" in str(reason)
    assert f"batch of {batch} tokens" in str(
        why(prompt, prompt - batch, runner=Runner.LLAMA_SERVER, checkpoints=True, against=7990)
    )
    assert "changes with every question" in str(
        why(prompt, prompt - batch, runner=Runner.LLAMA_SERVER)
    )


def test_batch_that_the_log_names() -> None:
    """If the log says how large a batch is, no other size will do."""
    facts = {"runner": Runner.LLAMA_SERVER, "checkpoints": True, "against": 7990, "batch": 512}
    assert "one batch of 512 tokens" in str(why(8000, 8000 - 512, **facts))
    assert "no checkpoint there" in str(why(8000, 8000 - 1024, **facts))


def test_words_that_changed_are_no_rollback() -> None:
    """A first difference early in the prompt is the reason, whatever the size of the rest."""
    reason = why(2000, 976, runner=Runner.LLAMA_SERVER, checkpoints=True, against=1000)
    assert "likely something behind the first 1000 tokens of the prompt changes" in str(reason)


def test_change_in_the_middle() -> None:
    """What stood in front of the moving words was cached, and is counted."""
    reason = why(5000, 3000, runner=Runner.LLAMA_SERVER)
    assert "something behind the first 3000 tokens of the prompt changes" in str(reason)


def test_too_short_for_a_checkpoint() -> None:
    """A recurrent model reads a prompt of less than a batch from its beginning each time."""
    reason = why(1539, 0, runner=Runner.LLAMA_SERVER, checkpoints=True, against=1522, forced=True)
    assert reason == (
        "the log shows that 1522 tokens were the same and that the server had no checkpoint there: "
        "likely the model is recurrent, and a prompt of 1539 tokens is too short for one, or its "
        "checkpoints had to make room"
    )


@pytest.mark.parametrize(("prompt", "part"), [(8190, "all"), (4098, "half")])
def test_prompt_that_fills_the_window(prompt: int, part: str) -> None:
    """A prompt of just the window's size, or half of it, was probably cut."""
    assert why(prompt, 4, runner=Runner.LLAMA_SERVER, window=8192) == (
        f"likely the prompt is larger than the context window of 8192 tokens, {part} of which it "
        "fills, and was cut: raise the agent's num_ctx or expose less"
    )


def test_somebody_else_in_between() -> None:
    """Others' requests between the two questions are named and counted."""
    assert str(why(5000, 10, runner=Runner.LLAMA_SERVER, others=1)).startswith(
        "the log shows another request in between: likely the prompt had to make room"
    )
    assert "shows 3 other requests in between" in str(why(5000, 10, others=3))
    # They did not take anything away if most of it is there.
    assert "other" not in str(why(5000, 4000, others=3))


def test_lines_that_are_missing() -> None:
    """What a log left out may have been a load or a request, and it is not said that it was not."""
    for runner in Runner:
        reason = str(why(5000, 10, runner=runner, lost=True))
        assert reason.startswith("lines are missing in the log since the question before")
        assert "the log shows no" not in str(why(5000, 4000, runner=runner, lost=True))
    # What it does show is told all the same.
    assert "reloaded" in str(why(5000, 10, loads=1, lost=True))
    assert "another request" in str(why(5000, 10, others=1, lost=True))


def test_nothing_kept() -> None:
    """A server that had not even the template's first tokens has thrown all away."""
    reason = str(why(5000, 0, runner=Runner.LLAMA_SERVER))
    assert reason.startswith("the log shows that the server had kept nothing at all: likely its")


def test_mlx_without_a_state() -> None:
    """MLX says that it knew the words, and how much of their state it had kept."""
    assert str(why(3179, 4, runner=Runner.MLX, against=3166)).startswith(
        "the log shows that 3166 tokens were the same and that MLX had kept the state of only 4: "
    )
    assert CLOCK in str(why(3179, 4, runner=Runner.MLX, against=12))


def test_without_a_log() -> None:
    """Counts alone allow no statement about a log."""
    assert why(5000, 10) == CLOCK
    assert likely(Counts(prompt=5000), ALLOWED) is None
