"""Shows the board to Prometheus. What is not known has no sample, and is never zero."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, StateSetMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ollama_warmer.daemon.board import Board
from ollama_warmer.round.rounds import Step, TargetResult
from ollama_warmer.round.verdicts import Verdict

_PREFIX = "ollama_warmer_"
_FIGURES: tuple[tuple[str, str, Callable[[Step], float | None]], ...] = (
    ("prompt_tokens", "tokens of the whole prompt", lambda step: step.counts.prompt),
    ("cached_tokens", "tokens that were not read again", lambda step: step.counts.cached),
    ("re_read_tokens", "tokens that were read again", lambda step: step.counts.re_read),
    ("seconds", "from sending it to having the answer", lambda step: step.seconds),
)


def registry(board: Board) -> CollectorRegistry:
    """Return a registry that reads the board whenever it is asked."""
    found = CollectorRegistry(auto_describe=False)
    found.register(_BoardCollector(board))
    return found


class _BoardCollector(Collector):
    """Makes the samples."""

    def __init__(self, board: Board) -> None:
        self._board = board

    # Python 3.11 has no @override.
    def collect(self) -> Iterator[Metric]:  # type: ignore[explicit-override]
        """Yield every metric; labels say the target's name, and nothing else of it."""
        yield from self._house()
        results = list(self._board.targets.items())
        for which, step_of in (("first", _first), ("last", _last)):
            for figure, what, value in _FIGURES:
                yield _per_target(
                    f"{_PREFIX}target_{which}_question_{figure}",
                    f"Of the {which} question to a target in its last round: {what}.",
                    [(name, step_of(result)) for name, result in results],
                    value,
                )
        verdicts = StateSetMetricFamily(
            f"{_PREFIX}target_verdict",
            "How a target stood after its last round.",
            labels=["target"],
        )
        for name, result in results:
            verdicts.add_metric([name], {str(it): it is result.verdict for it in Verdict})
        yield verdicts

    def _house(self) -> Iterator[Metric]:
        board = self._board
        yield GaugeMetricFamily(
            f"{_PREFIX}home_assistant_up",
            "Whether Home Assistant has started and is connected.",
            value=float(board.connected),
        )
        yield _maybe(
            f"{_PREFIX}ollama_up",
            "Whether Ollama answers; absent if it is not watched.",
            None if board.ollama is None else float(board.ollama),
        )
        yield _maybe(
            f"{_PREFIX}last_round_timestamp_seconds",
            "When the last round began; absent before the first.",
            None if board.last is None else board.last.at.timestamp(),
        )
        yield _maybe(
            f"{_PREFIX}next_round_timestamp_seconds",
            "When the next round is planned; absent if that is not known.",
            None if board.planned is None else board.planned.timestamp(),
        )
        rounds = CounterMetricFamily(
            f"{_PREFIX}rounds", "Rounds by verdict and occasion.", labels=["verdict", "occasion"]
        )
        for (verdict, occasion), count in board.rounds.items():
            rounds.add_metric([str(verdict), str(occasion)], count)
        yield rounds


def _first(result: TargetResult) -> Step | None:
    """Return what a person would have met before the round."""
    return result.steps[0] if result.steps else None


def _last(result: TargetResult) -> Step | None:
    """Return the proof; a target that was asked only once has none."""
    return result.steps[-1] if len(result.steps) > 1 else None


def _per_target(
    name: str,
    text: str,
    steps: list[tuple[str, Step | None]],
    value: Callable[[Step], float | None],
) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["target"])
    for target, step in steps:
        number = None if step is None else value(step)
        if number is not None:
            family.add_metric([target], number)
    return family


def _maybe(name: str, text: str, value: float | None) -> Metric:
    return GaugeMetricFamily(name, text, value=value)
