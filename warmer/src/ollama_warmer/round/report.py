"""Shows a round to people and to programs."""

from collections.abc import Iterable, Iterator
import json
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from ollama_warmer.round.rounds import Round, Step, TargetResult
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.tables import Column, Row, table_for
from ollama_warmer.words import printable

STYLES = {
    Verdict.WARM: "green",
    Verdict.PARTLY_WARM: "yellow",
    Verdict.UNKNOWN: "magenta",
    Verdict.COLD: "red",
    Verdict.FAILED: "bold red",
}

_COLUMNS = (
    Column(heading="target", folds=True),
    Column(heading="step", goes=1, folds=True),
    Column(heading="prompt", goes=4, right=True),
    Column(heading="cached", goes=5, right=True),
    Column(heading="re-read", goes=2, right=True),
    Column(heading="seconds", goes=3, right=True),
    Column(heading="verdict"),
)


def as_json(outcome: Round) -> str:
    """Return the round as a JSON object; counts are whole tokens, times seconds, unknown is null.

    Its shape: `{"targets": [{"name", "agent", "device", "steps": [{"step", "prompt", "cached",
    "re_read", "seconds"}], "verdict", "reason"}], "verdict"}`; a step is `warm-up`, `confirmation`
    or `second confirmation`.
    """
    targets = [result.as_object() for result in outcome.results]
    return json.dumps(
        {"targets": targets, "verdict": outcome.verdict}, ensure_ascii=False, indent=2
    )


def print_table(outcome: Round, console: Console) -> None:
    """Print the round as a table, and below it why each target stands as it does."""
    rows = [[*_rows(result)] for result in outcome.results]
    table = table_for(console, _COLUMNS, rows)
    if table.columns[1].header != _COLUMNS[1].heading:
        # Without its steps a target has the row of the last one.
        rows = [[(target[0][0], *target[-1][1:])] for target in rows]
        table = table_for(console, _COLUMNS, rows)
    console.print(table)
    print_reasons(
        [
            Reason(it.target.name, it.verdict, f"{it.verdict}, {it.reason}")
            for it in outcome.results
        ],
        console,
    )


class Reason(NamedTuple):
    """Why a target stands as it does.

    Attributes:
        name: What the configuration calls it.
        verdict: How it stands.
        words: The verdict and the reason, in words.
    """

    name: str
    verdict: Verdict
    words: str


def print_reasons(reasons: Iterable[Reason], console: Console) -> None:
    """Print reasons; what holds for several targets is printed once, behind all their names."""
    names: dict[tuple[Verdict, str], list[str]] = {}
    for reason in reasons:
        names.setdefault((reason.verdict, reason.words), []).append(printable(reason.name))
    for (verdict, words), alike in names.items():
        line = Text.assemble((", ".join(alike), STYLES[verdict]), f": {words}")
        console.print(line, soft_wrap=True)


def _rows(result: TargetResult) -> Iterator[Row]:
    """Yield a row for each question, the first with the name and the last with the verdict."""
    steps = [_cells(step) for step in result.steps] or [["-"] * 5]
    for number, cells in enumerate(steps, start=1):
        name = printable(result.target.name) if number == 1 else ""
        verdict = result.verdict if number == len(steps) else ""
        yield Text(name), *cells, Text(verdict, style=STYLES[result.verdict])


def _cells(step: Step) -> list[str]:
    counts = (step.counts.prompt, step.counts.cached, step.counts.re_read)
    shown = ["unknown" if count is None else f"{count:,}" for count in counts]
    return [step.step, *shown, f"{step.seconds:.2f}"]
