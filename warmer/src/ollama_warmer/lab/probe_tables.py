"""The seven tables T1 to T7 of the published notebook, from a run's JSON object alone.

A range is `[least, most]`; it is None if any of its counts is unknown or there is none of them.
Times are milliseconds, everything else tokens.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ollama_warmer.lab.probe_disturbance import overflows, re_read, row_of
from ollama_warmer.lab.probe_plan import PLAN, Kind, Phase, calls_of

Json = dict[str, Any]
Row = Mapping[str, Any]


def tables(run: Mapping[str, Any], *, group: str, batch: int | None) -> Json | None:
    """Return the tables by name; None for a run that was disturbed, in which nothing is counted.

    Args:
        run: The object; phases and calls may be missing, and are None in the tables.
        group: The group that the counts show.
        batch: The batch that they show.
    """
    if run["disturbed"]:
        return None
    summary = run["summary"]
    return {
        "T1": new_conversations(summary),
        "T2": one_row(run),
        "T3": first_divergence(summary),
        "T4": several_conversations(summary),
        "T5": retry(summary),
        "T6": sweep(run),
        "T7": {
            "memory": run["memory"],
            "runner": run["runner"],
            "group": group,
            "batch": batch,
        },
    }


def new_conversations(summary: Mapping[str, Any]) -> Json:
    """Return T1: what a new conversation costs, the first on its system text and the later ones."""
    rows = {kind: _rows(summary, kind) for kind in (Kind.COLD, Kind.FIRST_NEW, Kind.LATER_NEW)}
    return {
        "cold": _cost(rows[Kind.COLD]),
        "first": _cost(rows[Kind.FIRST_NEW]),
        "later": _cost(rows[Kind.LATER_NEW]),
        "newConversations": len(rows[Kind.FIRST_NEW]) + len(rows[Kind.LATER_NEW]),
    }


def _cost(rows: Sequence[Row]) -> Json:
    return {
        "calls": len(rows),
        "cached": span_of(row["cached"] for row in rows),
        "reRead": span_of(re_read(row) for row in rows),
        "prefillMs": span_of(row["prefillMs"] for row in rows),
    }


def one_row(run: Mapping[str, Any]) -> Json:
    """Return T2: a build in one row."""
    summary = run["summary"]
    return {
        "repeat": _pick(summary, Phase.IDENTICAL_REPEAT, "identical", "prompt", "cached"),
        "turnsReRead": [
            re_read(row_of(summary, Phase.GROWING, role)) for role in ("turn-2", "turn-3")
        ],
        "afterUnrelated": _pick(
            summary, Phase.INTERLEAVED, "back-to-a", "prompt", "cached", "prefillMs"
        ),
        "retry": _pick(summary, Phase.RETRY, "retry", "prompt", "cached", "prefillMs", "totalMs"),
        "memory": run["memory"],
        "runner": run["runner"],
    }


def _pick(summary: Mapping[str, Any], phase: Phase, role: str, *keys: str) -> Json | None:
    row = row_of(summary, phase, role)
    return None if row is None else {key: row[key] for key in keys}


def first_divergence(summary: Mapping[str, Any]) -> Json:
    """Return T3: both arms of the first divergence, call by call."""
    keys = ("label", "prompt", "cached", "prefillMs")
    rows = summary.get(Phase.FIRST_DIVERGENCE.value, ())
    return {
        arm: [{key: row[key] for key in keys} for row in rows if row["label"].startswith(arm)]
        for arm in ("delta", "echo")
    }


def several_conversations(summary: Mapping[str, Any]) -> Json:
    """Return T4: what each call re-reads while two conversations, or several branches, go on."""
    costs = {
        name: [
            re_read(row)
            for call in calls_of(phase)
            if (row := row_of(summary, phase, call.role)) is not None
        ]
        for name, phase in (
            ("interleaved", Phase.TWO_CONVERSATIONS),
            ("secondBranch", Phase.SECOND_BRANCH),
        )
    }
    return {name: {"reRead": span_of(found), "each": found} for name, found in costs.items()}


def retry(summary: Mapping[str, Any]) -> Json:
    """Return T5: what a call that was given up costs the next one.

    The wait is the retry's whole time less an exact repeat's; `prompt_eval_duration` leaves it
    out. It is None if the call was answered before it could be given up.
    """
    repeat = row_of(summary, Phase.IDENTICAL_REPEAT, "identical")
    again = row_of(summary, Phase.RETRY, "retry")
    given_up = row_of(summary, Phase.RETRY, "aborted")
    abandoned = None if given_up is None else given_up["totalMs"] is None
    before, after = (None if row is None else row["totalMs"] for row in (repeat, again))
    waited = None if before is None or after is None else after - before
    return {
        "abandoned": abandoned,
        "repeatTotalMs": before,
        "cached": None if again is None else again["cached"],
        "prompt": None if again is None else again["prompt"],
        "prefillMs": None if again is None else again["prefillMs"],
        "totalMs": after,
        "waitMs": waited if abandoned else None,
    }


def sweep(run: Mapping[str, Any]) -> list[Json]:
    """Return T6: one row for each length of the glossary; all None where the window overflowed."""
    summary = run["summary"]
    found = []
    for one in run["sweep"]:
        calls = {row["label"]: row for row in one["calls"]}
        cold, new, later = (calls.get(role) for role in ("cold", "new-question", "turn-1"))
        fits = not any(
            overflows(row["prompt"], summary["numCtx"], summary["numPredict"])
            for row in calls.values()
        )
        if not fits:
            cold = new = later = None
        found.append(
            {
                "glossaryEntries": one["glossaryEntries"],
                "fits": fits,
                "prompt": None if new is None else new["prompt"],
                "cached": None if new is None else new["cached"],
                "reRead": re_read(new),
                "laterReRead": re_read(later),
                "newPrefillMs": None if new is None else new["prefillMs"],
                "coldPrefillMs": None if cold is None else cold["prefillMs"],
            }
        )
    return found


def span_of(values: Iterable[int | None]) -> list[int] | None:
    """Return the least and the most of some values; None if one is unknown or there is none."""
    known = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return [min(known), max(known)] if known else None


def _rows(summary: Mapping[str, Any], kind: Kind) -> list[Row]:
    """Return what the summary has about the calls of a kind, in the plan's order."""
    return [
        row
        for call in PLAN
        if call.kind is kind and (row := row_of(summary, call.phase, call.role)) is not None
    ]
