"""The targets on the page of the status: each with its verdict and its last rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ollama_warmer.pages import document, values
from ollama_warmer.pages.drawing import Figure
from ollama_warmer.pages.history import SHOWN, Mark, history
from ollama_warmer.pages.markup import Child, Markup, element
from ollama_warmer.round.verdicts import WARM_UP

Json = Mapping[str, Any]
Key = tuple[object, object, object]
_LEGEND = (
    ("found", "what the warm-up re-read: a person who had asked instead would have waited for it"),
    ("left", "what the confirmation re-read afterwards, in the shape of its verdict"),
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A target in one round.

    Attributes:
        at: When the round ended; none if unknown.
        target: What the round says about the target.
    """

    at: datetime | None
    target: Json

    @property
    def verdict(self) -> str:
        """Its verdict."""
        return values.shown(self.target.get("verdict"))

    @property
    def steps(self) -> list[Json]:
        """The questions that were answered."""
        return values.objects(self.target.get("steps"))

    @property
    def point(self) -> Mark:
        """The round for a figure."""
        steps = self.steps
        warm_up = next((one for one in steps[:1] if one.get("step") == WARM_UP), {})
        last = next((one for one in steps[-1:] if one.get("step") != WARM_UP), {})
        return Mark(
            verdict=self.verdict,
            found=values.count(warm_up.get("re_read")),
            left=values.count(last.get("re_read")),
        )


@dataclass(frozen=True, kw_only=True)
class TargetHistory:
    """A target.

    Attributes:
        name: Its name.
        verdict: The verdict of its last round.
        reason: Why, in a sentence.
        at: When that round ended; none if it was never asked.
        old: Whether that says nothing about the present any more.
        rounds: Its last rounds, newest last.
    """

    name: str
    verdict: str
    reason: str
    at: datetime | None
    old: bool
    rounds: Sequence[Asked]


def targets_of(state: Json, now: datetime) -> list[TargetHistory]:
    """Return the targets of a status in its order, with times in the zone of `now`."""
    rounds: dict[Key, list[Asked]] = {}
    for one in values.objects(state.get("rounds")):
        began, took = values.moment(one.get("at")), values.seconds(one.get("seconds"))
        ended = began and began.astimezone(now.tzinfo) + timedelta(seconds=took or 0)
        for target in values.objects(one.get("targets")):
            rounds.setdefault(_key(target), []).append(Asked(at=ended, target=target))
    return [
        TargetHistory(
            name=values.shown(one.get("name")),
            verdict=values.shown(one.get("verdict")),
            reason=values.shown(one.get("reason"), "no reason was given"),
            at=(at := values.moment(one.get("at"))) and at.astimezone(now.tzinfo),
            old=one.get("old") is not False,
            rounds=rounds.get(_key(one), [])[-SHOWN:],
        )
        for one in values.objects(state.get("targets"))
    ]


def _key(target: Json) -> Key:
    return target.get("name"), target.get("agent"), target.get("device")


def figures(targets: Sequence[TargetHistory], now: datetime) -> Markup:
    """Return the section with a card for each target, all to the same scale."""
    points = [one.point for target in targets for one in target.rounds]
    most = max((count for one in points for count in (one.found, one.left) if count), default=1)
    powers = max(2, len(str(most - 1)))
    cards = [_card(number, one, now, powers) for number, one in enumerate(targets, start=1)]
    return document.section(
        "Target by target",
        "Tokens re-read in each round; each line up is ten times as many.",
        document.legend(*_LEGEND),
        document.verdict_legend(),
        document.grid(*cards),
    )


def _card(number: int, target: TargetHistory, now: datetime, powers: int) -> Markup:
    heading = [element("span", target.name), document.badge(target.verdict)]
    when = "never asked" if target.at is None else values.when(target.at, now)
    about = [
        target.reason,
        element("br"),
        element("span", when),
        element("b", " · old", class_="old") if target.old and target.at else None,
    ]
    if not target.rounds:
        return document.plain(heading, about)
    points = [one.point for one in target.rounds]
    newest = points[-1]
    figure = Figure(
        name=f"target-{number}",
        title=f"{target.name}: tokens re-read over {len(points)} rounds",
        description=(
            f"The last round was {newest.verdict}: the warm-up re-read "
            f"{values.tokens(newest.found)} tokens, the confirmation {values.tokens(newest.left)}."
        ),
    )
    ends = (_short(target.rounds[0].at), _short(target.rounds[-1].at))
    drawn = history(figure, points, ends, powers)
    return document.figure(heading, about, drawn, _table(target))


def _short(at: datetime | None) -> str:
    return values.UNKNOWN if at is None else f"{at:%d %b %H:%M}"


def _table(target: TargetHistory) -> document.Table:
    numbers = ("prompt", "cached", "re-read", "seconds")
    rows: list[list[Child]] = [
        [
            _short(one.at),
            values.shown(step.get("step")),
            *(
                values.tokens(values.count(step.get(key)))
                for key in ("prompt", "cached", "re_read")
            ),
            values.time(values.seconds(step.get("seconds"))),
            one.verdict,
        ]
        for one in reversed(target.rounds)
        for step in one.steps or [{"step": "not answered"}]
    ]
    columns = document.columns("round", "step", *numbers, "verdict", numbers=numbers)
    return document.Table(caption=f"{target.name}, newest first", columns=columns, rows=rows)
