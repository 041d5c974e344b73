"""What is known at the moment: for the status line, the metrics and the health check."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import Enum, auto

from ollama_warmer.config.run import RunConfig
from ollama_warmer.daemon.occasions import Occasion, words
from ollama_warmer.daemon.schedule import longest_gap
from ollama_warmer.round.rounds import Round, TargetResult
from ollama_warmer.round.verdicts import Verdict

# A cold prompt of several targets on a slow machine, or a person who talks.
_ROUND_TAKES = 1_800.0


class Part(Enum):
    """What can have a problem of its own."""

    HOME = auto()
    OLLAMA = auto()
    CONFIGURATION = auto()
    ROUND = auto()


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A round that is over.

    Attributes:
        outcome: How its targets stand.
        occasions: Why it was made.
        at: When it began, aware.
        ended: Its end in seconds of the event loop's clock.
    """

    outcome: Round
    occasions: Sequence[Occasion]
    at: datetime
    ended: float


class Board:
    """What the daemon knows; it writes, everyone else reads.

    Attributes:
        connected: Whether Home Assistant has started and is connected.
        ollama: Whether Ollama answers; none if that is not watched.
        troubles: What is wrong at the moment: a sentence for each part that has a problem.
        last: The last round; none before the first.
        targets: The last result of each target, by its name.
        rounds: How many rounds there were, by verdict and first occasion.
        planned: When the next round is planned, aware; none if that is not known.
    """

    def __init__(self, config: RunConfig, started: float) -> None:
        """Know nothing yet; `started` is in seconds of the event loop's clock."""
        self.connected = False
        self.ollama: bool | None = None
        self.troubles: dict[Part, str] = {}
        self.last: Finished | None = None
        self.targets: dict[str, TargetResult] = {}
        self.rounds: Counter[tuple[Verdict, Occasion]] = Counter()
        self.planned: datetime | None = None
        self._config = config
        self._started = started

    def configure(self, config: RunConfig, names: Collection[str]) -> None:
        """Go by another configuration, and forget targets that it does not have."""
        self._config = config
        self.targets = {name: result for name, result in self.targets.items() if name in names}

    def add(self, finished: Finished) -> None:
        """Take note of a round."""
        self.last = finished
        self.rounds[finished.outcome.verdict, finished.occasions[0]] += 1
        for result in finished.outcome.results:
            self.targets[result.target.name] = result

    def summary(self, zone: tzinfo | None) -> str:
        """Return one line for a person; times are in this zone, or in the machine's."""
        parts = ["no round yet"]
        if self.last is not None:
            outcome = self.last.outcome
            warm = sum(result.verdict is Verdict.WARM for result in outcome.results)
            began = f"{self.last.at.astimezone(zone):%H:%M:%S} ({words(self.last.occasions)})"
            of_all = f"{warm} of {len(outcome.results)} targets warm"
            parts = [f"last round {began}: {outcome.verdict}, {of_all}"]
        if self.planned is not None:
            parts.append(f"next round {self.planned.astimezone(zone):%H:%M:%S}")
        return "; ".join([*self.troubles.values(), *parts])

    def ailment(self, now: float) -> str | None:
        """Return why not all is well, as a sentence; none if it is.

        Args:
            now: Seconds of the event loop's clock.
        """
        if not self.connected:
            return self.troubles.get(Part.HOME, "Home Assistant has not been reached yet")
        since = self._started if self.last is None else self.last.ended
        if now - since > longest_gap(self._config) + _ROUND_TAKES:
            return f"the last round was over {now - since:.0f} s ago: see the log"
        return None
