"""The state file: what is written, and what happens when it cannot be."""

from datetime import UTC, datetime, timedelta, timezone
import errno
import os
from pathlib import Path
import resource
import stat
from typing import Any

import pytest

from ollama_warmer.config.config import Target
from ollama_warmer.counts.counts import Counts
from ollama_warmer.errors import CannotConnect, ConfigError
from ollama_warmer.history.state import StateFile, default_path, unreached
from ollama_warmer.round.rounds import Round, Step, TargetResult
from ollama_warmer.round.verdicts import Verdict

AT = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
EMPTY = {"version": 1, "rounds": []}
WORDS = "What is 7 times 1234?"
APP = Target(name="app", agent="conversation.house", text=WORDS, confirm_text="{number}: odd?")


def warm_round(re_read: int | None = 20, verdict: Verdict = Verdict.WARM) -> Round:
    """Return a round of one target."""
    counts = Counts(
        prompt=8000, cached=None if re_read is None else 8000 - re_read, re_read=re_read
    )
    step = Step(step="confirmation", counts=counts, seconds=0.31234)
    result = TargetResult(target=APP, steps=(step,), verdict=verdict, reason="as it is")
    return Round(results=(result,))


def add(state: StateFile, outcome: Round | None = None, at: datetime = AT) -> None:
    """Add a round that took two seconds."""
    state.add(outcome or warm_round(), at=at, occasion="schedule", seconds=2.00049)


def re_reads(state: dict[str, Any]) -> list[int | None]:
    """Return the re-read tokens of all rounds, the oldest first."""
    return [each["targets"][0]["steps"][0]["re_read"] for each in state["rounds"]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the state file will be; the folder is not there either."""
    return tmp_path / "state/home.json"


def test_no_file_is_no_rounds(path: Path) -> None:
    """Before the first round there is nothing, and nothing is wrong."""
    state = StateFile(path)

    assert state.load() == EMPTY
    assert state.problem is None
    assert not path.parent.exists()


def test_a_round_is_written_as_it_is(path: Path) -> None:
    """Another process reads what was added, in UTC, with unknown counts as null."""
    state = StateFile(path)
    add(state, at=datetime(2026, 11, 20, 15, 5, tzinfo=timezone(timedelta(hours=1))))
    add(state, warm_round(None, Verdict.UNKNOWN))

    written = StateFile(path).load()

    assert written["version"] == 1
    step = {"step": "confirmation", "prompt": 8000, "cached": 7980, "re_read": 20, "seconds": 0.312}
    target = {
        "name": "app",
        "agent": "conversation.house",
        "device": None,
        "verdict": "warm",
        "reason": "as it is",
        "steps": [step],
    }
    assert written["rounds"][0] == {
        "at": "2026-11-20T14:05:00+00:00",
        "occasion": "schedule",
        "seconds": 2.0,
        "verdict": "warm",
        "targets": [target],
    }
    assert re_reads(written) == [20, None]


def test_nobodys_words_are_in_it(path: Path) -> None:
    """Questions stay out."""
    add(StateFile(path))

    assert "1234" not in path.read_text()
    assert "odd" not in path.read_text()


def test_it_is_for_its_owner_alone(path: Path) -> None:
    """Mode 0600, in a folder of mode 0700, with nothing left beside it."""
    before = os.umask(0)
    try:
        add(StateFile(path))
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_only_the_last_rounds_are_kept(path: Path) -> None:
    """The file does not grow for ever."""
    state = StateFile(path, kept=3)
    for number in range(5):
        add(state, warm_round(number))

    assert re_reads(state.load()) == [2, 3, 4]


def test_two_writers_do_not_lose_each_others_rounds(path: Path) -> None:
    """A round by hand stays, though the service has read the file before."""
    service, by_hand = StateFile(path), StateFile(path)
    add(service, warm_round(1))
    add(by_hand, warm_round(2))
    add(service, warm_round(3))

    assert re_reads(service.load()) == [1, 2, 3]


def test_a_file_that_was_cut_off_is_put_aside(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Reading changes nothing; the next round starts a new file, and says so in one sentence."""
    add(StateFile(path))
    half = path.read_bytes()[:100]
    path.write_bytes(half)
    state = StateFile(path)

    assert state.load() == EMPTY
    assert "it is not JSON" in str(state.problem)
    assert path.read_bytes() == half
    caplog.clear()
    add(state, warm_round(7))

    assert re_reads(StateFile(path).load()) == [7]
    assert path.with_name("home.json.corrupt").read_bytes() == half
    assert len(caplog.records) == 1
    assert "home.json.corrupt, and the history starts again" in caplog.text
    assert state.problem is None


def test_a_newer_file_is_left_alone(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What a later release wrote is neither read nor overwritten; rounds stay in memory."""
    path.parent.mkdir()
    path.write_text('{"version": 2, "laps": []}')
    state = StateFile(path)

    add(state, warm_round(1))
    add(state, warm_round(2))

    assert path.read_text() == '{"version": 2, "laps": []}'
    assert re_reads(state.load()) == [1, 2]
    assert len(caplog.records) == 1
    assert "has version 2, and this program knows version 1: it is left alone" in caplog.text


def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every write to the disk fail as on a full one."""

    def fsync(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ollama_warmer.history.state.os.fsync", fsync)


def test_on_a_full_disk_rounds_wait_in_memory(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One warning, no crash, the old file whole; all is written as soon as there is room."""
    state = StateFile(path)
    add(state, warm_round(1))
    with pytest.MonkeyPatch.context() as patch:
        full_disk(patch)
        add(state, warm_round(2))
        add(state, warm_round(3))

        assert re_reads(state.load()) == [1, 2, 3]
        assert list(path.parent.iterdir()) == [path]
    assert re_reads(StateFile(path).load()) == [1]
    add(state, warm_round(4))

    assert re_reads(StateFile(path).load()) == [1, 2, 3, 4]
    assert len(caplog.records) == 1
    assert "No space left on device. Rounds are kept in memory until it can" in caplog.text


def test_a_write_that_stops_halfway(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The kernel takes only the first bytes of a file: the old one stays, and nothing beside it."""
    state = StateFile(path)
    add(state, warm_round(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        add(state, warm_round(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert "cannot be written: File too large" in caplog.text
    assert re_reads(StateFile(path).load()) == [1]
    assert list(path.parent.iterdir()) == [path]


def test_where_nothing_can_be_made(caplog: pytest.LogCaptureFixture) -> None:
    """A folder that cannot be made is a warning, and the round is kept in memory."""
    state = StateFile(Path("/proc/ollama-warmer/home.json"))

    add(state, warm_round(1))

    assert re_reads(state.load()) == [1]
    assert "cannot be written" in caplog.text


def test_memory_is_bounded_too(path: Path) -> None:
    """A disk that stays full does not fill the memory."""
    path.parent.write_text("a file where the folder should be")
    state = StateFile(path, kept=3)
    for number in range(5):
        add(state, warm_round(number))

    assert re_reads(state.load()) == [2, 3, 4]


def test_a_second_fault_is_said_again(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A fault that was over in between is a new one."""
    state = StateFile(path)
    for _ in range(2):
        with pytest.MonkeyPatch.context() as patch:
            full_disk(patch)
            add(state)
        add(state)

    assert len(caplog.records) == 2


def test_a_round_that_asked_nobody(path: Path) -> None:
    """Where Home Assistant was not reached every target failed, for that reason."""
    add(StateFile(path), unreached((APP,), CannotConnect("Home Assistant is not there")))

    (written,) = StateFile(path).load()["rounds"]
    assert written["verdict"] == "failed"
    assert written["targets"][0]["reason"] == "Home Assistant is not there"
    assert written["targets"][0]["steps"] == []


def test_it_lies_where_systemd_says() -> None:
    """The folder of systemd comes first, then the desktop's, then the home's."""
    config = Path("/etc/ollama-warmer/home.toml")
    systemd = {"STATE_DIRECTORY": "/var/lib/ollama-warmer:/var/lib/other"}
    desktop = {"XDG_STATE_HOME": "/elsewhere", "HOME": "/someone"}

    assert default_path(config, systemd | desktop) == Path("/var/lib/ollama-warmer/home.json")
    assert default_path(config, desktop) == Path("/elsewhere/ollama-warmer/home.json")
    at_home = Path("/someone/.local/state/ollama-warmer/home.json")
    assert default_path(config, desktop | {"XDG_STATE_HOME": "relative"}) == at_home
    assert default_path(config, {"HOME": "/someone"}) == at_home


def test_a_user_without_a_home_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how."""

    def nowhere() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nowhere)

    with pytest.raises(ConfigError, match="--state"):
        default_path(Path("home.toml"), {})


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    """No history is put in the place of what is no file, such as /dev/null, nor is it put aside."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    state = StateFile(path)

    add(state)

    assert path.is_fifo()
    assert "it is a device or a pipe, name a file with --state" in str(state.problem)
    assert [it.name for it in tmp_path.iterdir()] == ["pipe"]
    with pytest.raises(ConfigError, match="it is a device or a pipe"):
        state.read()
