"""What the doctor is to look at, and what ought to be the case there."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ollama_warmer.config.config import Config, CountsConfig, OllamaConfig
from ollama_warmer.config.run import INTERVAL, RunConfig

_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The house, the model server, and how often the prompt is warmed.

    Attributes:
        config: The configuration; none to look at a model server alone.
        token_file: The value of `--token-file`, if it was given.
        state_files: Where the last rounds may be kept.
        ollama: The model server, and what the agent asks it with; none if it is not named.
        interval: Seconds between two warm-ups.
        measure: Whether to ask the agents questions.
        pause: Seconds between two questions; none to wait for the next minute.
    """

    config: Config | None = None
    token_file: Path | None = None
    state_files: tuple[Path, ...] = ()
    ollama: OllamaConfig | None = None
    interval: float = INTERVAL
    measure: bool = False
    pause: float | None = None

    @property
    def counts(self) -> CountsConfig:
        """Where counts come from; from nowhere in particular without a configuration."""
        return self.config.counts if self.config else CountsConfig()


def longest_gap(run: RunConfig) -> float:
    """Return the most seconds between two warm-ups; as long as an idle house waits for one."""
    if run.interval is not None:
        return run.interval
    moments = [it.hour * 3600.0 + it.minute * 60.0 for it in run.times]
    gaps = [after - before for before, after in pairwise([*moments, moments[0] + _DAY])]
    return max(gaps)
