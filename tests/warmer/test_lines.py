"""Lines of real logs: the right counts, or a reason, and never a guess."""

from pathlib import Path
import random

from hypothesis import given, settings, strategies as st
import pytest

from ollama_warmer.counts.counts import Counts
from ollama_warmer.counts.lines import Window
from ollama_warmer.round.likely import likely

FIXTURES = Path(__file__).with_name("fixtures")

NEW = (
    "slot   operator(): id  {slot} | task {task} | new prompt, n_ctx_slot = 9, n_keep = 0, "
    "task.n_tokens = {prompt}"
)
CACHED = (
    "slot   operator(): id  {slot} | task {task} | cached n_tokens = {cached}, "
    "memory_seq_rm [{cached}, end)"
)
READ = (
    "slot print_timing: id  {slot} | task {task} | prompt eval time =  3.92 ms /  {read} tokens ("
)
RELEASE = (
    "slot      release: id  {slot} | task {task} | stop processing: n_tokens = {length}, "
    "truncated = 0"
)
STARTING = 'time=x level=INFO source=x msg="starting llama-server" cmd="llama-server -np 1"'
LOADED = "srv  llama_server: model loaded"


def request(prompt: int, cached: int, *, slot: int = 0, task: int = 0) -> list[str]:
    """Return the lines of one request, with an answer of 40 tokens."""
    words = {
        "slot": slot,
        "task": task,
        "prompt": prompt,
        "cached": cached,
        "read": prompt - cached,
        "length": prompt + 40,
    }
    return [line.format(**words) for line in (NEW, CACHED, READ, RELEASE)]


def window(lines: list[str]) -> Window:
    """Return a window with these lines in it."""
    found = Window()
    for line in lines:
        found.feed(line)
    return found


def known(prompt: int, cached: int) -> Counts:
    """Return counts without a word."""
    return Counts(prompt=prompt, cached=cached, re_read=prompt - cached)


def fixture(name: str) -> list[str]:
    """Return the lines of a log, without the first one, which says where it is from."""
    first, *lines = (FIXTURES / f"{name}.log").read_text().split("\n")
    assert first.startswith("# ")
    return lines


def parts(lines: list[str]) -> list[list[str]]:
    """Cut a log where a server has nothing to do."""
    found: list[list[str]] = [[]]
    for line in lines:
        found[-1].append(line)
        if "all slots are idle" in line:
            found.append([])
    return [part for part in found if any("new prompt" in line for line in part)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama_server_b10050_recurrent", [(1523, 0), (1523, 1519), (1539, 1519)]),
        ("llama_server_b10050_attention", [(1523, 0), (6004, 1), (1539, 1522)]),
        ("llama_server_2024", [(3000, 952)]),
        ("llama_server_2025_10", [(3000, 2990)]),
        ("llama_server_2026_03", [(3000, 1000)]),
        ("llama_server_b10050_one_batch_back", [(1537, 499)]),
        ("llama_server_b10050_slots_debug", [(12808, 0)]),
        ("xllamacpp_clock_attention", [(8099, 8), (8096, 24)]),
        ("xllamacpp_clock_recurrent", [(8100, 0), (8096, 0)]),
        ("xllamacpp_clock_sliding", [(8101, 0), (8095, 0)]),
        ("xllamacpp_one_batch_back", [(8100, 7075), (8095, 7076)]),
        ("ollama_journal", [(1523, 0)]),
        ("ollama_reload", [(5104, 0)]),
        ("ollama_cut", [(4097, 4)]),
    ],
)
def test_llama_server(name: str, expected: list[tuple[int, int]]) -> None:
    """Every release's lines give the counts that the server meant."""
    assert [window(part).counts() for part in parts(fixture(name))] == [
        known(*pair) for pair in expected
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("go_runner", known(3000, 2890)), ("mlx_runner", known(3179, 4))],
)
def test_other_runners(name: str, expected: Counts) -> None:
    """A "hit" with hardly anything cached is no hit."""
    found = window(fixture(name))
    assert found.counts() == expected
    assert found.complete


def test_every_fixture_is_read() -> None:
    """Each log says where its format was seen and holds at least one request."""
    for path in FIXTURES.glob("*.log"):
        # What a server says while it loads a model is the doctor's.
        assert not window(fixture(path.stem)).empty or path.name.startswith("loads_"), path


@pytest.mark.parametrize("before", ["", "Aug 28 16:17:40 gpu ollama[1]: ", "ollama-1  | "])
def test_words_in_front_of_a_line(before: str) -> None:
    """A journal and a container put words in front."""
    lines = [before + line for line in request(100, 90)]
    assert window(lines).counts() == known(100, 90)


def test_name_of_the_function_does_not_matter() -> None:
    """It has changed before."""
    lines = [line.replace("operator()", "whatever_1") for line in request(100, 90)]
    assert window(lines).counts() == known(100, 90)


def test_only_the_first_batch_tells_what_was_cached() -> None:
    """The line comes once for each batch, with more each time."""
    new, cached, *rest = request(3000, 0)
    later = CACHED.format(slot=0, task=0, cached=1024)
    assert window([new, cached, later, *rest]).counts() == known(3000, 0)
    # Without the first line and without the timings nothing can be told.
    assert window([later, new]).counts().re_read is None


def test_without_timings_nothing_is_known() -> None:
    """A request that was given up has none, and no one's count is that of what it had cached."""
    new, cached, _, release = request(3000, 1000)
    found = window([new, cached, release])
    assert (found.over, found.complete) == (True, False)
    assert (found.counts().prompt, found.counts().re_read) == (None, None)
    assert "was given up, was no question" in str(found.counts().reason)


def test_two_clients_are_not_guessed() -> None:
    """Two requests at once, as a real server wrote them."""
    found = window(fixture("llama_server_b10050_two_clients")).counts()
    assert (found.prompt, found.re_read) == (None, None)
    assert "2 requests were written" in (found.reason or "")


def test_request_that_was_given_up_is_another_client() -> None:
    """A question of a person who left is not the one that was answered."""
    found = window(fixture("llama_server_b10050_given_up")).counts()
    assert found.re_read is None


@pytest.mark.parametrize("swap", [False, True])
def test_another_client_after_or_before(swap: bool) -> None:  # noqa: FBT001
    """Whoever else asks, even with the same beginning, makes it unknown."""
    lists = [request(3000, 2980, task=1), request(3010, 2980, task=9)]
    lines = [line for part in (reversed(lists) if swap else lists) for line in part]
    assert window(lines).counts().re_read is None


def test_tool_call_goes_on_from_the_answer() -> None:
    """A second call that had all of the first one and some of its answer is the same question."""
    lines = [*request(3000, 2980, task=1), *request(3100, 3020, task=9)]
    assert window(lines).counts() == known(3000, 2980)
    # A prompt that only has the same tokens may be anyone's: a warm-up of the bare prefix is one.
    # So may one that had more than the answer left behind, as another room's prompt has.
    for later in (
        request(3100, 3000, task=9),
        request(3100, 3041, task=9),
        request(3030, 3020, task=9),
        request(3100, 3020, task=9, slot=1),
    ):
        assert window([*request(3000, 2980, task=1), *later]).counts().re_read is None


def test_lines_of_a_request_from_before() -> None:
    """A request that began earlier ends in the window, in another slot: ours is still known."""
    theirs = request(500, 20, slot=1, task=3)[1:]
    new, *ours = request(3000, 2980, task=8)
    assert window([theirs[0], new, *theirs[1:], *ours]).counts() == known(3000, 2980)


def test_contradictions_are_no_counts() -> None:
    """Lines of two processes may have the same slot and task."""
    new, cached, read, _ = request(3000, 2980)
    other = READ.format(slot=0, task=0, read=400)
    assert window([new, cached, other]).counts().re_read is None
    assert window([new, cached, read, other]).counts().re_read is None
    assert window([new, READ.format(slot=0, task=0, read=4000)]).counts().re_read is None
    line = 'msg="loading cache slot" id=0 cache=1 prompt=100 used=90 remaining=11'
    assert window([line]).counts().re_read is None
    assert window(['msg="cache hit" total=100 matched=3']).empty


def test_loading_a_model_first_is_no_trouble() -> None:
    """Ollama says that it starts a process, and the process that it has loaded the model."""
    in_json = '{"log":"srv  llama_server: model loaded\\n","stream":"stderr"}'
    for start in ([STARTING, LOADED], [LOADED], [STARTING], [STARTING, in_json]):
        assert window([*start, *request(100, 0)]).counts() == known(100, 0)


def test_two_processes_are_not_guessed() -> None:
    """Two models loaded in between, or one loaded while a prompt is read."""
    ours = request(100, 0)
    for lines in (
        [STARTING, LOADED, STARTING, LOADED, *ours],
        [LOADED, LOADED, *ours],
        [*ours[:2], STARTING, *ours[2:]],
    ):
        found = window(lines).counts()
        assert found.re_read is None
        assert "several model processes" in (found.reason or "")


def test_timings_without_a_slot_need_one_request() -> None:
    """Older servers do not say whose timings they are."""
    bare = "prompt eval time =    10.00 ms /    20 tokens (  1.0 ms per token)"
    first, second = request(3000, 2980, task=1)[0], request(3000, 10, task=2)[0]
    assert window([first, bare]).counts() == known(3000, 2980)
    assert window([bare, first]).counts().re_read is None
    assert window([first, second, bare]).counts().re_read is None


REAL = [line for path in sorted(FIXTURES.glob("*.log")) for line in path.read_text().split("\n")]


def check(found: Window) -> None:
    """Whatever was fed, there are whole counts or a reason."""
    counts = found.counts()
    if counts.re_read is None:
        assert counts.reason
        assert likely(counts, 100) is None
    else:
        assert counts.prompt is not None
        assert counts.cached is not None
        assert counts.prompt - counts.cached == counts.re_read >= 0
        assert likely(counts, 100)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(
        st.text() | st.sampled_from(REAL) | st.from_regex(r"id 0 \| task \d+ \| .*"), max_size=50
    )
)
def test_any_words(lines: list[str]) -> None:
    """No line raises, alone or between real ones."""
    check(window(lines))


@settings(max_examples=10, deadline=None)
@given(st.integers())
def test_a_hundred_thousand_damaged_lines(seed: int) -> None:
    """Real lines that were cut, joined, and had their digits and letters changed never raise."""
    shares: list[float] = []
    chance, found = random.Random(seed), Window(on_progress=shares.append)  # noqa: S311
    for _ in range(10_000):
        first, second = chance.choice(REAL), chance.choice(REAL)
        line = (
            first[: chance.randrange(len(first) + 1)] + second[chance.randrange(len(second) + 1) :]
        )
        if chance.random() < 0.5:
            line = line.replace(
                chance.choice("0123456789= |"), chance.choice(["", "9" * 30, "٣", "\x00", "-"])
            )
        found.feed(line)
        if chance.random() < 0.05:
            check(found)
            found = Window(on_progress=shares.append)
    assert all(0 <= share <= 1 for share in shares)
