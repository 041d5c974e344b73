"""Works out from the last rounds how each target stands, and how long ago that was seen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ollama_warmer.config.config import Config
from ollama_warmer.errors import ConfigError, ExitCode
from ollama_warmer.round.verdicts import WARM_UP, Verdict
from ollama_warmer.words import listing, printable

# A round a day may begin late and take its time.
A_DAY = timedelta(hours=26)
# A cold round alone takes minutes, however often rounds are wanted.
_SHORTEST = timedelta(minutes=10)
# Times in the file are cut to whole seconds.
_ROUNDING = timedelta(seconds=2)

NEVER = "it was not asked in any round that is kept"

Key = tuple[str, str, str | None]


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one round did for a target.

    Attributes:
        at: When the round ended.
        verdict: The verdict of the confirmation, or `failed`.
        reason: One sentence that says why.
        prompt: Tokens of the confirmation's prompt; none if unknown.
        cached: Tokens of it that the server had; none if unknown.
        found: Tokens that the warm-up re-read, as a person who had asked instead would have waited
            for; none if unknown.
        left: Tokens that the confirmation re-read; none if unknown.
        seconds: How long the confirmation took; none if it was not answered.
    """

    at: datetime
    verdict: Verdict
    reason: str
    prompt: int | None
    cached: int | None
    found: int | None
    left: int | None
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a target stood when it was last asked.

    Attributes:
        name: What the configuration calls it.
        agent: Entity id of its agent.
        device: Its device; none for the app.
        points: Its rounds, the newest last; empty if it was never asked.
        old: Whether the newest says nothing about now any more, or there is none.
    """

    name: str
    agent: str
    device: str | None
    points: tuple[Point, ...]
    old: bool

    @property
    def verdict(self) -> Verdict:
        """The verdict of the newest round."""
        return self.points[-1].verdict if self.points else Verdict.UNKNOWN

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        return self.points[-1].reason if self.points else NEVER


@dataclass(frozen=True, kw_only=True)
class Status:
    """How everything stood, as of the last rounds.

    Attributes:
        targets: One standing for each target.
        gone: Names that rounds have and the configuration has not, or not with this agent and
            device.
        now: The time that ages are counted from.
    """

    targets: tuple[Standing, ...]
    gone: tuple[str, ...]
    now: datetime

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all targets; unknown without targets."""
        verdicts = [target.verdict for target in self.targets]
        return max(verdicts, key=lambda it: it.severity, default=Verdict.UNKNOWN)

    @property
    def old(self) -> bool:
        """Whether something was not asked lately."""
        return any(target.old for target in self.targets)

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with: an old proof is none."""
        warm = self.verdict is Verdict.WARM and not self.old
        return ExitCode.ALL_WARM if warm else ExitCode.NOT_ALL_WARM


def longest_age(config: Config | None) -> timedelta:
    """Return how old a round may be and still say how things are: two intervals, or a day."""
    if config is None or config.run.interval is None:
        return A_DAY
    return max(timedelta(seconds=2 * config.run.interval + config.run.jitter), _SHORTEST)


def select(state: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the state with the targets of these names alone, or with all if no name is given."""
    if not names:
        return dict(state)
    rounds = []
    for each in state["rounds"]:
        if targets := [target for target in each["targets"] if target["name"] in names]:
            worst = max((Verdict(it["verdict"]) for it in targets), key=lambda it: it.severity)
            rounds.append({**each, "targets": targets, "verdict": str(worst)})
    return {**state, "rounds": rounds}


def status_of(
    state: Mapping[str, Any], config: Config | None, names: Sequence[str], now: datetime
) -> Status:
    """Return how the targets stood.

    Args:
        state: What StateFile reads.
        config: The configuration, which says what targets there are now; without it they are those
            of the rounds.
        names: The targets to look at; all if there is none.
        now: The time, with its zone.

    Raises:
        ConfigError: A name is not known.
    """
    points = _points(state["rounds"])
    keys = _configured(config, names) if config else _seen(points, names)
    limit = longest_age(config)
    standings = (
        Standing(
            name=key[0],
            agent=key[1],
            device=key[2],
            points=tuple(points.get(key, ())),
            old=key not in points or not _recent(points[key][-1].at, now, limit),
        )
        for key in keys
    )
    gone = {key[0] for key in points if key not in keys and (not names or key[0] in names)}
    return Status(targets=tuple(standings), gone=tuple(sorted(gone)), now=now)


def ended(each: Mapping[str, Any]) -> datetime:
    """Return when a round ended."""
    return datetime.fromisoformat(each["at"]) + timedelta(seconds=each["seconds"])


def _recent(at: datetime, now: datetime, limit: timedelta) -> bool:
    """Say whether a time is not long past; a time to come means that the clock was set back."""
    return -_ROUNDING <= now - at <= limit


def _configured(config: Config, names: Sequence[str]) -> list[Key]:
    return [(target.name, target.agent, target.device) for target in config.select(names)]


def _seen(points: Iterable[Key], names: Sequence[str]) -> list[Key]:
    """Return the targets of the rounds.

    A name whose agent or device was changed has several keys; only the newest is a target still.
    """
    newest = {key[0]: key for key in points}
    if unknown := set(names) - set(newest):
        raise ConfigError(
            f"There is no target {listing(unknown)} in the state file: it has {listing(newest)}"
        )
    return [key for name, key in newest.items() if not names or name in names]


def _points(rounds: Iterable[Mapping[str, Any]]) -> dict[Key, list[Point]]:
    """Return the points of each target; the target that was asked last is the last."""
    points: dict[Key, list[Point]] = {}
    for each in rounds:
        for target in each["targets"]:
            key = (target["name"], target["agent"], target["device"])
            # Taken out and put back, so that the order is that of the newest round.
            points[key] = [*points.pop(key, ()), _point(target, ended(each))]
    return points


def _point(target: Mapping[str, Any], at: datetime) -> Point:
    steps = target["steps"]
    first = steps[0] if steps and steps[0]["step"] == WARM_UP else {}
    last = steps[-1] if steps and steps[-1]["step"] != WARM_UP else {}
    return Point(
        at=at,
        verdict=Verdict(target["verdict"]),
        reason=printable(target["reason"]),
        prompt=last.get("prompt"),
        cached=last.get("cached"),
        found=first.get("re_read"),
        left=last.get("re_read"),
        seconds=last.get("seconds"),
    )
