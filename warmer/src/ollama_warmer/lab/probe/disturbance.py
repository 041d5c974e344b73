"""Finds out by counts whether something else than the cache is in them: then nothing is counted."""

from collections.abc import Mapping, Sequence
from typing import Any

from ollama_warmer.lab.probe.plan import PLAN, Call, Kind, Phase

Row = Mapping[str, Any]
# What a template, a checkpoint and the last token cost at most when all the rest was cached.
FEW = 64
_USED_UP = "the prompt does not fit into the context window with its answer"


def found_in(summary: Mapping[str, Any]) -> list[str]:
    """Return in words what disturbed a run, by its counts alone; empty if nothing did.

    Args:
        summary: The `summary` of a run's JSON object; phases and calls may be missing.
    """
    rows = [
        (call, row) for call in PLAN if (row := row_of(summary, call.phase, call.role)) is not None
    ]
    signs = (
        _overflow(rows, int(summary["numCtx"]), int(summary["numPredict"])),
        _no_growth(summary),
        _unequal_repeats(summary),
        _lost_repeats(rows),
        _known_too_early(rows),
    )
    return [sign for sign in signs if sign is not None]


def row_of(summary: Mapping[str, Any], phase: Phase, role: str) -> Row | None:
    """Return what a summary has about a call; None if the call was not made."""
    rows: Sequence[Row] = summary.get(phase.value, ())
    return next((row for row in rows if row["label"] == role), None)


def re_read(row: Row | None) -> int | None:
    """Return the tokens that were read again for a call; None unless both counts are known."""
    if row is None or row["prompt"] is None or row["cached"] is None:
        return None
    return int(row["prompt"]) - int(row["cached"])


def overflows(prompt: int | None, num_ctx: int, num_predict: int) -> bool:
    """Return whether a prompt and its answer do not fit into the window.

    Ollama cuts such a prompt without a word, and what is left begins differently each time.
    """
    return prompt is not None and prompt + num_predict > num_ctx


def _overflow(rows: Sequence[tuple[Call, Row]], num_ctx: int, num_predict: int) -> str | None:
    for call, row in rows:
        if overflows(row["prompt"], num_ctx, num_predict):
            return (
                f"{_USED_UP}: {call.role} has {row['prompt']} tokens and up to {num_predict} of an "
                f"answer, the window has {num_ctx}. Take fewer --entries, or a larger --num-ctx"
            )
    return None


def _no_growth(summary: Mapping[str, Any]) -> str | None:
    """Return a sentence if a conversation grew and its prompt did not: the beginning was cut."""
    for call in PLAN:
        if call.follows is None:
            continue
        before, after = (row_of(summary, call.phase, role) for role in (call.follows, call.role))
        counts = [row["prompt"] for row in (before, after) if row is not None]
        if len(counts) == len((before, after)) and None not in counts and counts[1] <= counts[0]:
            return (
                f"the context window overflowed: {call.role} has more history than {call.follows} "
                f"and its prompt is not longer ({counts[1]} tokens after {counts[0]}). Take fewer "
                "--entries, a shorter file, or a larger --num-ctx"
            )
    return None


def _unequal_repeats(summary: Mapping[str, Any]) -> str | None:
    """Return a sentence if the same prompt was counted twice, differently."""
    before: Call | None = None
    for call in PLAN:
        if call.kind is Kind.REPEAT and before is not None:
            counts = [
                row["prompt"]
                for one in (before, call)
                if (row := row_of(summary, one.phase, one.role)) is not None
            ]
            if None not in counts and len(set(counts)) > 1:
                return (
                    f"{call.role} sends exactly what {before.role} sent, and its prompt was "
                    f"counted as {counts[1]} tokens instead of {counts[0]}: the server counts only "
                    "what it reads (Ollama 0.30.0 does), or two servers answer at this address"
                )
        before = call
    return None


def _lost_repeats(rows: Sequence[tuple[Call, Row]]) -> str | None:
    """Return a sentence if a repeat was read from the beginning, though the server keeps repeats.

    A server that never keeps one is no disturbed server, but one without a cache.
    """
    kept = [
        call
        for call, row in rows
        if call.kind in {Kind.REPEAT, Kind.TURN} and (count := re_read(row)) is not None
        if count * 2 < row["prompt"]
    ]
    lost = [
        (call, row)
        for call, row in rows
        if call.kind is Kind.REPEAT and (count := re_read(row)) is not None
        if count * 2 >= row["prompt"] > 2 * FEW
    ]
    if not kept or not lost:
        return None
    call, row = lost[0]
    return (
        f"{call.role} repeats the call before it, which this server keeps otherwise, and re-read "
        f"{re_read(row)} of {row['prompt']} tokens: another client used the model in between, or "
        "it was loaded again. Run the probe while no one else uses the server"
    )


def _known_too_early(rows: Sequence[tuple[Call, Row]]) -> str | None:
    """Return a sentence if a prompt that was never sent was found in the cache."""
    for call, row in rows:
        count = re_read(row)
        if call.kind not in {Kind.COLD, Kind.OTHER} or count is None:
            continue
        if count * 2 < row["prompt"] and row["prompt"] > 2 * FEW:
            return (
                f"{call.role} sends a prompt that this run never sent before, and {row['cached']} "
                f"of its {row['prompt']} tokens were cached: someone else runs the same probe, or "
                "the model was not unloaded before"
            )
    return None
