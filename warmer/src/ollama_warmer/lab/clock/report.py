"""Shows the clock demonstration to people and to programs."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from ollama_warmer.lab.clock.clock import Clock, Outcome, Placed, worst
from ollama_warmer.lab.clock.patterns import Pattern, Sample
from ollama_warmer.ollama.client import Answer
from ollama_warmer.round.rounds import Round
from ollama_warmer.round.verdicts import Verdict
from ollama_warmer.tables import Column, Row, table_for

_STYLES = {
    Pattern.OWN: "green",
    Pattern.BATCH: "yellow",
    Pattern.BEHIND: "yellow",
    Pattern.WHOLE: "red",
}
_COLUMNS = (
    Column(heading="place", folds=True),
    Column(heading="question", folds=True),
    Column(heading="prompt", goes=2, right=True),
    Column(heading="cached", goes=3, right=True),
    Column(heading="re-read", goes=1, right=True),
    Column(heading="prefill s", goes=4, right=True),
    Column(heading="total s", goes=5, right=True),
)
NOT_PUT_BACK = (
    "The prompt that was warm before was not put back: the next question in the house may re-read "
    "all of it. With --config it is warmed again and confirmed."
)


def as_object(clock: Clock, outcome: Outcome, at: datetime, machine: str) -> dict[str, Any]:
    """Return the run as a JSON object; counts are whole tokens, times seconds, unknown is null.

    `switch` has the requests before the first sample. In the place `tool` a question is two calls
    of the model; `asked` is the first of them, which ends in the call of the tool.
    """
    production = clock.production
    return {
        "clock": "ollama_warm_clock",
        "model": production.model,
        "ollama": production.version,
        "measuredAt": at.isoformat(timespec="seconds"),
        "machine": machine,
        "options": {
            "num_ctx": production.num_ctx,
            "keep_alive": production.keep_alive,
            "think": production.think,
            "num_predict": 1,
            "prompt": clock.prompt.name,
            "characters": clock.prompt.characters,
            "tools": len(clock.prompt.tools),
        },
        "placements": [_placement(one) for one in outcome.placed],
        "restored": None if outcome.restored is None else _restored(outcome.restored),
    }


def _placement(one: Placed) -> dict[str, Any]:
    return {
        "placement": one.placement,
        "switch": [_sample(sample, number) for number, sample in enumerate(one.switch, start=1)],
        "samples": [_sample(sample, number) for number, sample in enumerate(one.samples, start=1)],
        "pattern": one.pattern,
        "words": one.words,
    }


def _sample(sample: Sample, number: int) -> dict[str, Any]:
    asked = {} if sample.asked is None else {"asked": _call(sample.asked)}
    return {"sample": number, **_call(sample.answer), **asked}


def _call(answer: Answer) -> dict[str, Any]:
    return {
        "prompt": answer.prompt_tokens,
        "cached": answer.cached_tokens,
        "re_read": answer.re_read_tokens,
        "prefill_s": answer.prefill_s,
        "total_s": answer.total_s,
    }


def _restored(outcome: Round) -> dict[str, Any]:
    result = worst(outcome)
    counts = result.steps[-1].counts if result.steps else None
    return {
        "prompt": counts and counts.prompt,
        "cached": counts and counts.cached,
        "re_read": counts and counts.re_read,
        "verdict": result.verdict,
        "target": result.target.name,
        "reason": result.reason,
    }


def print_placed(placed: Sequence[Placed], console: Console) -> None:
    """Print every question as a table, and below it what each place costs."""
    console.print(table_for(console, _COLUMNS, [[*_rows(one)] for one in placed]))
    for one in placed:
        style = _STYLES.get(one.pattern, "magenta")
        line = Text.assemble((one.placement.words.capitalize(), style), f": {one.words}")
        console.print(line, soft_wrap=True)


def _rows(one: Placed) -> Iterator[Row]:
    """Yield a row for each call; in a tool's answer a question is two of them."""
    named = [
        *((f"switch {number}", sample) for number, sample in enumerate(one.switch, start=1)),
        *((str(number), sample) for number, sample in enumerate(one.samples, start=1)),
    ]
    for index, (name, sample) in enumerate(named):
        place = "" if index else one.placement.value
        if sample.asked is None:
            yield place, name, *_cells(sample.answer)
        else:
            yield place, f"{name}, asked", *_cells(sample.asked)
            yield "", f"{name}, answered", *_cells(sample.answer)


def print_restored(outcome: Outcome, console: Console) -> None:
    """Print whether the house's prompt is warm again."""
    if outcome.restored is None:
        console.print(NOT_PUT_BACK, soft_wrap=True)
        return
    for result in outcome.restored.results:
        style = "green" if result.verdict is Verdict.WARM else "red"
        line = Text.assemble(
            ("Put back", style), f", {result.target.name}: {result.verdict}, {result.reason}"
        )
        console.print(line, soft_wrap=True)


def _cells(answer: Answer) -> list[str]:
    counts = (answer.prompt_tokens, answer.cached_tokens, answer.re_read_tokens)
    seconds = (answer.prefill_s, answer.total_s)
    return [
        *("unknown" if count is None else f"{count:,}" for count in counts),
        *("unknown" if time is None else f"{time:.2f}" for time in seconds),
    ]
