"""Shows findings to people and to programs."""

from collections.abc import Sequence
import json

from rich.console import Console
from rich.text import Text

from ollama_warmer.doctor.findings import Finding, Level, at
from ollama_warmer.errors import ExitCode

_STYLES = {
    Level.OK: "green",
    Level.ADVICE: "yellow",
    Level.PROBLEM: "bold red",
    Level.UNKNOWN: "magenta",
}
_WIDTH = max(len(level) for level in Level)


def exit_code(findings: Sequence[Finding]) -> ExitCode:
    """Return what the command ends with: 1 if there is a problem."""
    return ExitCode.NOT_ALL_WARM if at(findings, Level.PROBLEM) else ExitCode.ALL_WARM


def as_json(findings: Sequence[Finding], *, measured: bool) -> str:
    """Return the findings as a JSON object.

    Its shape: `{"measured", "findings": [{"id", "level", "subject", "words", "advice"}], "counts":
    {"ok", "advice", "problem", "unknown"}}`; `advice` is null where there is nothing to do, and
    `counts` has a number for each level.
    """
    rows = [
        {
            "id": it.id,
            "level": it.level,
            "subject": it.subject,
            "words": it.words,
            "advice": it.advice,
        }
        for it in findings
    ]
    counts = {level: len(at(findings, level)) for level in Level}
    return json.dumps(
        {"measured": measured, "findings": rows, "counts": counts}, ensure_ascii=False, indent=2
    )


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """Print a line for each finding, and one that counts them."""
    for it in findings:
        advice = "" if it.advice is None else f" {it.advice}."
        console.print(
            Text.assemble(
                (f"{it.level:<{_WIDTH}}", _STYLES[it.level]),
                f"  {it.subject}: {it.words}.{advice}",
            ),
            soft_wrap=True,
        )
    counted = (f"{len(at(findings, level))} {level}" for level in reversed(Level))
    console.print(", ".join(counted), soft_wrap=True)
