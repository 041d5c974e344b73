"""How every release of Ollama says that it loads a model: none of them is overlooked."""

import pytest

from ollama_warmer.doctor.load_lines import LoadLog
from tests.warmer.test_lines import LOADED, known, request, window

OLLAMA = "time=2025-08-01T10:00:00.000+02:00 level=INFO source=x.go:1 "
BLOB = "--model /models/blobs/sha256-aaaa0001"
GO_LINE = 'msg="loading cache slot" id=0 cache=2900 prompt=3000 used=2890 remaining=110'
OPTIONS = "--ctx-size 8192 --batch-size 512 --threads 8 --parallel 1 --port 3"


def starting(words: str, program: str, options: str) -> str:
    """Return Ollama's line about a process that it starts."""
    return f'{OLLAMA}msg="starting {words}" cmd="/usr/bin/{program} {options}"'


GO_STARTED = f'{OLLAMA}msg="llama runner started in 2.01 seconds"'
# release -> what it writes for one load, some lines between the first and the last left out
LOADS = {
    "0.1.0": [
        "2023/09/26 12:00:00 llama.go:310: starting llama runner",
        "2023/09/26 12:00:04 llama.go:362: llama runner started in 4.200000 seconds",
    ],
    "0.1.18": ["2023/12/22 12:00:00 ext_server_common.go:143: Starting internal llama main loop"],
    "0.1.20": ["2024/01/15 12:00:00 dyn_ext_server.go:156: INFO Starting llama main loop"],
    "0.1.29": [f'{OLLAMA}msg="Starting llama main loop"'],
    "0.3.0": [
        starting("llama server", "cuda_v11/ollama_llama_server", f"{BLOB} {OPTIONS}"),
        f'{OLLAMA}msg="waiting for llama runner to start responding"',
        'INFO [main] model loaded | tid="1" timestamp=1722500000',
        GO_STARTED,
    ],
    "0.4.0": [
        starting("llama server", "cuda_v12/ollama_llama_server", f"{BLOB} {OPTIONS}"),
        f'{OLLAMA}msg="starting go runner"',
        GO_STARTED,
    ],
    "0.5.7": [
        starting("llama server", "rocm/ollama_llama_server", f"runner {BLOB} {OPTIONS}"),
        GO_STARTED,
    ],
    "0.11.4": [
        starting("llama server", "ollama", f"runner --ollama-engine {BLOB} {OPTIONS}"),
        f'{OLLAMA}msg="starting ollama engine"',
        GO_STARTED,
    ],
    "0.11.5": [
        starting("runner", "ollama", f"runner --ollama-engine {BLOB} --port 3"),
        GO_STARTED,
    ],
    "0.24, which looks for GPUs first": [
        starting("runner", "ollama", "runner --ollama-engine --port 2"),
        starting("runner", "ollama", "runner --port 2"),
        starting("runner", "ollama", f"runner {BLOB} --port 3"),
        GO_STARTED,
    ],
    "MLX": [
        f'{OLLAMA}msg="starting mlx runner subprocess" model=qwen3.5 port=3',
        f'{OLLAMA}msg="mlx runner is ready" port=3',
    ],
    "0.33": [
        starting("llama-server", "llama-server", f"{BLOB} -c 8192 -np 1"),
        LOADED,
        f'{OLLAMA}msg="llama-server started in 2.01 seconds"',
    ],
    "llama-server alone": [
        "srv    load_model: loading model '/models/blobs/sha256-aaaa0001'",
        LOADED,
    ],
}


@pytest.mark.parametrize("release", LOADS)
def test_load(release: str) -> None:
    """One load is one, from its first line on as from its last one; two are not guessed."""
    lines = LOADS[release]
    question = request(3000, 2890)
    assert window(lines).starts == 1
    assert window(lines[-1:]).starts == (0 if release == "0.33" else 1)
    assert window([*lines, *question]).counts() == known(3000, 2890)
    assert window([*lines, *question]).counts().facts.loads == 1
    for twice in ([*lines, *lines, *question], [*lines, *question, *lines]):
        assert window(twice).starts == 2
        assert "several model processes" in str(window(twice).counts().reason)
    assert window([*question[:2], *lines, *question[2:]]).counts().re_read is None


@pytest.mark.parametrize("release", [it for it in LOADS if it.startswith("0.")])
def test_two_loads_are_no_single_request(release: str) -> None:
    """Also where a request is one line of Ollama's own runner."""
    lines = LOADS[release]
    assert window([*lines, GO_LINE]).counts() == known(3000, 2890)
    assert window([*lines, *lines, GO_LINE]).counts().re_read is None


# A library in Ollama's own process has no command, and says of a load only that it is over.
LIBRARY = {"0.1.18", "0.1.20", "0.1.29"}


@pytest.mark.parametrize("release", [it for it in LOADS if it not in LIBRARY])
def test_doctor(release: str) -> None:
    """The doctor finds one load of one model, with what the command says."""
    found = LoadLog()
    for line in LOADS[release]:
        found.feed(line)
    (load,) = found.loads
    assert load.complete
    if release not in {"0.1.0", "MLX"}:
        assert load.model == "sha256-aaaa0001"
    if release in {"0.3.0", "0.4.0", "0.5.7", "0.11.4"}:
        assert (load.context, load.slots, load.batch) == (8192, 1, 512)
    assert load.shift is (False if release == "0.33" else None)


@pytest.mark.parametrize(
    "line",
    [
        starting("runner", "ollama", "runner --ollama-engine --port 2"),
        f'{OLLAMA}msg="starting go runner"',
        f'{OLLAMA}msg="starting ollama engine"',
        f'{OLLAMA}msg="starting llm scheduler"',
        f'{OLLAMA}msg="starting image runner subprocess" exe=x model=y port=1',
        f'{OLLAMA}msg="waiting for llama runner to start responding"',
        f'{OLLAMA}msg="llama-server started in 2.01 seconds"',
        f'{OLLAMA}msg="model loaded successfully"',
        "a question about starting llama main loops",
    ],
)
def test_other_beginnings(line: str) -> None:
    """What only looks for GPUs, draws pictures, or repeats another line, is no load."""
    assert window([line]).starts == 0
    found = LoadLog()
    found.feed(line)
    assert not found.loads


@pytest.mark.parametrize(
    "shape",
    [
        '[0] ollama: [[1.0, {{}}], {{"log":"{}"}}]',
        'ts=1 msg="{}"',
        r'{{"MESSAGE":"{{\"log\":\"{}\"}}"}}',
        r"ollama: {}\r\n",
    ],
)
def test_shippers(shape: str) -> None:
    """Whatever stands behind llama-server's word: a quotation mark, a line's end in words."""
    assert window([shape.format(LOADED)]).starts == 1
