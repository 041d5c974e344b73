"""The seven tables T1 to T7 of the published notebook, from a run's JSON object alone.

Each is `{"title", "rows": [objects]}`. A range is `[least, most]`, and None if one of its counts is
unknown. Times are milliseconds, everything else tokens. Calls that were not made have no row.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ollama_warmer.lab.probe.disturbance import overflows, re_read, row_of
from ollama_warmer.lab.probe.plan import PLAN, Kind, Phase, calls_of

Json = dict[str, Any]
Row = Mapping[str, Any]


def tables(run: Mapping[str, Any], *, group: str, batch: int | None) -> Json | None:
    """Return the tables by name; None for a run that was disturbed, in which nothing is counted.

    Args:
        run: The object; phases and calls may be missing.
        group: The group that the counts show.
        batch: The batch that they show.
    """
    if run["disturbed"]:
        return None
    summary = run["summary"]
    kind = {"memory": run["memory"], "runner": run["runner"], "group": group, "batch": batch}
    return {
        "T1": _table("What a new conversation costs", new_conversations(summary)),
        "T2": _table("The build", the_build(summary)),
        "T3": _table("The first divergence on a system text", first_divergence(summary)),
        "T4": _table("Two users, and several branches", several_conversations(summary)),
        "T5": _table("The call after an abandoned one", retry(summary)),
        "T6": _table("The length of the prompt", sweep(run)),
        "T7": _table("Memory, runner and group", [kind]),
    }


def _table(title: str, rows: Sequence[Json]) -> Json:
    return {"title": title, "rows": list(rows)}


def new_conversations(summary: Mapping[str, Any]) -> list[Json]:
    """Return T1: cold requests, first new conversations on a system text, and later ones."""
    kinds = (("cold", Kind.COLD), ("first new", Kind.FIRST_NEW), ("later new", Kind.LATER_NEW))
    return [
        {
            "conversation": name,
            "calls": len(rows),
            "cached": span_of(row["cached"] for row in rows),
            "reRead": span_of(re_read(row) for row in rows),
            "prefillMs": span_of(row["prefillMs"] for row in rows),
        }
        for name, kind in kinds
        if (rows := _rows(summary, kind))
    ]


def the_build(summary: Mapping[str, Any]) -> list[Json]:
    """Return T2: an exact repeat, two turns, the call after another prompt, and the retry."""
    places = (
        ("exact repeat", Phase.IDENTICAL_REPEAT, "identical"),
        ("turn 2", Phase.GROWING, "turn-2"),
        ("turn 3", Phase.GROWING, "turn-3"),
        ("after another prompt", Phase.INTERLEAVED, "back-to-a"),
        ("retry", Phase.RETRY, "retry"),
    )
    return [
        {"call": name, **_counts(row), "totalMs": row["totalMs"]}
        for name, phase, role in places
        if (row := row_of(summary, phase, role)) is not None
    ]


def first_divergence(summary: Mapping[str, Any]) -> list[Json]:
    """Return T3: both arms of the first divergence, call by call."""
    return [
        {"call": call.role, **_counts(row)}
        for call in calls_of(Phase.FIRST_DIVERGENCE)
        if (row := row_of(summary, call.phase, call.role)) is not None
    ]


def several_conversations(summary: Mapping[str, Any]) -> list[Json]:
    """Return T4: what each call re-reads while two conversations, or several branches, go on."""
    patterns = (
        ("two conversations", Phase.TWO_CONVERSATIONS),
        ("several branches", Phase.SECOND_BRANCH),
    )
    costs = {
        name: [
            re_read(row)
            for call in calls_of(phase)
            if (row := row_of(summary, phase, call.role)) is not None
        ]
        for name, phase in patterns
    }
    return [
        {"pattern": name, "reRead": span_of(found), "each": found}
        for name, found in costs.items()
        if found
    ]


def retry(summary: Mapping[str, Any]) -> list[Json]:
    """Return T5: what a call that was given up costs the next one.

    The wait is the retry's whole time less an exact repeat's; `prompt_eval_duration` leaves it
    out. It is None if the call was answered before it could be given up.
    """
    repeat = row_of(summary, Phase.IDENTICAL_REPEAT, "identical")
    again = row_of(summary, Phase.RETRY, "retry")
    given_up = row_of(summary, Phase.RETRY, "aborted")
    if again is None or given_up is None:
        return []
    abandoned = given_up["totalMs"] is None
    before, after = None if repeat is None else repeat["totalMs"], again["totalMs"]
    waited = None if before is None or after is None else after - before
    return [
        {
            "abandoned": abandoned,
            "repeatTotalMs": before,
            **_counts(again),
            "totalMs": after,
            "waitMs": waited if abandoned else None,
        }
    ]


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
                "entries": one["glossaryEntries"],
                "fits": fits,
                **_counts(new),
                "laterReRead": re_read(later),
                "coldPrefillMs": None if cold is None else cold["prefillMs"],
            }
        )
    return found


def _counts(row: Row | None) -> Json:
    """Return what a row of a table has about one call."""
    keys = ("prompt", "cached", "prefillMs")
    prompt, cached, prefill_ms = (None if row is None else row[key] for key in keys)
    return {"prompt": prompt, "cached": cached, "reRead": re_read(row), "prefillMs": prefill_ms}


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
