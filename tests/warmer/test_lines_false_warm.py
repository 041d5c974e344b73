"""Lines that look like a warm question and are none: no counts, whatever is missing or added.

Each list holds a request with 9,670 of 9,681 tokens cached, as a warm question has it.
"""

from collections.abc import Iterator

from hypothesis import given, settings, strategies as st
import pytest

from ollama_warmer.counts.counts import Counts
from tests.warmer.test_lines import fixture, known, parts, window

# What a request writes, release by release: its beginning, what it had, what it read, its end.
FORMATS = {
    "2024": (
        (
            "slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 16384, n_keep = 0, "
            "n_prompt_tokens = 9681"
        ),
        "slot update_slots: id  0 | task 7 | kv cache rm [9670, end)",
        "prompt eval time =     100.00 ms /    11 tokens (    9.09 ms per token, 110 tokens per",
        "slot      release: id  0 | task 7 | stop processing: n_past = 9690, truncated = 0",
    ),
    "October 2025": (
        (
            "slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 16384, n_keep = 0, "
            "n_prompt_tokens = 9681"
        ),
        "slot update_slots: id  0 | task 7 | n_past = 9670, memory_seq_rm [9670, end)",
        "prompt eval time =     100.00 ms /    11 tokens (    9.09 ms per token, 110 tokens per",
        "slot      release: id  0 | task 7 | stop processing: n_past = 9690, truncated = 0",
    ),
    "March 2026": (
        (
            "slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 16384, n_keep = 0, "
            "task.n_tokens = 9681"
        ),
        "slot update_slots: id  0 | task 7 | n_tokens = 9670, memory_seq_rm [9670, end)",
        "slot print_timing: id  0 | task 7 | ",
        "prompt eval time =     100.00 ms /    11 tokens (    9.09 ms per token, 110 tokens per",
        "slot      release: id  0 | task 7 | stop processing: n_tokens = 9690, truncated = 0",
    ),
    "since May 2026": (
        (
            "slot   operator(): id  0 | task 7 | new prompt, n_ctx_slot = 16384, n_keep = 0, "
            "task.n_tokens = 9681"
        ),
        "slot   operator(): id  0 | task 7 | cached n_tokens = 9670, memory_seq_rm [9670, end)",
        "slot print_timing: id  0 | task 7 | prompt eval time =     100.00 ms /    11 tokens (9.09",
        "slot      release: id  0 | task 7 | stop processing: n_tokens = 9690, truncated = 0",
    ),
}
GO = (
    'level=DEBUG source=cache.go:151 msg="loading cache slot" id=0 cache=9690 prompt=9681 '
    "used=9670 remaining=11"
)
MLX = (
    'level=INFO source=prefix_cache.go:125 msg="cache hit" total=9681 matched=9670 cached=9670 '
    "left=11"
)
CANCELLED = "srv          stop: cancel task, id_task = 7"
GIN = "[GIN] 2026/08/28 - 16:17:41 | {status} |  3.001s |   192.168.3.9 | POST     {path}"
EMBEDDED = [
    GIN.format(status=200, path=f'"{path}"')
    for path in ("/api/embed", "/api/embeddings", "/v1/embeddings")
]
GIVEN_UP = [
    *(GIN.format(status=status, path='"/api/chat"') for status in (400, 499, 500, 503)),
    GIN.format(status=499, path='"/v1/chat/completions"'),
    'level=INFO msg="aborting completion request due to client closing the connection"',
    'level=INFO msg="aborting embeddings request due to client closing the connection"',
    'level=INFO msg="Request terminated" error="context canceled"',
]
GAPS = [
    "Suppressed 1234 messages from ollama.service",
    "Aug 28 16:17:40 gpu systemd-journald[312]: Suppressed 1 messages from ollama.service",
    '{"MESSAGE":"Suppressed 9 messages from docker.service","N_DROPPED":"9","_UID":"0"}',
    "Aug 28 16:17:40 gpu systemd-journald[312]: Forwarding to syslog missed 5 messages.",
    "Missed 12 kernel messages",
    "rsyslogd: imjournal: 871 messages lost due to rate-limiting (20000 allowed within 600 s)",
    "rsyslogd: imjournal: begin to drop messages due to rate-limiting",
    "rsyslogd: imuxsock[pid: 1211, name: ollama]: begin to drop messages due to rate-limiting",
    "rsyslogd: imuxsock lost 341 messages from pid 1211 due to rate-limiting",
    "printk: ollama: 12 output lines suppressed due to ratelimiting",
    "warning: incomplete log stream. some logs could not be retrieved",
    "error from daemon in stream: Error grabbing logs: invalid character 'l'",
    "tail: /var/log/ollama.log: file truncated",
    "Journal file /var/log/journal/1/system.journal is truncated, ignoring file.",
    'level=warning msg="dropped 7 log lines, the buffer is full"',
    "[warn] 40 log entries have been dropped",
]


def endings() -> Iterator[tuple[str, list[str]]]:
    """Yield what is there of a request that told nothing of what it read."""
    for release, (new, cached, *read, release_line) in FORMATS.items():
        for name, lines in {
            "an embedding": [new, cached, release_line],
            "given up": [new, cached, CANCELLED, release_line],
            "given up in a batch": [new, cached, cached.replace("9670", "9680"), release_line],
            "its end was lost": [new, cached],
            "all but its beginning was lost": [new],
            "its end alone": [new, release_line],
            "cut in the middle of a line": [new, cached, read[-1][:-60]],
            "another's timings, in another slot": [
                *(new, cached),
                *(line.replace("id  0", "id  1") for line in read if "id  0" in line),
                release_line,
            ],
        }.items():
            yield f"{release}: {name}", lines


def of_another() -> Iterator[tuple[str, list[str]]]:
    """Yield requests that ended without a timing, and timings of one that began before."""
    for release in ("2024", "October 2025"):
        new, _, read, end = FORMATS[release]
        theirs = end.replace("id  0", "id  1").replace("task 7", "task 3")
        for name, lines in {
            "in front": [new, theirs, read, end],
            "behind": [new, read, theirs, end],
            "at the end": [new, end, theirs, read],
        }.items():
            yield f"{release}: timings of an older request, {name}", lines


def runners() -> Iterator[tuple[str, list[str]]]:
    """Yield requests of runners that tell of them before they read."""
    for line in (GO, MLX):
        for ended in (*EMBEDDED, *GIVEN_UP):
            yield f"{line[-70:-50]} {ended[-60:]}", [line, ended]


def gaps() -> Iterator[tuple[str, list[str]]]:
    """Yield a whole question beside the word of someone that lines are missing."""
    whole = FORMATS["since May 2026"]
    for gap in GAPS:
        for place in (0, 2, len(whole)):
            yield f"{place}: {gap}", [*whole[:place], gap, *whole[place:]]


VARIANTS = [*endings(), *of_another(), *runners(), *gaps()]


def test_there_are_enough() -> None:
    """The kind has many faces."""
    assert len({name for name, _ in VARIANTS}) == len(VARIANTS) >= 100


@pytest.mark.parametrize("lines", [pytest.param(lines, id=name) for name, lines in VARIANTS])
def test_no_count(lines: list[str]) -> None:
    """Nothing is known of the question, not even its length, and the reason says why."""
    found = window(lines).counts()
    assert found == Counts(reason=found.reason)
    assert found.reason
    # In whatever a journal or a container made of it.
    assert window([f"Aug 28 16:17:40 gpu ollama[1]: {it}" for it in lines]).counts() == found


@pytest.mark.parametrize("release", FORMATS)
def test_whole_question(release: str) -> None:
    """With its timings each of them is known."""
    lines = [*FORMATS[release]]
    assert window(lines).counts() == known(9681, 9670)
    assert window([*lines, GIN.format(status=499, path='"/api/chat"')]).counts().re_read == 11


@pytest.mark.parametrize("line", [GO, MLX])
def test_whole_question_of_another_runner(line: str) -> None:
    """Their one line is enough as long as no one says that a request was none."""
    answered = GIN.format(status=200, path='"/api/chat"')
    other = GIN.format(status=404, path='"/api/show"')
    assert window([line, answered, other]).counts() == known(9681, 9670)


@pytest.mark.parametrize(
    "line",
    [
        'level=WARN msg="truncating input prompt" limit=4096 prompt=9020 keep=4 new=4095',
        'level=DEBUG msg="truncating input messages which exceed context length" truncated=3',
        'level=WARN msg="failed to restore cache, freeing all caches" offset=12',
        "slot   operator(): id  0 | task 7 | forcing full prompt re-processing due to lack of",
        "rsyslogd: [origin software=rsyslogd] rsyslogd was HUPed",
        "Received client request to rotate journal, rotating.",
        "message repeated 2 times: [srv  update_slots: all slots are idle]",
    ],
)
def test_no_gap(line: str) -> None:
    """What a server drops is not a line of its log."""
    assert window([*FORMATS["since May 2026"], line]).counts().re_read == 11


SINGLE = [
    part
    for name in (
        *("llama_server_b10050_recurrent", "llama_server_b10050_attention", "llama_server_2024"),
        *("llama_server_2025_10", "llama_server_2026_03", "llama_server_b10050_one_batch_back"),
        *("xllamacpp_clock_sliding", "xllamacpp_one_batch_back", "ollama_journal", "ollama_cut"),
    )
    for part in parts(fixture(name))
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SINGLE), st.data())
def test_any_lines_are_lost(lines: list[str], data: st.DataObject) -> None:
    """Whatever a rotation or a full buffer took from a real log, no wrong count is left."""
    whole = window(lines).counts()
    kept = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    left = [line for line, keep in zip(lines, kept, strict=True) if keep]
    found = window(left).counts()
    assert found.re_read in {None, whole.re_read}
    if found.re_read is None:
        assert found.prompt is None
        assert found.reason
    if not any("prompt eval time" in line for line in left):
        assert found.re_read is None
