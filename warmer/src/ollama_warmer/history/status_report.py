"""Shows to people and to programs how the targets stood; never as if it were measured now."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ollama_warmer.history.status import Point, Standing, Status, ended
from ollama_warmer.round.report import STYLES, Reason, print_reasons
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.screen import can_show
from ollama_warmer.tables import Column, Row, table_for
from ollama_warmer.words import listing, printable

# As many rounds as fit beside the numbers in 80 columns.
SPARKS = 14
ROUNDS = 6

_BLOCKS = "▁▂▃▄▅▆▇█"
# For a terminal that has none of these.
_DIGITS = "01234567"
# Up to so many tokens for the lowest block; each block more stands for twice as many, so that no
# scale has to be known to distinguish 20 from 8,000.
_LOWEST = 64
_UNKNOWN, _FAILED = "?", "x"
_SPARKS = "last rounds"
_TARGETS = (
    Column(heading="target", folds=True),
    Column(heading="verdict"),
    Column(heading="asked", goes=1),
    Column(heading="prompt", goes=3, right=True),
    Column(heading="re-read", goes=2, right=True),
    Column(heading="seconds", goes=4, right=True),
    Column(heading=_SPARKS, goes=5),
)
_ROUNDS = (
    Column(heading="round"),
    Column(heading="", goes=1),
    Column(heading="occasion", goes=2, folds=True),
    Column(heading="seconds", goes=3, right=True),
    Column(heading="targets", folds=True),
)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def as_object(status: Status, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status as a JSON object: the state's own keys, and beside them what they mean.

    Its shape: `{"version", "rounds", "now", "verdict", "old", "targets": [{"name", "agent",
    "device", "verdict", "reason", "old", "at", "age", "prompt", "cached", "found", "re_read",
    "seconds"}], "gone"}`. `at` is when the last round ended and `age` the seconds since then,
    `found` what the warm-up re-read and `re_read` what the confirmation did; unknown is null.
    """
    return {
        **state,
        "now": status.now.isoformat(timespec="seconds"),
        "verdict": str(status.verdict),
        "old": status.old,
        "targets": [_target(standing, status.now) for standing in status.targets],
        "gone": list(status.gone),
    }


def _target(standing: Standing, now: datetime) -> dict[str, Any]:
    last = standing.points[-1] if standing.points else None
    return {
        "name": standing.name,
        "agent": standing.agent,
        "device": standing.device,
        "verdict": str(standing.verdict),
        "reason": standing.reason,
        "old": standing.old,
        "at": last and last.at.isoformat(timespec="seconds"),
        "age": last and round((now - last.at).total_seconds()),
        "prompt": last and last.prompt,
        "cached": last and last.cached,
        "found": last and last.found,
        "re_read": last and last.left,
        "seconds": last and last.seconds,
    }


def print_status(
    status: Status, rounds: Sequence[Mapping[str, Any]], files: Sequence[Path], console: Console
) -> None:
    """Print a sentence, a table with a line for each target, the reasons, and the last rounds.

    Args:
        status: How the targets stood.
        rounds: The rounds of the state file.
        files: The state file; without any, the places where none was found.
        console: Where to.
    """
    console.print(_summary(status), soft_wrap=True)
    for part in _targets(status, console):
        console.print(part)
    console.print()
    print_reasons(
        [Reason(it.name, it.verdict, f"{_verdict(it)}, {it.reason}") for it in status.targets],
        console,
    )
    if status.gone:
        console.print(
            f"Not shown, because the configuration has them no more: {listing(status.gone)}",
            soft_wrap=True,
            markup=False,
        )
    if rounds:
        console.print()
        console.print(_rounds(rounds[-ROUNDS:], status.now, console))
    source = f"From {files[0]}"
    if not rounds and not any(file.exists() for file in files):
        source = f"No round is kept yet: there is no {' and no '.join(map(str, files))}"
    console.print(Text(source, style="dim"), soft_wrap=True)


def _summary(status: Status) -> Text:
    asked = [standing.points[-1].at for standing in status.targets if standing.points]
    if not asked:
        return Text("No target was asked yet.")
    counts = _counted(standing.verdict for standing in status.targets)
    # The oldest, as nothing is known of all targets since then.
    line = Text(f"As of {age(min(asked), status.now)}: {counts}.")
    if status.old:
        line.append(
            " Not all of that is recent: it says how things were, not how they are. Look whether "
            "the timer or the daemon still runs.",
            style="bold",
        )
    return line


def _targets(status: Status, console: Console) -> Iterator[Table | Text]:
    """Yield the table of the targets, and below it what its signs mean."""
    scale = _BLOCKS if can_show(_BLOCKS, console.encoding) else _DIGITS
    rows: list[Row] = [
        (
            Text(printable(standing.name)),
            Text(_verdict(standing), style=STYLES[standing.verdict]),
            *_cells(standing, status.now, scale),
        )
        for standing in status.targets
    ]
    table = table_for(console, _TARGETS, [rows], box=box.SIMPLE)
    yield table
    shown = {column.header for column in table.columns}
    legend = "The numbers are the confirmation's." if "re-read" in shown else ""
    if _SPARKS in shown:
        legend = (
            f"{_SPARKS}: tokens that each round's first question re-read, the newest at the right. "
            f"{scale[0]} is less than {_LOWEST}, each step up is twice as many, {scale[-1]} is "
            f"{_LOWEST << len(scale) - 2:,} and more; {_UNKNOWN} is unknown, {_FAILED} was not "
            f"answered. {legend}"
        )
    if legend:
        yield Text(legend, style="dim")


def _cells(standing: Standing, now: datetime, scale: str) -> list[str]:
    if not standing.points:
        return ["never", "-", "-", "-", "-"]
    last = standing.points[-1]
    seconds = "-" if last.seconds is None else f"{last.seconds:.2f}"
    return [
        age(last.at, now),
        _tokens(last.prompt),
        _tokens(last.left),
        seconds,
        "".join(_spark(point, scale) for point in standing.points[-SPARKS:]),
    ]


def _verdict(standing: Standing) -> str:
    """Return the verdict, in the past tense if it is too old to be believed."""
    return f"was {standing.verdict}" if standing.old and standing.points else standing.verdict


def _tokens(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def _spark(point: Point, scale: str) -> str:
    if point.found is None:
        return _FAILED if point.verdict is Verdict.FAILED else _UNKNOWN
    return scale[min((point.found // _LOWEST).bit_length(), len(scale) - 1)]


def _rounds(rounds: Iterable[Mapping[str, Any]], now: datetime, console: Console) -> Table:
    cells = [
        (
            f"{datetime.fromisoformat(each['at']).astimezone():%Y-%m-%d %H:%M}",
            age(ended(each), now),
            Text(printable(each["occasion"])),
            f"{each['seconds']:.1f}",
            _counted(Verdict(target["verdict"]) for target in each["targets"]),
        )
        for each in rounds
    ]
    return table_for(console, _ROUNDS, [cells], box=box.SIMPLE)


def _counted(verdicts: Iterable[Verdict]) -> str:
    """Return how often each verdict occurs, the worst first."""
    counts = Counter(verdicts)
    worst_first = sorted(counts, key=lambda verdict: verdict.severity, reverse=True)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in worst_first)


def age(at: datetime, now: datetime) -> str:
    """Return in words how long ago something was."""
    seconds = round((now - at) / timedelta(seconds=1))
    if seconds < 0:
        # Only a clock that was set back brings this about.
        return "just now" if seconds > -_MINUTE else "in future"
    if seconds < _MINUTE:
        return f"{seconds} s ago"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR} h ago"
    return f"{seconds // _DAY} days ago"
