"""The figures of a probe's page: every call at a glance, and call by call."""

from collections.abc import Iterable

from ollama_warmer.pages import document, values
from ollama_warmer.pages.bars import bars
from ollama_warmer.pages.drawing import Figure
from ollama_warmer.pages.markup import Child, Markup, element, join
from ollama_warmer.pages.probe_phases import PHASES, Phase
from ollama_warmer.pages.probe_run import (
    COLD,
    FIRST,
    LATER,
    OTHER_PROMPT,
    REPEAT,
    RETRY,
    TURNS,
    Call,
    Run,
)
from ollama_warmer.pages.strips import Strip, strips

_LEGEND = (
    ("cached", "found in the cache"),
    ("read", "read again"),
    ("unknown", "unknown: the server did not say"),
    ("aborted", "given up on purpose, nothing is counted"),
)


def glance(run: Run) -> Markup:
    """Return all calls as strips, and beside them what each pattern costs."""
    rows = [
        Strip(label=phase.title, calls=[call.bar for call in calls]) for phase, calls in run.phases
    ]
    described = "; ".join(f"{phase.title}: {_span(calls)}" for phase, calls in run.phases)
    figure = Figure(
        name="glance",
        title="Every call, phase by phase",
        description=f"Tokens re-read in each phase. {described}.",
    )
    table = document.Table(
        caption="Tokens re-read in each phase",
        columns=document.columns("phase", "calls", "re-read", numbers=("calls", "re-read")),
        rows=[[phase.title, len(calls), _span(calls)] for phase, calls in run.phases],
    )
    about = "On the right: tokens re-read, from the least to the most."
    return document.section(
        "At a glance",
        "A cell is a call. It is striped from below as far as its prompt had to be read again.",
        document.legend(*_LEGEND),
        element(
            "div",
            document.figure(figure.title, about, strips(figure, rows), table),
            element(
                "div",
                element("div", _costs(run), class_="card"),
                element("div", _reading(), class_="card"),
                class_="stack",
            ),
            class_="split",
        ),
    )


def _costs(run: Run) -> Markup:
    patterns = (
        ("prompt never seen", run.pick(COLD)),
        ("first new conversation", run.pick(FIRST)),
        ("later new conversations", run.pick(LATER)),
        ("next turn", run.pick(TURNS)),
        ("exact repeat", run.pick(REPEAT)),
        ("after another system prompt", run.pick(OTHER_PROMPT)),
        ("retry after giving up", run.pick(RETRY)),
        ("two people at once", run.of_phase("interleaved-conversations")),
        ("back to an earlier question", run.of_phase("second-branch")),
    )
    numbers = ("calls", "tokens re-read", "time to read them")
    table = document.Table(
        caption="The least and the most of all calls of a pattern",
        columns=document.columns("pattern", *numbers, numbers=numbers),
        rows=[
            [name, len(calls), _span(calls), values.times(call.prefill_s for call in calls)]
            for name, calls in patterns
            if calls
        ],
    )
    missing = [phase.title for phase in PHASES if not run.of_phase(phase.id)]
    return join(
        [
            element("h3", "What each pattern costs"),
            table.markup,
            document.paragraphs(
                f"Not measured in this run: {', '.join(missing)}." if missing else None
            ),
        ]
    )


def _reading() -> Markup:
    return join(
        [
            element("h3", "How to read it"),
            document.paragraphs(
                "A person waits for the striped part: the tokens that the server had to read again "
                "before it could answer. A cell that is plain but for a line at the bottom was "
                "warm.",
                "Compare the first new conversation with the later ones. If only the first is "
                "striped all over, the build pays once for each system prompt. If all of them are "
                "striped to the same height, it goes back a batch each time.",
            ),
        ]
    )


def _span(calls: Iterable[Call]) -> str:
    return values.span(call.re_read for call in calls if not call.aborted)


def call_by_call(run: Run, *more: Markup | None) -> Markup:
    """Return a figure for each phase with a bar for each call, and whatever follows them."""
    drawn = [
        _phase(number, phase, calls, run.largest)
        for number, (phase, calls) in enumerate(run.phases, start=1)
    ]
    return document.section(
        "Call by call",
        "Tokens of each prompt, to the same scale in all phases.",
        document.legend(*_LEGEND),
        document.stacks(*drawn, *more),
    )


def _phase(number: int, phase: Phase, calls: list[Call], largest: int) -> Markup:
    described = "; ".join(f"{call.role}: {call.bar.words}" for call in calls)
    figure = Figure(
        name=f"phase-{number}",
        title=phase.title,
        description=f"Re-read tokens of prompt tokens, and the time to read them. {described}.",
    )
    drawn = bars(figure, [call.bar for call in calls], largest, "re-read / prompt · prefill")
    return document.figure(
        phase.title, phase.about, drawn, calls_table(f"{phase.title} ({phase.id})", calls)
    )


def calls_table(caption: str, calls: Iterable[Call]) -> document.Table:
    """Return the calls as they were recorded."""
    numbers = ("prompt", "cached", "re-read", "prefill", "total")
    return document.Table(
        caption=caption,
        columns=document.columns("call", *numbers, "reply", numbers=numbers),
        rows=[_row(call) for call in calls],
    )


def _row(call: Call) -> list[Child]:
    if call.aborted:
        return [call.role, *["aborted"] * 3, *["-"] * 3]
    counts = map(values.tokens, (call.prompt, call.cached, call.re_read))
    times = map(values.time, (call.prefill_s, call.total_s))
    return [call.role, *counts, *times, call.digest or "-"]
