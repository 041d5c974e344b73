"""The page of the clock demonstration: what a moving time costs, depending on where it stands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ollama_warmer.pages import document, values
from ollama_warmer.pages.bars import Bar, bars
from ollama_warmer.pages.drawing import Figure
from ollama_warmer.pages.markup import Child, Markup, element
from ollama_warmer.pages.output import write
from ollama_warmer.round.verdicts import Verdict

_LEGEND = (
    ("cached", "found in the cache"),
    ("read", "read again"),
    ("unknown", "unknown: the server did not say"),
)
_TITLES = {
    "top": "At the top of the system text",
    "end": "At the end of the system text",
    "question": "In the question",
    "tool": "In a tool's answer",
}
_ADVICE: tuple[Child, ...] = (
    "Run ",
    element("code", "ollama-warmer warm"),
    ", or the next person who asks waits until it is read again.",
)
_Call = tuple[str, Mapping[str, Any]]
_HEADING = "re-read / prompt · prefill"


def write_clock_page(path: Path, run: Mapping[str, Any]) -> None:
    """Write the page of a demonstration; `run` is the object that `clock --json` prints.

    Raises:
        WarmerError: matplotlib is not installed, or the file cannot be written.
    """
    write(path, clock_page(run))


def clock_page(run: Mapping[str, Any]) -> str:
    """Return the page as HTML."""
    placements = values.objects(run.get("placements"))
    samples = [one for place in placements for one in values.objects(place.get("samples"))]
    largest = max((values.count(one.get("prompt")) or 0 for one in samples), default=0)
    drawn = [_placement(number, place, largest) for number, place in enumerate(placements, start=1)]
    return document.page(
        "What a clock in the prompt costs",
        "Clock demonstration",
        (
            ("Model", values.shown(run.get("model"))),
            ("Measured", values.stamp(run.get("measuredAt"))),
            ("Ollama", values.shown(run.get("ollama"))),
            ("Machine", values.shown(run.get("machine"))),
        ),
        _verdict(placements),
        document.section(
            "Place by place",
            "The same question three times, and the time has moved on in between.",
            document.legend(*_LEGEND),
            document.stacks(*drawn),
        )
        if drawn
        else None,
        _restored(run.get("restored")),
        _options(values.mapping(run.get("options"))),
    )


def _title(place: Mapping[str, Any]) -> str:
    name = values.shown(place.get("placement"))
    return _TITLES.get(name, name)


def _verdict(placements: list[Mapping[str, Any]]) -> Markup:
    if not placements:
        return document.verdict("Nothing to see", "No place was measured.")
    facts = [
        [
            element("b", f"{_title(place)}: "),
            values.shown(place.get("words") or place.get("pattern")),
        ]
        for place in placements
    ]
    return document.verdict(
        "What was found",
        "Whatever stands behind a moving time is read again. So where it stands decides what every "
        "question costs.",
        document.items(facts),
    )


def _placement(number: int, place: Mapping[str, Any], largest: int) -> Markup:
    samples = values.objects(place.get("samples"))
    about = f"Read again each time: {values.shown(place.get('pattern'))}."
    rows = [_bar(name, call) for name, call in _calls(samples)]
    if not rows:
        return document.plain(_title(place), values.shown(place.get("words"), "Not measured."))
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    figure = Figure(
        name=f"place-{number}",
        title=_title(place),
        description=f"Re-read tokens of prompt tokens, and the time to read them. {described}.",
    )
    drawn = bars(figure, rows, largest, _HEADING)
    return document.figure(figure.title, about, drawn, _table(place))


def _calls(samples: list[Mapping[str, Any]], name: str = "question") -> list[_Call]:
    """Return the calls of the model; behind a tool each question has two of them."""
    found = []
    for one in samples:
        label = f"{name} {values.shown(one.get('sample'))}"
        if asked := values.mapping(one.get("asked")):
            found += [(f"{label}, asked", asked), (f"{label}, answered", one)]
        else:
            found.append((label, one))
    return found


def _bar(label: str, call: Mapping[str, Any]) -> Bar:
    prefill = values.seconds(call.get("prefill_s"))
    return Bar(
        label=label,
        prompt=values.count(call.get("prompt")),
        cached=values.count(call.get("cached")),
        note="" if prefill is None else values.time(prefill),
    )


def _table(place: Mapping[str, Any]) -> document.Table:
    numbers = ("prompt", "cached", "re-read", "prefill", "total")
    calls = [
        *_calls(values.objects(place.get("switch")), "switch"),
        *_calls(values.objects(place.get("samples"))),
    ]
    rows: list[list[Child]] = [
        [
            label,
            *(values.tokens(values.count(one.get(key))) for key in ("prompt", "cached", "re_read")),
            *(values.time(values.seconds(one.get(key))) for key in ("prefill_s", "total_s")),
        ]
        for label, one in calls
    ]
    columns = document.columns("call", *numbers, numbers=numbers)
    caption = f"{_title(place)}; a switch pays for the change of place and does not count"
    return document.Table(caption=caption, columns=columns, rows=rows)


def _restored(restored: object) -> Markup:
    found = values.mapping(restored)
    if not found:
        return document.notice(
            "The prompt of your house was not put back",
            document.paragraphs(
                ["The demonstration has read its own prompt over it. ", *_ADVICE],
            ),
            alarm=True,
        )
    verdict = values.shown(found.get("verdict"))
    counts = [values.count(found.get(key)) for key in ("re_read", "prompt")]
    read, prompt = map(values.tokens, counts)
    whose = values.shown(found.get("target"), "your house")
    return document.section(
        "Afterwards",
        None,
        document.verdict(
            f"The prompt of {whose} was put back",
            [document.badge(verdict), f": another question re-read {read} of {prompt} tokens."],
            document.paragraphs(
                values.shown(found.get("reason"), ""),
                None if verdict == Verdict.WARM else ["It is not as it was. ", *_ADVICE],
            ),
            style=document.tone(verdict),
        ),
    )


def _options(options: Mapping[str, Any]) -> Markup:
    table = document.Table(
        caption="What every request was sent with",
        columns=document.columns("option", "value", long=("value",)),
        rows=[[name, values.shown(value, "unset")] for name, value in options.items()],
    )
    return document.section(
        "How it was measured",
        "With the options of the house, because others would reload the model.",
        element("div", table.markup, class_="card"),
    )
