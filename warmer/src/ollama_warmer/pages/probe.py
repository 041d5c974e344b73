"""The page of a probe: what a build does with a prompt that it has seen."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ollama_warmer.pages import document, values
from ollama_warmer.pages.markup import Child, Markup, element, join
from ollama_warmer.pages.output import write
from ollama_warmer.pages.probe_figures import call_by_call, calls_table, glance
from ollama_warmer.pages.probe_groups import group
from ollama_warmer.pages.probe_run import FIRST, LATER, REPEAT, RETRY, Run
from ollama_warmer.pages.probe_tables import length_sweep, seven_tables


def write_probe_page(path: Path, run: Mapping[str, Any]) -> None:
    """Write the page of a run; `run` is the object of a run file, with or without our own keys.

    Our own keys are `verdict` (sentences, one on each line), `group` (its name), `disturbed` (a
    list of why nothing counts), `tables` (T1 to T7), `memory`, `runner` and `complete`.

    Raises:
        WarmerError: matplotlib is not installed, or the file cannot be written.
    """
    write(path, probe_page(run))


def probe_page(run: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    found = Run(run)
    disturbed = values.sentences(run.get("disturbed"))
    return document.page(
        values.shown(run.get("model"), "A model without a name"),
        "Prefill cache probe",
        (
            ("Measured", values.stamp(run.get("measuredAt"))),
            ("Ollama", values.shown(run.get("ollama"))),
            ("Machine", values.shown(run.get("machine"))),
            ("Memory", values.shown(run.get("memory"))),
            ("Runner", values.shown(run.get("runner"))),
        ),
        _disturbed(found, disturbed) if disturbed else _measured(run, found),
        _conditions(run),
    )


def _disturbed(found: Run, reasons: Iterable[str]) -> Markup:
    """Return what is left of a run in which something else had a hand."""
    warning = document.notice(
        "This run was disturbed: nothing of it counts",
        document.items(reasons),
        document.paragraphs(
            "There is no verdict and no figure, because they would show something else than the "
            "build's own doing. Measure again while no one else uses the model server."
        ),
        alarm=True,
    )
    recorded = element(
        "div", calls_table("Recorded, and not to be counted", found.calls).markup, class_="card"
    )
    return join([warning, document.section("What was recorded", None, recorded)])


def _measured(run: Mapping[str, Any], found: Run) -> Markup:
    known = group(values.shown(run.get("group")))
    lead, *more = values.sentences(run.get("verdict")) or ["No verdict was recorded with this run."]
    tables = values.mapping(run.get("tables"))
    return join(
        [
            document.verdict(
                known.title,
                lead,
                document.items(more) if more else None,
                style=document.tone(known.verdict),
            ),
            document.tiles(_tiles(found)),
            document.section(
                f"The group: {known.title.lower()}",
                "Builds fall into groups by how they go back to an earlier place in a prompt.",
                document.pair(
                    [element("h3", "How it works"), document.paragraphs(known.about)],
                    [element("h3", "Where it was seen"), document.paragraphs(known.seen)],
                ),
            ),
            *([glance(found), call_by_call(found, length_sweep(tables))] if found.calls else []),
            seven_tables(tables),
        ]
    )


def _tiles(found: Run) -> Iterable[tuple[str, str, str]]:
    for label, which in (("First new conversation", FIRST), ("Later new conversations", LATER)):
        if calls := found.pick(which):
            yield label, values.span(call.re_read for call in calls), "tokens re-read"
    if turns := found.of_phase("interleaved-conversations"):
        read = values.span(call.re_read for call in turns)
        yield "Two people at once", read, "tokens re-read at each turn"
    ends = [call.total_s for which in (RETRY, REPEAT) for call in found.pick(which)]
    # An answer that came before the asker hung up leaves nothing to wait for.
    given_up = any(call.aborted for call in found.calls)
    if given_up and len(ends) == len((RETRY, REPEAT)):
        retry, repeat = ends
        wait = None if retry is None or repeat is None else max(0.0, retry - repeat)
        yield "A retry waits", values.time(wait), "behind the call that was given up"


def _conditions(run: Mapping[str, Any]) -> Markup:
    summary = values.mapping(run.get("summary"))
    rows: list[list[Child]] = [
        [label, values.shown(source.get(key), "not recorded")]
        for label, source, key in (
            ("variant", run, "variant"),
            ("samples", run, "samples"),
            ("temperature", run, "temperature"),
            ("glossary entries", summary, "glossaryEntries"),
            ("system prompt", summary, "systemSource"),
            ("context window (num_ctx)", summary, "numCtx"),
            ("longest answer (num_predict)", summary, "numPredict"),
        )
    ]
    environment = values.mapping(summary.get("environment"))
    rows += [[name, values.shown(value, "unset")] for name, value in environment.items()]
    table = document.Table(
        caption="Options and environment of the run",
        columns=document.columns("what", "value", long=("value",)),
        rows=rows,
    )
    notes = values.sentences(run.get("notes"))
    return document.section(
        "How it was measured",
        "The environment is that of the machine on which the probe ran.",
        element("div", table.markup, document.items(notes) if notes else None, class_="card"),
    )
