"""Lines about loading a model, from real logs: what they say, and never a guess."""

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings, strategies as st
import pytest

from ollama_warmer.doctor.load_lines import Load, LoadLog
from ollama_warmer.ollama.facts import Memory

FIXTURES = Path(__file__).with_name("fixtures")
STARTING = (
    'time=2026-08-28T16:17:38.102+02:00 level=INFO source=x msg="starting llama-server" '
    'cmd="llama-server --model {model} -c 8192 -np 1 -ub 512"'
)
LOADED = "srv  llama_server: model loaded"
ARCHITECTURE = "print_info: arch                  = {architecture}"


def read(*lines: str) -> LoadLog:
    """Return what these lines say."""
    found = LoadLog()
    for line in lines:
        found.feed(line)
    return found


def fixture(name: str) -> list[str]:
    """Return the lines of a log, without the first one, which says where it is from."""
    first, *lines = (FIXTURES / f"{name}.log").read_text().splitlines()
    assert first.startswith("# ")
    return lines


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "loads_b10050_attention",
            Load(architecture="llama", memory=Memory.ATTENTION, slots=1, batch=1024, cache_mib=1),
        ),
        (
            "loads_b10050_recurrent",
            Load(
                architecture="jamba", memory=Memory.RECURRENT, slots=1, batch=1024, cache_mib=8192
            ),
        ),
        (
            "loads_b10050_two_slots",
            Load(
                architecture="jamba", memory=Memory.RECURRENT, slots=2, batch=1024, cache_mib=8192
            ),
        ),
    ],
)
def test_llama_server_alone(name: str, expected: Load) -> None:
    """Without Ollama the load begins with llama-server's own word."""
    (load,) = read(*fixture(name)).loads
    expected.model, expected.context, expected.complete = "model.gguf", 16_384, True
    assert load == expected


def test_llama_server_with_a_prefix() -> None:
    """A sliding window, and a prompt that was refused."""
    found = read(*fixture("loads_xllamacpp_sliding"))
    (load,) = found.loads
    assert (load.architecture, load.memory) == ("gemma3", Memory.SLIDING)
    assert (load.context, load.batch) == (4096, 512)
    assert found.too_long == [(9021, 4096)]


def test_ollama_says_more() -> None:
    """Two models in one journal, each with its own lines, and who asked."""
    found = read(*fixture("loads_ollama"))
    first, second = found.loads
    assert first == Load(
        model="sha256-aaaa0001",
        time=datetime(2026, 8, 28, 14, 17, 38, 102_000, tzinfo=UTC),
        command=True,
        context=16_384,
        slots=1,
        batch=1024,
        shift=True,
        architecture="qwen35",
        memory=Memory.RECURRENT,
        cache_mib=0,
        complete=True,
    )
    assert (second.model, second.context, second.slots) == ("sha256-bbbb0002", 4096, 2)
    assert (second.architecture, second.batch, second.shift) == ("llama", 512, False)
    assert found.not_parallel == {"qwen35"}
    assert found.selected == {"registry.ollama.ai/library/qwen3.5:9b": "renderer_parser"}
    assert found.cut == {4096}
    assert dict(found.clients) == {
        ("192.168.3.148", "/api/chat"): 1,
        ("192.168.3.9", "/v1/chat/completions"): 1,
    }


def test_two_models_that_load_at_once_are_not_told_apart() -> None:
    """What either writes may be the other's."""
    found = read(
        STARTING.format(model="/m/sha256-a"),
        STARTING.format(model="/m/sha256-b"),
        ARCHITECTURE.format(architecture="llama"),
        LOADED,
    )
    assert [it.architecture for it in found.loads] == [None, None]
    assert [it.model for it in found.loads] == ["sha256-a", "sha256-b"]


def test_a_start_that_is_tried_again() -> None:
    """The first attempt is dead, and the lines are the second one's."""
    start = STARTING.format(model="/m/sha256-a")
    found = read(start, start, ARCHITECTURE.format(architecture="llama"), LOADED)
    assert [it.architecture for it in found.loads] == [None, "llama"]


def test_a_small_model_that_guesses_ahead_is_not_the_model() -> None:
    """Its architecture comes second."""
    found = read(
        STARTING.format(model="/m/sha256-a"),
        *(ARCHITECTURE.format(architecture=it) for it in ("qwen35", "llama")),
        LOADED,
    )
    assert found.loads[0].architecture == "qwen35"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            (
                r'{"log":"time=2026-08-28T16:17:38Z msg=\"starting llama-server\" cmd=\"/x --model '
                r'/m/sha256-a -c 4096 -np 1 -ub 512\"\n"}'
            ),
            ("sha256-a", 4096, 512, False),
        ),
        (
            (
                r'time=x msg="starting llama-server" cmd="C:\\Ollama\\llama-server.exe --model '
                r'C:\\Users\\Jo Do\\blobs\\sha256-a --port 1 -c 4096 -ub 256"'
            ),
            ("sha256-a", 4096, 256, False),
        ),
        (
            (
                'time=x msg="starting runner" cmd="/usr/bin/ollama runner --model /m/sha256-a '
                '--ctx-size 8192 --batch-size 512 --parallel 4 --port 1"'
            ),
            ("sha256-a", 2048, 512, False),
        ),
        ('time=x msg="starting mlx runner subprocess" model=x', (None, None, None, True)),
    ],
)
def test_other_ways_to_write_a_start(line: str, expected: tuple[object, ...]) -> None:
    """A container's log file, Windows, the runner before 0.30, and MLX."""
    (load,) = read(line).loads
    assert (load.model, load.context, load.batch, load.mlx) == expected


@settings(max_examples=300)
@given(st.text(max_size=200) | st.sampled_from(fixture("loads_ollama")))
def test_no_line_raises(words: str) -> None:
    """Whatever is in a log."""
    found = read(STARTING.format(model="/m/sha256-a"), words, words[::-1])
    assert found.lines == 3
