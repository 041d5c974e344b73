"""Of a server's log only counts are kept: no words, no address, no folder."""

from pathlib import Path

import pytest

from ollama_warmer.errors import ConfigError, WarmerError
from ollama_warmer.lab.probe.log import LogSlice, Reported, reported_by, safe_lines

HOST = "Aug 28 16:17:40 gpu-01 ollama[17]: "
STARTING = (
    'time=2026-10-27 level=INFO source=llama_server.go:433 msg="starting llama-server" '
    'cmd="/usr/bin/llama-server --model /srv/jane/.ollama/blobs/sha256-1 --port 3 -c 8192 -np 1 '
    '--log-verbosity 4 -b 512 -ub 512"'
)
SAFE = [
    "slot   operator(): id  0 | task 4 | new prompt, n_ctx_slot = 9, task.n_tokens = 1523",
    "slot   operator(): id  0 | task 4 | checking checkpoint with [1518, 1518] against 1522",
    "slot apply_checkp: id  0 | task 4 | restored context checkpoint (pos_max = 15, size = 0.1 MiB",
    "slot   operator(): id  0 | task 4 | cached n_tokens = 1519, memory_seq_rm [1519, end)",
    "slot print_timing: id  0 | task 4 | prompt eval time =       3.92 ms /     4 tokens",
    "slot      release: id  0 | task 4 | stop processing: n_tokens = 1523, truncated = 0",
    "srv          stop: cancel task, id_task = 4",
    'msg="cache miss" total=3179 matched=3166 cached=4 left=3175',
]
PRIVATE = [
    '[GIN] 2026/08/01 - 07:03:13 | 200 | 7.94s | 192.168.3.148 | POST "/api/chat"',
    "old: ... is the door | open",
    'time=x level=DEBUG msg="completion request" prompt="my secret diary"',
    "srv  load_model: loading model '/srv/jane/models/model.gguf'",
    "print_info: general.name          = Jane's model",
    "I said: slot machines are fun, new prompt please",
]


def test_known_lines_are_kept_without_what_stands_around_them() -> None:
    """The known part of each line stays; a journal's or container's words do not."""
    assert list(safe_lines([f"{HOST}{line} ( 1 ms per token) my words" for line in SAFE])) == SAFE


def test_other_lines_are_left_out() -> None:
    """Addresses, folders and prompts never reach the result."""
    assert list(safe_lines(PRIVATE)) == []


def test_start_of_a_server_is_cut_to_its_flags() -> None:
    """Window, slots and batch stay, the model's folder does not."""
    assert list(safe_lines([STARTING])) == [
        'msg="starting llama-server" -c 8192 -np 1 -b 512 -ub 512'
    ]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], Reported()),
        ([STARTING], Reported(runner="llama-server", batch=512)),
        (
            [STARTING, "print_info: n_swa                 = 0"],
            Reported(memory="attention-only", runner="llama-server", batch=512),
        ),
        (
            ["print_info: n_swa                 = 128"],
            Reported(memory="sliding window"),
        ),
        (
            ["print_info: n_swa = 0", "llama_memory_recurrent: size =    0.02 MiB (     1 cells"],
            Reported(memory="recurrent"),
        ),
        (['msg="mlx runner is ready" port=3'], Reported(runner="MLX")),
    ],
)
def test_log_tells_what_a_model_is(lines: list[str], told: Reported) -> None:
    """Memory type, runner and batch stand in the log of a load."""
    assert reported_by(safe_lines(lines)) == told


def test_only_new_lines_belong_to_a_run(tmp_path: Path) -> None:
    """What stood there before is left out; a log that was begun again is read from its start."""
    log = tmp_path / "server.log"
    log.write_text(f"{SAFE[0]}\n" * 9)
    part = LogSlice(log)
    with log.open("a") as file:
        file.write(f"{SAFE[1]}\n\xff\n")
    assert part.lines() == [SAFE[1]]
    log.write_text(f"{SAFE[3]}\n")
    assert part.lines() == [SAFE[3]]
    log.unlink()
    with pytest.raises(WarmerError, match="cannot be read any more"):
        part.lines()
    with pytest.raises(ConfigError, match="--log"):
        LogSlice(log)
