"""The page of the status: how every target stood at last, and in the rounds before."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ollama_warmer.history.status import status_of
from ollama_warmer.history.status_report import as_object
from ollama_warmer.pages import document, values
from ollama_warmer.pages.markup import Child, Markup, element
from ollama_warmer.pages.output import write
from ollama_warmer.pages.status_targets import TargetHistory, figures, targets_of
from ollama_warmer.round.verdicts import Verdict

_ROUNDS_LISTED = 50


def write_status_page(path: Path, state: Mapping[str, Any], *, now: datetime | None = None) -> None:
    """Write the page of the last rounds.

    Args:
        path: The file.
        state: The object that `status --json` prints, or that a state file holds.
        now: From when ages are counted, and in whose zone times are shown; what `state` says, else
            the present time, in this machine's zone, if left out.

    Raises:
        WarmerError: matplotlib is not installed, or the file cannot be written.
    """
    at = now or values.moment(state.get("now")) or datetime.now().astimezone()
    write(path, status_page(state, at if now else at.astimezone()))


def status_page(state: Mapping[str, Any], now: datetime) -> str:
    """Return the page as HTML."""
    if "targets" not in state:
        state = as_object(status_of(state, None, (), now), state)
    rounds, targets = values.objects(state.get("rounds")), targets_of(state, now)
    asked = [target.at for target in targets if target.at is not None]
    facts: list[tuple[str, Child]] = [
        ("Last asked", values.when(max(asked), now) if asked else "never"),
        ("Page written", values.stamp(now)),
    ]
    body = [
        _old(targets, now),
        _verdict(targets) if targets else None,
        _gone(values.listed(state.get("gone"))),
        figures(targets, now) if targets else None,
        _rounds(rounds, now) if rounds else None,
    ]
    return document.page(
        "How the prompts stood", "Status", facts, *(body if asked else [_nothing()])
    )


def _nothing() -> Markup:
    return document.notice(
        "No round has been made yet",
        document.paragraphs(
            [
                "Run ",
                element("code", "ollama-warmer warm"),
                " or start the service. Nothing is known before, so nothing is called warm.",
            ]
        ),
    )


def _old(targets: Sequence[TargetHistory], now: datetime) -> Markup | None:
    old = [target for target in targets if target.old]
    if not old:
        return None
    asked = [target.at for target in old if target.at is not None]
    which = "All of this is" if len(old) == len(targets) else f"{len(old)} of these results are"
    since = f" The oldest is from {values.when(min(asked), now)}." if asked else ""
    return document.notice(
        f"{which} old",
        document.paragraphs(
            f"It says how the prompts stood then, not how they stand now.{since} Look whether the "
            "timer or the service still runs."
        ),
        alarm=True,
    )


def _verdict(targets: Sequence[TargetHistory]) -> Markup:
    worst = max((target.verdict for target in targets), key=document.severity)
    warm = sum(target.verdict == Verdict.WARM for target in targets)
    others = None if worst == Verdict.WARM else ["The worst of the others: ", document.badge(worst)]
    return document.verdict(
        "When they were last asked",
        f"{warm} of {len(targets)} prompts were warm.",
        document.paragraphs(others),
        style=document.tone(worst),
    )


def _gone(names: Sequence[object]) -> Markup | None:
    if not names:
        return None
    return document.notice(
        "Not shown",
        document.paragraphs(f"The configuration has them no more: {values.shown(names)}."),
    )


def _rounds(rounds: Sequence[Mapping[str, Any]], now: datetime) -> Markup:
    rows: list[list[Child]] = []
    for one in reversed(rounds[-_ROUNDS_LISTED:]):
        at = values.moment(one.get("at"))
        targets = values.objects(one.get("targets"))
        warm = sum(target.get("verdict") == Verdict.WARM for target in targets)
        rows.append(
            [
                values.stamp(at and at.astimezone(now.tzinfo)),
                values.shown(one.get("occasion")),
                f"{warm} of {len(targets)}",
                values.time(values.seconds(one.get("seconds"))),
                document.badge(values.shown(one.get("verdict"))),
            ]
        )
    numbers = ("warm", "took")
    columns = document.columns("when", "occasion", *numbers, "worst verdict", numbers=numbers)
    listed = f"the newest {len(rows)}, " if len(rows) < len(rounds) else ""
    table = document.Table(caption=f"All rounds, {listed}newest first", columns=columns, rows=rows)
    return document.section("Rounds", None, element("div", table.markup, class_="card"))
