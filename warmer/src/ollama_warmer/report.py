"""Shows a round to people and to programs."""

import json

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ollama_warmer.rounds import Round, Step
from ollama_warmer.verdicts import Verdict

STYLES = {
    Verdict.WARM: "green",
    Verdict.PARTLY_WARM: "yellow",
    Verdict.UNKNOWN: "magenta",
    Verdict.COLD: "red",
    Verdict.FAILED: "bold red",
}


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
    table = Table("target", "step")
    for heading in ("prompt", "cached", "re-read", "seconds"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for result in outcome.results:
        verdict = Text(result.verdict, style=STYLES[result.verdict])
        rows = [_cells(step) for step in result.steps] or [["-"] * 5]
        for number, cells in enumerate(rows, start=1):
            name = Text(result.target.name if number == 1 else "")
            table.add_row(name, *cells, verdict if number == len(rows) else "")
    console.print(table)
    for result in outcome.results:
        console.print(
            Text.assemble(
                (result.target.name, STYLES[result.verdict]),
                f": {result.verdict}, ",
                result.reason,
            ),
            soft_wrap=True,
        )


def _cells(step: Step) -> list[str]:
    counts = (step.counts.prompt, step.counts.cached, step.counts.re_read)
    shown = ["unknown" if count is None else f"{count:,}" for count in counts]
    return [step.step, *shown, f"{step.seconds:.2f}"]
