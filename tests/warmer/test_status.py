"""`ollama-warmer status`: how the targets stood, and that old proof is called old."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
import json
from pathlib import Path

from click.testing import CliRunner, Result
import pytest

from ollama_warmer.cli import main
from ollama_warmer.config.config import Target
from ollama_warmer.counts.counts import Counts
from ollama_warmer.errors import CannotConnect
from ollama_warmer.history.state import StateFile, unreached
from ollama_warmer.history.status_report import age
from ollama_warmer.round.rounds import Round, Step, TargetResult
from ollama_warmer.round.verdicts import CONFIRMATION, WARM_UP, Verdict

AGENT = "conversation.house"
NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
LONG_AGO = timedelta(days=3)
MINUTE = timedelta(minutes=1)
LATELY = timedelta(seconds=90)
CONFIG = f"""
agent = "{AGENT}"
home_assistant = {{ url = "http://127.0.0.1:8123" }}
[[targets]]
name = "app"
[[targets]]
name = "kitchen"
device = "0123"
"""


def result(
    name: str, found: int | None, left: int | None, verdict: Verdict = Verdict.WARM
) -> TargetResult:
    """Return what a round did for a target: what its warm-up re-read, and its confirmation."""
    device = None if name == "app" else "0123"
    return TargetResult(
        target=Target(name=name, agent=AGENT, device=device, text="a?", confirm_text="b?"),
        steps=(step(WARM_UP, found, 5), step(CONFIRMATION, left, 0.25)),
        verdict=verdict,
        reason=f"the confirmation re-read {left} tokens",
    )


def step(name: str, re_read: int | None, seconds: float) -> Step:
    """Return a question whose prompt had 8,100 tokens, if that is known."""
    counts = Counts()
    if re_read is not None:
        counts = Counts(prompt=8100, cached=8100 - re_read, re_read=re_read)
    return Step(step=name, counts=counts, seconds=seconds)


@pytest.fixture
def state(tmp_path: Path) -> StateFile:
    """Return a state file without rounds."""
    return StateFile(tmp_path / "home.json")


def add(state: StateFile, *results: TargetResult, ago: timedelta = LATELY) -> None:
    """Add a round that took two seconds, so long ago."""
    state.add(Round(results=results), at=datetime.now(UTC) - ago, occasion="midnight", seconds=2)


Ask = Callable[..., Result]


@pytest.fixture
def ask(state: StateFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a way to run `status`, in 80 columns and without colour."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*options: str, config: str | None = None, code: int = 0) -> Result:
        if config is not None:
            (tmp_path / "house.toml").write_text(config)
            options = ("--config", str(tmp_path / "house.toml"), *options)
        arguments = ["status", "--state", str(state.path), *options]
        ran = CliRunner().invoke(main, arguments)
        assert ran.exit_code == code, ran.output
        return ran

    return run


def row(output: str, start: str) -> list[str]:
    """Return the words of the first line that starts like this."""
    return next(line for line in output.splitlines() if line.strip().startswith(start)).split()


def test_each_target_has_a_line(state: StateFile, ask: Ask) -> None:
    """Verdict, age, what the confirmation cost, and what the last rounds found."""
    add(state, result("app", 8012, 20), result("kitchen", 64, 21), ago=61 * MINUTE)
    add(state, result("app", 20, 20), result("kitchen", None, 300, Verdict.PARTLY_WARM))

    said = ask(code=1).output

    assert "1 partly warm, 1 warm" in said
    assert row(said, "app") == ["app", "warm", "1", "min", "ago", "8,100", "20", "0.25", "█▁"]
    kitchen = ["kitchen", "partly", "warm", "1", "min", "ago", "8,100", "300", "0.25", "▂?"]
    assert row(said, "kitchen") == kitchen
    assert "kitchen: partly warm, the confirmation re-read 300 tokens" in said


def test_all_warm_is_success(state: StateFile, ask: Ask) -> None:
    """Exit code 0, as for `warm`."""
    add(state, result("app", 8012, 20), result("kitchen", 20, 20))

    assert "2 warm" in ask(code=0).output


def test_nothing_is_wider_than_the_terminal(state: StateFile, ask: Ask) -> None:
    """Tables fit in 80 columns with a long name, unknown counts and many rounds."""
    for minutes in range(20, 0, -1):
        long = result("the room upstairs on the left", None, None, Verdict.UNKNOWN)
        add(state, result("app", 8012, 20), long, ago=minutes * MINUTE)

    lines = ask(code=1).output.splitlines()

    table = lines[: next(number for number, line in enumerate(lines) if "app: " in line)]
    assert max(map(len, table)) <= 80
    assert "?" * 14 in "\n".join(table)
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize(
    ("found", "block"),
    [
        (0, "▁"),
        (20, "▁"),
        (63, "▁"),
        (64, "▂"),
        (1024, "▆"),
        (4095, "▇"),
        (4096, "█"),
        (8100, "█"),
    ],
)
def test_blocks_stand_for_tokens(state: StateFile, ask: Ask, found: int, block: str) -> None:
    """The scale is the same for every house: a block more is twice as many tokens."""
    add(state, result("app", found, 20))

    assert row(ask().output, "app")[-1] == block


def test_unknown_and_unanswered_have_signs_of_their_own(state: StateFile, ask: Ask) -> None:
    """Neither looks like a count, least of all like zero."""
    add(state, result("app", None, None, Verdict.UNKNOWN), ago=5 * MINUTE)
    unasked = result("app", 0, 0).target
    state.add(
        unreached((unasked,), CannotConnect("Home Assistant is not there")),
        at=datetime.now(UTC) - LATELY,
        occasion="schedule",
        seconds=1,
    )

    said = ask(code=1).output

    assert row(said, "app") == ["app", "failed", "1", "min", "ago", "unknown", "unknown", "-", "?x"]
    assert "app: failed, Home Assistant is not there" in said


def test_last_rounds_are_listed(state: StateFile, ask: Ask) -> None:
    """With occasion, duration and how many targets stood how; the newest is the last."""
    add(state, result("app", 8012, 20), ago=125 * MINUTE)
    add(state, result("app", 9, 9), result("kitchen", 9, 900, Verdict.COLD), ago=5 * MINUTE)

    rounds = [line.split() for line in ask(code=1).output.splitlines() if "midnight" in line]

    assert [each[2:] for each in rounds] == [
        ["2", "h", "ago", "midnight", "2.0", "1", "warm"],
        ["4", "min", "ago", "midnight", "2.0", "1", "cold,", "1", "warm"],
    ]


def test_old_proof_is_called_old(state: StateFile, ask: Ask) -> None:
    """What was warm three days ago is not said to be warm, and is no success."""
    add(state, result("app", 20, 20), ago=LONG_AGO)

    said = ask(code=1).output

    assert row(said, "app")[:3] == ["app", "was", "warm"]
    assert "As of 2 days ago: 1 warm." in said
    assert "it says how things were, not how they are" in said
    assert "app: was warm" in said


@pytest.mark.parametrize(("ago", "code"), [(119 * MINUTE, 0), (122 * MINUTE, 1)])
def test_two_intervals_are_too_long(state: StateFile, ask: Ask, ago: timedelta, code: int) -> None:
    """With a configuration the hour between rounds is known; without it a day is the limit."""
    add(state, result("app", 20, 20), result("kitchen", 20, 20), ago=ago)

    ask(config=CONFIG, code=code)
    ask(code=0)


@pytest.mark.parametrize(("ago", "code"), [(25, 0), (27, 1)])
def test_times_of_day_leave_a_day(state: StateFile, ask: Ask, ago: int, code: int) -> None:
    """Who warms once a day sees the proof of yesterday as a proof, and no longer."""
    add(state, result("app", 20, 20), result("kitchen", 20, 20), ago=timedelta(hours=ago))

    ask(config=f'{CONFIG}\n[run]\ntimes = ["06:30"]', code=code)


def test_a_clock_that_was_set_back_makes_rounds_old(state: StateFile, ask: Ask) -> None:
    """How long ago a round in the future was cannot be known."""
    add(state, result("app", 20, 20), ago=-60 * MINUTE)

    assert row(ask(code=1).output, "app")[:5] == ["app", "was", "warm", "in", "future"]


def test_a_target_that_was_never_asked_is_not_warm(state: StateFile, ask: Ask) -> None:
    """A new target in the configuration is unknown until a round has asked it."""
    add(state, result("app", 20, 20))

    said = ask(config=CONFIG, code=1).output

    assert row(said, "kitchen") == ["kitchen", "unknown", "never", "-", "-", "-", "-"]
    assert "kitchen: unknown, it was not asked in any round that is kept" in said


def test_another_device_is_another_target(state: StateFile, ask: Ask) -> None:
    """A proof for the old satellite says nothing about the one that stands there now."""
    add(state, result("app", 20, 20), result("kitchen", 20, 20))

    said = ask(config=CONFIG.replace("0123", "4567"), code=1).output

    assert row(said, "kitchen")[1] == "unknown"
    assert 'the configuration has them no more: "kitchen"' in said


def test_one_target_alone(state: StateFile, ask: Ask) -> None:
    """`--target` leaves the others out, of the rounds and of the exit code, too."""
    add(state, result("app", 20, 20), result("kitchen", 900, 900, Verdict.COLD))

    shown = json.loads(ask("--target", "app", "--json", code=0).output)

    assert [target["name"] for target in shown["targets"]] == ["app"]
    assert [each["verdict"] for each in shown["rounds"]] == ["warm"]
    assert "cold" not in ask("--target", "app", config=CONFIG, code=0).output


def test_an_unknown_target_is_a_mistake(state: StateFile, ask: Ask) -> None:
    """The error says what targets there are."""
    add(state, result("app", 20, 20))

    assert (
        'There is no target "bath" in the state file: it has "app"'
        in ask("--target", "bath", code=2).stderr
    )


def test_json_has_the_rounds_and_what_they_mean(state: StateFile, ask: Ask) -> None:
    """The state file's own keys, and beside them each target; unknown is null."""
    add(state, result("app", 8012, None, Verdict.UNKNOWN))

    shown = json.loads(ask("--json", code=1).output)

    assert shown["version"] == 1
    assert shown["rounds"] == state.load()["rounds"]
    assert (shown["verdict"], shown["old"], shown["gone"]) == ("unknown", False, [])
    (target,) = shown["targets"]
    assert target["age"] in range(87, 100)
    del target["age"], target["at"]
    assert target == {
        "name": "app",
        "agent": AGENT,
        "device": None,
        "verdict": "unknown",
        "reason": "the confirmation re-read None tokens",
        "old": False,
        "prompt": None,
        "cached": None,
        "found": 8012,
        "re_read": None,
        "seconds": 0.25,
    }


def test_a_terminal_is_not_taken_over(state: StateFile, ask: Ask) -> None:
    """Control characters and rich's markup in a name or a reason are shown, not obeyed."""
    nasty = result("app", 20, 20)
    target = Target(name="[red]app\x1b[2J", agent=AGENT, text="a?", confirm_text="b?")
    add(state, TargetResult(target=target, verdict=nasty.verdict, reason="[bold]\x1b[2J"))

    said = ask(code=0).output

    assert "\x1b" not in said
    assert "[red]app" in said
    assert "[bold]" in said


def test_without_rounds(ask: Ask, state: StateFile) -> None:
    """Before the first round nothing is warm."""
    state.path.write_text('{"version": 1, "rounds": []}')

    assert "No target was asked yet." in ask(config=CONFIG, code=1).output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"version": 1, "rou', "is damaged: it is not JSON. The next round puts it aside"),
        ('{"version": 2}', "has version 2, and this program knows version 1"),
        (None, "there is no such state file"),
    ],
)
def test_a_file_that_cannot_be_used(
    state: StateFile, ask: Ask, content: str | None, words: str
) -> None:
    """One sentence, exit code 2, and the file as it was."""
    if content is not None:
        state.path.write_text(content)

    said = ask(code=2)

    assert said.stdout == ""
    assert words in said.stderr
    assert said.stderr.count("\n") == 1
    assert content is None or state.path.read_text() == content


def test_no_file_is_named() -> None:
    """The error says which options there are."""
    ran = CliRunner().invoke(main, ["status"])

    assert ran.exit_code == 2
    assert "--config FILE, or a state file with --state" in ran.stderr


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3600, "in future"),
        (-2, "just now"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (7200, "2 h ago"),
        (47 * 3600, "47 h ago"),
        (49 * 3600, "2 days ago"),
    ],
)
def test_ages_are_words(seconds: int, words: str) -> None:
    """Short enough for a table."""
    assert age(NOW - timedelta(seconds=seconds), NOW) == words


def test_pages_get_what_json_prints(state: StateFile, ask: Ask, tmp_path: Path) -> None:
    """`--report` writes one HTML file beside what is printed."""
    pytest.importorskip("matplotlib")
    add(state, result("app", 8012, 20))

    ask("--report", str(tmp_path / "page.html"))

    assert "<html" in (tmp_path / "page.html").read_text()
