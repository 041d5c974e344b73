"""What a log shows beside the counts: why a prompt was read again, and how far it has come."""

import pytest

from ollama_warmer.counts.counts import Facts
from ollama_warmer.counts.lines import Window, progress
from ollama_warmer.ollama.facts import Runner
from tests.warmer.test_lines import LOADED, STARTING, fixture, parts, request, window

LLAMA = Runner.LLAMA_SERVER


def facts(name: str, part: int = 0) -> Facts:
    """Return what a log shows about one of the questions in it."""
    return window(parts(fixture(name))[part]).counts().facts


@pytest.mark.parametrize(
    ("name", "part", "expected"),
    [
        ("xllamacpp_clock_attention", 1, Facts(runner=LLAMA, window=16384)),
        (
            "xllamacpp_clock_recurrent",
            1,
            Facts(runner=LLAMA, window=16384, against=28, checkpoints=True, forced=True),
        ),
        (
            "xllamacpp_clock_sliding",
            1,
            Facts(
                runner=LLAMA, window=16384, against=0, sliding=512, checkpoints=True, forced=True
            ),
        ),
        (
            "xllamacpp_one_batch_back",
            1,
            Facts(runner=LLAMA, window=16384, against=8080, checkpoints=True),
        ),
        (
            "llama_server_b10050_one_batch_back",
            0,
            Facts(runner=LLAMA, window=16384, against=1522, checkpoints=True),
        ),
        (
            "llama_server_b10050_slots_debug",
            0,
            Facts(runner=LLAMA, window=16384, against=4, checkpoints=True, forced=True),
        ),
        ("llama_server_2024", 0, Facts(runner=LLAMA, window=8192)),
        ("ollama_reload", 0, Facts(runner=LLAMA, window=8192, batch=1024, loads=1)),
        ("ollama_cut", 0, Facts(runner=LLAMA, window=8192, cut=True)),
    ],
)
def test_llama_server(name: str, part: int, expected: Facts) -> None:
    """Every release's lines, with whatever stands in front of them."""
    assert facts(name, part) == expected


def test_other_runners() -> None:
    """The Go runner says nothing more, MLX how much of the prompt it knew."""
    assert window(fixture("go_runner")).counts().facts == Facts(runner=Runner.GO, loads=1)
    _, second = [line for line in fixture("mlx_branches") if "cache hit" in line]
    assert window([second]).counts().facts == Facts(runner=Runner.MLX, against=3166)


def test_only_the_question_counts() -> None:
    """What another request looked for says nothing about this one."""
    new, *rest = request(3000, 2980, task=8)
    theirs = "slot   operator(): id  0 | task 3 | forcing full prompt re-processing due to lack of"
    assert not window([new, theirs, *rest]).counts().facts.forced


def test_older_words() -> None:
    """Before October 2025 only a sliding window could be the reason, and the C was a capital."""
    new, *rest = request(3000, 0, task=8)
    slot = "slot update_slots: id  0 | task 8 | "
    lines = [
        f"{slot}Checking checkpoint with [2990, 2990] against 17...",
        f"{slot}forcing full prompt re-processing due to lack of cache data (likely due to SWA",
    ]
    found = window([new, *lines, *rest]).counts().facts
    assert (found.agreed, found.forced) == (17, True)


def test_answer_that_filled_the_context() -> None:
    """A request that ended because nothing more fitted in says so at its end."""
    *lines, release = request(3000, 2980)
    assert window([*lines, release.replace("truncated = 0", "truncated = 1")]).counts().facts.cut


def test_less_than_a_sliding_window() -> None:
    """A first difference inside the window shows as 0, one behind it less the window."""
    assert Facts(against=0, sliding=512).agreed == 0
    assert Facts(against=100, sliding=512).agreed == 612
    assert Facts(sliding=512).agreed is None


@pytest.mark.parametrize(
    ("line", "share"),
    [
        (
            "print_timing: id 0 | task 1 | prompt processing, n_tokens = 9216, progress = 0.72, t",
            0.72,
        ),
        (
            "id 0 | task 7 | prompt processing progress, n_past = 3, n_tokens = 2, progress = 0.68",
            0.68,
        ),
        ("task 7 | prompt processing progress, n_tokens = 9, batch.n_tokens = 9, progress = 1", 1),
        ('level=INFO msg="Prompt processing progress" processed=2048 total=4096', 0.5),
        (r"msg=\"Prompt processing progress\" processed=5 total=4", 1),
        ('msg="Prompt processing progress" processed=5 total=0', None),
        ("prompt processing, n_tokens = 9216, progress = nan", None),
        ("prompt eval time = 3.92 ms / 4 tokens", None),
    ],
)
def test_progress(line: str, share: float | None) -> None:
    """Every release's words, and MLX's, for the share of the prompt that was read."""
    assert progress(line) == share


def test_progress_is_passed_on() -> None:
    """Whoever asked for it hears of it as the server writes it."""
    shares: list[float] = []
    found = Window(on_progress=shares.append)
    for line in fixture("llama_server_b10050_slots_debug"):
        found.feed(line)
    assert shares[:3] == [0.40, 0.48, 0.56]
    assert shares[-1] == 1.0


def test_models_that_were_loaded() -> None:
    """A load in front of the question is counted; two are no longer the question's own log."""
    assert window([STARTING, LOADED, *request(100, 0)]).counts().facts.loads == 1
    assert window(request(100, 0)).counts().facts.loads == 0
