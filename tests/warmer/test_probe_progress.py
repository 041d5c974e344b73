"""The time that is left comes from calls of the same kind, and never from nothing."""

from io import StringIO

from rich.console import Console

from ollama_warmer.lab.probe.plan import PLAN, SWEEP_CALLS, Call, Kind
from ollama_warmer.lab.probe.progress import Bar, Forecast, spoken
from ollama_warmer.lab.probe.record import Taken


def of_kind(kind: Kind) -> Call:
    """Return a call of a kind."""
    return next(call for call in PLAN if call.kind is kind)


def test_nothing_is_known_before_the_first_call() -> None:
    """No time is shown that no one measured."""
    assert Forecast().of(PLAN) is None


def test_kinds_have_their_own_times() -> None:
    """A repeat does not take as long as a cold prompt."""
    forecast = Forecast()
    forecast.learn(of_kind(Kind.COLD), 30.0)
    forecast.learn(of_kind(Kind.COLD), 34.0)
    forecast.learn(of_kind(Kind.REPEAT), 0.5)
    assert forecast.of([of_kind(Kind.COLD)]) == 32.0
    assert forecast.of([of_kind(Kind.REPEAT), of_kind(Kind.OTHER)]) == 32.5


def test_an_unknown_kind_costs_the_dearest() -> None:
    """The time left rather shrinks than grows."""
    forecast = Forecast()
    forecast.learn(of_kind(Kind.COLD), 30.0)
    forecast.learn(of_kind(Kind.REPEAT), 0.5)
    assert forecast.of([of_kind(Kind.BRANCH)]) == 30.0
    forecast.learn(of_kind(Kind.LATER_NEW), 1.0)
    assert forecast.of([of_kind(Kind.BRANCH), of_kind(Kind.TURN)]) == 31.0


def test_spoken_times() -> None:
    """Minutes and seconds."""
    assert spoken(59.4) == "59 s left"
    assert spoken(125) == "2 min 05 s left"


def test_lines_of_calls_without_a_terminal() -> None:
    """A file gets the published line of each call, and no bar."""
    out = StringIO()
    first, second, _ = SWEEP_CALLS
    with Bar(Console(file=out, width=40)) as bar:
        bar.starting(SWEEP_CALLS)
        bar.asking(first)
        bar.answered(
            Taken(call=first, prompt=9, cached=0, prefill_ms=3, total_ms=4, passed=True), 1
        )
        bar.answered(Taken(call=second, trouble="TimeoutError"), 1)
        bar.note("A sentence that is longer than the console is wide, and stays on one line.")
    assert out.getvalue().splitlines() == [
        "  cold: prompt=9 cached=0 prefill=3ms total=4ms",
        "  new-question: TimeoutError",
        "A sentence that is longer than the console is wide, and stays on one line.",
    ]


def test_bar_on_a_terminal() -> None:
    """People see which call is on its way, how many are done, and the time left."""
    out = StringIO()
    with Bar(Console(file=out, width=100, force_terminal=True)) as bar:
        bar.starting(SWEEP_CALLS)
        taken = Taken(call=SWEEP_CALLS[0], prompt=9, cached=0, passed=True)
        bar.answered(taken, 60.0)
        bar.asking(SWEEP_CALLS[1])
        bar._progress.refresh()
    text = out.getvalue()
    assert "new-question: new-question" in text
    assert "1/3" in text
    assert "2 min 00 s left" in text
