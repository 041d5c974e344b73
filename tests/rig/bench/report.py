"""What was measured, as a table for a screen, as JSON and as a table for the documentation."""

from collections.abc import Sequence
from importlib.metadata import version
import json
from pathlib import Path
import platform
from statistics import mean

from rich.table import Table

from tests.rig.hass_api import Json
from tests.rig.home_assistant import OURS as COMPONENT

from .cells import OURS, Cell, Measured
from .scenarios import NAMES
from .targets import TARGETS, misses, wrong_verdicts

START, END = "<!-- table -->", "<!-- end of the table -->"


def versions() -> dict[str, str]:
    """Return what was measured with."""
    manifest = json.loads((COMPONENT / "manifest.json").read_text())
    return {
        "home_assistant": version("homeassistant"),
        "xllamacpp": version("xllamacpp"),
        "ollama_warm": manifest["version"],
        "python": platform.python_version(),
    }


def in_order(found: Sequence[Measured]) -> list[Measured]:
    """Return everything in the order of the design's table, core first."""

    def place(one: Measured) -> tuple[object, ...]:
        kind = one.kind
        return (
            NAMES.index(one.scenario),
            kind.agent,
            kind.memory,
            kind.path,
            kind.slots,
            kind.by_chat,
        )

    return sorted(found, key=place)


def problems(one: Measured) -> list[str]:
    """Return what is wrong with one row; core's agent promises nothing."""
    if one.kind.agent != OURS:
        return []
    return [*misses(one), *(f"verdict {wrong}" for wrong in wrong_verdicts(one))]


def promises(one: Measured) -> bool:
    """Return whether numbers are promised for a row: for our agent, warmed in the best way."""
    return one.kind.agent == OURS and not one.kind.by_chat


def as_json(one: Measured) -> Json:
    """Return one row."""
    return {
        "scenario": one.scenario,
        "agent": one.kind.agent,
        "memory": str(one.kind.memory),
        "path": one.kind.path,
        "slots": one.kind.slots,
        "by_chat": one.kind.by_chat,
        "re_read": [asked.re_read for asked in one.asked],
        "waste": [asked.waste for asked in one.asked],
        "prompt": [asked.record.prompt_tokens for asked in one.asked],
        "conversation": [asked.conversation for asked in one.asked],
        "verdicts": [asked.verdict for asked in one.asked],
        "at_rest": [asked.re_read for asked in one.at_rest],
        "before": [[asked.re_read, asked.verdict] for asked in one.before],
        "full_prefills": one.full_prefills,
        "notes": one.notes,
        "failures": one.failures,
        "to_reach": TARGETS[one.scenario].words(),
        "missed": problems(one),
        "seconds": round(one.seconds, 1),
    }


def span(numbers: Sequence[int]) -> str:
    """Return the range of some numbers, or the mean of many."""
    if not numbers:
        return "-"
    if min(numbers) == max(numbers):
        return f"{numbers[0]:,}"
    text = f"{min(numbers):,} to {max(numbers):,}"
    return f"{text}, mean {mean(numbers):,.0f}" if len(numbers) >= 20 else text


def at_rest(one: Measured) -> str:
    """Return what the same questions cost where nothing ever happened, if that was asked."""
    return f" (at rest {span([rest.re_read for rest in one.at_rest])})" if one.at_rest else ""


def cells_of(one: Measured) -> list[str]:
    """Return the columns of one row, but for the last one."""
    return [
        one.kind.agent,
        one.kind.setting,
        span([asked.record.prompt_tokens or 0 for asked in one.asked]),
        span([asked.re_read for asked in one.asked]) + at_rest(one),
        span([asked.waste for asked in one.asked]),
    ]


def table(found: Sequence[Measured]) -> Table:
    """Return everything for a screen."""
    result = Table(title="Tokens re-read on the first model call of a question", padding=(0, 0))
    for heading in ("scenario", "agent", "memory, path"):
        result.add_column(heading)
    for heading in ("prompt", "re-read", "waste"):
        result.add_column(heading, justify="right")
    result.add_column("to reach")
    result.add_column("reached")
    previous = ""
    for one in in_order(found):
        if one.scenario != previous:
            result.add_section()
        name, previous = ("" if one.scenario == previous else one.scenario), one.scenario
        is_ours, wrong = promises(one), problems(one)
        reached = "[red]" + "; ".join(wrong) + "[/]" if wrong else "[green]yes[/]"
        result.add_row(
            name,
            *cells_of(one),
            TARGETS[one.scenario].words() if is_ours else "",
            reached if is_ours else "; ".join(one.failures),
        )
    return result


def write_docs(path: Path, found: Sequence[Measured]) -> None:
    """Put the table and the versions between the two marks of a page.

    The rows of scenarios that were not measured stay. Raises ValueError where the page has no
    marks, or rows that would stay were measured with other versions.
    """
    head, mark, rest = path.read_text().partition(START)
    _, end, tail = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"{path} has no place for the table")
    known = versions()
    with_what = (
        f"Home Assistant {known['home_assistant']}, llama.cpp of xllamacpp {known['xllamacpp']}, "
        f"Ollama Warm {known['ollama_warm']}, Python {known['python']}."
    )
    new = {one.scenario for one in found}
    kept = [row for row in rest.splitlines() if row.startswith("| `") and _scenario(row) not in new]
    if kept and with_what not in rest:
        raise ValueError(f"the other rows of {path} were measured with other versions")
    lines = [
        with_what,
        "",
        "| scenario | agent | memory, path | prompt | re-read | waste | to reach | reached |",
        "|---|---|---|---:|---:|---:|---|---|",
    ]
    rows = kept
    for one in in_order(found):
        ours = promises(one)
        reached = ("no" if problems(one) else "yes") if ours else ""
        cells = [f"`{one.scenario}`", *cells_of(one), TARGETS[one.scenario].words() if ours else ""]
        rows.append(f"| {' | '.join([*cells, reached])} |")
    lines += sorted(rows, key=lambda row: NAMES.index(_scenario(row)))
    path.write_text(f"{head}{mark}\n" + "\n".join(lines) + f"\n{end}{tail}")


def _scenario(row: str) -> str:
    """Return the scenario of a row of the table."""
    return row.split("`")[1]


def as_object(found: Sequence[Measured]) -> Json:
    """Return everything that was measured, and with what."""
    return {"rows": [as_json(one) for one in in_order(found)], "versions": versions()}


def write_json(path: Path, found: Sequence[Measured]) -> None:
    """Write everything that was measured."""
    path.write_text(json.dumps(as_object(found), indent=1) + "\n")


def write_records(folder: Path, cells: Sequence[Cell]) -> None:
    """Write every request to the model servers, one a line and one file for each cell."""
    folder.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        kind = cell.kind
        path = folder / f"{kind.file_name}.jsonl"
        lines = [
            {
                "endpoint": record.endpoint,
                "kind": record.kind,
                "started": round(record.started, 3),
                "ended": record.ended and round(record.ended, 3),
                "prompt": record.prompt_tokens,
                "cached": record.cached_tokens,
                "cancelled": record.cancelled,
                "error": record.error,
                "body": record.body,
            }
            for record in cell.server.records
        ]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
