"""What commands print in any encoding and on a terminal of any width."""

import asyncio
from collections.abc import Callable
from io import StringIO
import json
from pathlib import Path
import re
import subprocess
import sys
import tomllib

from click.testing import CliRunner, Result
import pytest
from rich.cells import cell_len
from rich.console import Console

from ollama_warmer.cli import main
from ollama_warmer.config.config import Target, load_config
from ollama_warmer.counts.counts import Counts
from ollama_warmer.lab.clock.clock import Placed
from ollama_warmer.lab.clock.patterns import Pattern, Sample
from ollama_warmer.lab.clock.prompt import Placement
from ollama_warmer.lab.clock.report import print_placed
from ollama_warmer.lab.probe.conclusions import conclude
from ollama_warmer.lab.probe.report import print_run
from ollama_warmer.ollama.client import Answer
from ollama_warmer.round.report import print_table
from ollama_warmer.round.rounds import Round, Step, TargetResult
from ollama_warmer.round.verdicts import CONFIRMATION, SECOND_CONFIRMATION, WARM_UP, Verdict
from ollama_warmer.screen import spinner
from ollama_warmer.words import printable
from tests.warmer.support.house import AGENT, TOKEN, House
from tests.warmer.support.probe_runs import BATCH, record
from tests.warmer.test_discover import Lived
from tests.warmer.test_progress import on_a_terminal

NAMES = (
    "Küche",
    "Wohnzimmer 💡",
    "客厅",
    "Łazienka",
    "Кухня",
    "e\u0301tage",
    "a\u2013b \u2026 \u201cc\u201d",
    "\u200fא",
)
ENCODINGS = ("ascii", "latin-1", "cp1252", "cp437", "koi8-r", "shift-jis", "utf-8")


def configure(folder: Path, url: str) -> Path:
    """Write a configuration with a target of each name."""
    path = folder / "home.toml"
    tables = "".join(f'[[targets]]\nname = "{name}"\nlanguage = "es"\n' for name in NAMES)
    path.write_text(
        f'agent = "{AGENT}"\n[home_assistant]\nurl = "{url}"\n{tables}', encoding="utf-8"
    )
    return path


async def invoke(encoding: str, *arguments: str, columns: int = 80) -> Result:
    """Run a command whose output goes to a pipe of an encoding."""
    environ = {"HA_TOKEN": TOKEN, "COLUMNS": str(columns)}
    runner = CliRunner(charset=encoding)
    result = await asyncio.to_thread(runner.invoke, main, list(arguments), env=environ)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    for written in (result.stdout_bytes, result.stderr_bytes):
        written.decode(encoding)
    return result


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_every_command_says_all_in_any_encoding(
    house: House, tmp_path: Path, encoding: str
) -> None:
    """Exit codes are those of UTF-8, and JSON is the same object."""
    config = str(configure(tmp_path, house.url))
    lived = Lived(house)
    for number, name in enumerate(NAMES):
        lived.satellite(name, "preferred" if number % 2 else "Plain", device=f"device-{number}")

    found = {
        "warm": await invoke(encoding, "warm", "--config", config),
        "plan": await invoke(encoding, "warm", "--dry-run", "--config", config),
        "status": await invoke(encoding, "status", "--config", config),
        "discover": await invoke(encoding, "discover", "--url", house.url),
        "doctor": await invoke(encoding, "doctor", "--config", config),
    }
    assert {name: result.exit_code for name, result in found.items()} == {
        "warm": 0,
        "plan": 0,
        "status": 0,
        "discover": 0,
        "doctor": 0,
    }
    for arguments in (("warm",), ("warm", "--dry-run"), ("status",)):
        result = await invoke(encoding, *arguments, "--json", "--config", config)
        assert [it["name"] for it in json.loads(result.stdout)["targets"]] == list(NAMES)
    json.loads((await invoke(encoding, "doctor", "--json", "--config", config)).stdout)
    for name in NAMES:
        if name.isascii() or encoding == "utf-8":
            assert all(printable(name) in found[it].stdout for it in ("warm", "plan", "status"))
    wrong = await invoke(encoding, "warm", "--config", config, "--target", "Ölküche")
    assert wrong.exit_code == 2
    assert "lk" in wrong.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has it")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("status", "--json")])
def test_no_room_for_what_is_shown(arguments: tuple[str, ...]) -> None:
    """A full disk behind standard output is a sentence."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ollama_warmer", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    if "--json" not in arguments:
        assert done.stderr == (
            "Error: what was to be shown cannot be written: No space left on device. Send it "
            "elsewhere\n"
        )
        assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [1, 2])
@pytest.mark.parametrize("more", [(), ("--json",)])
async def test_closed_streams(
    house: House, tmp_path: Path, closed: int, more: tuple[str, ...]
) -> None:
    """Whoever wants to see nothing gets the exit code all the same."""
    config = str(configure(tmp_path, house.url))
    await invoke("utf-8", "warm", "--config", config)
    start = f"import os, sys; os.close({closed}); os.execv(sys.executable, sys.argv[1:])"
    command = [sys.executable, "-m", "ollama_warmer", "status", "--config", config, *more]

    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", start, *command], capture_output=True, check=False
    )

    assert done.returncode == 0
    assert not done.stderr
    assert bool(done.stdout) is (closed != 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_what_discover_prints_is_a_configuration(
    house: House, tmp_path: Path, encoding: str
) -> None:
    """Whatever the pipe's encoding: the file that it becomes has to be UTF-8, with these names."""
    lived = Lived(house)
    for number, name in enumerate(NAMES):
        lived.satellite(name, "preferred", device=f"device-{number}")

    result = await invoke(encoding, "discover", "--url", house.url)

    path = tmp_path / "found.toml"
    path.write_bytes(result.stdout_bytes)
    shown = {" ".join(re.sub("[^ -~]", " ", name).split()) for name in NAMES}
    written = {target["name"] for target in tomllib.loads(path.read_text())["targets"]}
    assert {" ".join(re.sub("[^ -~]", " ", name).split()) for name in written} == shown | {"app"}
    assert "Küche" in {target.name for target in load_config(path).targets}


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", "Kuche"), ("latin-1", "Küche"), ("koi8-r", "Kuche"), ("utf-8", "Küche")],
)
async def test_the_nearest_characters_are_shown(
    house: House, tmp_path: Path, encoding: str, shown: str
) -> None:
    """A name stays readable where only its marks are lacking, and columns stay in line."""
    config = str(configure(tmp_path, house.url))

    output = (await invoke(encoding, "warm", "--config", config)).stdout

    table, _, reasons = output.partition(f"\n{shown}, ")
    assert ": warm, " in reasons
    assert len({cell_len(line) for line in table.splitlines()}) == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "koi8-r"])
async def test_a_spark_is_not_taken_for_unknown(
    house: House, tmp_path: Path, encoding: str
) -> None:
    """Where the blocks are lacking digits stand for them, and the legend says which."""
    config = str(configure(tmp_path, house.url))
    await invoke("utf-8", "warm", "--config", config, "--target", "Küche")

    said = (await invoke(encoding, "status", "--config", config, "--target", "Küche")).stdout

    assert "0 is less than 64, each step up is twice as many, 7 is 4,096 and more" in " ".join(
        said.split()
    )
    row = next(line for line in said.splitlines() if "warm" in line and "re-read" not in line)
    assert "?" not in row


def results() -> Round:
    """Return a round with the longest verdict, the longest step and long names."""
    counts = Counts(prompt=12_345, cached=0, re_read=12_345)
    steps = tuple(
        Step(step=step, counts=counts if step != SECOND_CONFIRMATION else Counts(), seconds=1234.5)
        for step in (WARM_UP, CONFIRMATION, SECOND_CONFIRMATION)
    )
    return Round(
        results=tuple(
            TargetResult(
                target=Target(name=name, agent=AGENT, text="1?", confirm_text="2?"),
                steps=steps,
                verdict=Verdict.PARTLY_WARM,
                reason="it was so",
            )
            for name in (*NAMES, "the room upstairs on the left")
        )
    )


WIDTHS = (24, 30, 40, 50, 60, 72, 80, 100, 132)


@pytest.mark.parametrize("columns", WIDTHS)
async def test_target_and_verdict_go_last(house: House, tmp_path: Path, columns: int) -> None:
    """Of `warm` and `status`; no table is wider than the terminal, and what is missing is said."""
    config = str(configure(tmp_path, house.url))

    warm = await invoke("utf-8", "warm", "--config", config, columns=columns)
    status = await invoke("utf-8", "status", "--config", config, columns=columns)

    for said, dropped in ((warm.stdout, "cached"), (status.stdout, "last rounds")):
        table = said.partition("\nKüche, ")[0].splitlines()
        assert max(map(cell_len, table[1:])) <= columns
        rows = [line for line in table if "warm" in line.replace("warm-up", "")]
        heading = next(line for line in table if "target" in line)
        assert "verdict" in heading
        assert (dropped in heading) != ("Too narrow here for: " in said)
        if columns >= 40:
            assert "Küche" in " ".join(table)
            assert len(rows) >= len(NAMES)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_table_loses_what_it_is_about(width: int) -> None:
    """The longest verdict, step and counts on every width: what stays is whole from 40 columns."""
    out = StringIO()
    print_table(results(), Console(file=out, width=width))
    table = out.getvalue()[: out.getvalue().index(": partly warm, ")].splitlines()

    words = [name.split()[0] for name in NAMES[:5]]
    assert max(map(cell_len, table[:-1])) <= width
    if width >= 30:
        shown = [line for line in table if "partly warm" in line]
        assert len(shown) == len(results().results)
        assert all(any(name in line for line in table) for name in words)
    if 30 <= width <= 40:
        assert all(name in line for name, line in zip(words, shown, strict=False))
    if width >= 80:
        assert "Too narrow" not in out.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_lab_tables_keep_what_was_re_read(width: int) -> None:
    """Of `clock` and `probe`, too: the first column and the re-read tokens go last."""
    answer = Answer.read(
        {"prompt_eval_count": 4856, "prompt_eval_cached_count": 0, "total_duration": 10**10}, {}
    )
    placed = Placed(
        placement=Placement.TOP,
        samples=(Sample(answer=answer),) * 3,
        pattern=Pattern.WHOLE,
        words="the whole prompt",
    )
    prints: list[Callable[[Console], None]] = [
        lambda console: print_placed([placed], console),
        lambda console: print_run(conclude(record(BATCH)), console),
    ]
    for print_it in prints:
        out = StringIO()
        print_it(Console(file=out, width=width))
        lines = [it for it in out.getvalue().splitlines() if not it.startswith("At the top")]
        assert max(map(cell_len, lines)) <= width
        if width >= 40:
            assert "re-read" in out.getvalue()


def test_signs_of_progress() -> None:
    """None is drawn of characters that a terminal lacks."""
    assert spinner("utf-8") == "dots"
    assert {spinner(encoding) for encoding in ENCODINGS[:-1]} == {"line"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
async def test_on_a_terminal_that_lacks_characters(
    house: House, tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real command, with its line of progress: nothing ends in a traceback."""
    monkeypatch.setenv("PYTHONIOENCODING", f"{encoding}:strict")

    shown, _, _ = await on_a_terminal(
        house,
        tmp_path,
        "--target",
        "Küche",
        "--target",
        "app",
        streams=["stdout", "stderr"],
        counts='[[targets]]\nname = "Küche"\n',
    )

    assert "che, app: warm, " in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "Traceback" not in shown
