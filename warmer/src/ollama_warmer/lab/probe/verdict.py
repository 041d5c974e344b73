"""Says in words what a run of the probe has found: the group, what things cost, and what to set."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ollama_warmer.lab.probe.disturbance import FEW, re_read, row_of
from ollama_warmer.lab.probe.group import Group, GroupFinding, costs_of
from ollama_warmer.lab.probe.plan import PLAN, Kind, Phase
from ollama_warmer.lab.probe.prompts import digest
from ollama_warmer.lab.probe.words import duration, durations, span

Json = Mapping[str, Any]

# A wait that is as likely the machine's as the abandoned call's, in milliseconds.
_A_MOMENT = 300
_GROUPS = {
    Group.TRUNCATES: "the server comes back to where a new question begins",
    Group.ONE_BATCH_BACK: (
        "the server can go on only from a state that it kept, and the nearest one lies a batch "
        "before the question"
    ),
    Group.ONCE: (
        "the server keeps a state where two prompts have branched, and only from the second "
        "branching on"
    ),
    Group.NO_REUSE: "every new conversation reads its whole prompt",
}
_SETTINGS = {
    Group.TRUNCATES: (
        "One warm-up is enough for every question on the same system text. What changes from "
        "question to question belongs behind that text."
    ),
    Group.ONE_BATCH_BACK: (
        "No warm-up by an ordinary question takes away the batch that a new conversation costs. A "
        "warm-up by the bare beginning of the prompt does (Ollama Warm's agent sends one where "
        "Ollama renders the prompt). A shorter system text does not help: the cost is a batch, "
        "whatever the length. A smaller num_batch, the same in every client, makes it smaller and "
        "cold prompts slower."
    ),
    Group.ONCE: (
        "Warm up with two different questions on the same system text. An exact repeat of one does "
        "not help: it branches nowhere."
    ),
    Group.NO_REUSE: (
        "See that the prompt and its answer fit into num_ctx, and that the prompt is longer than a "
        "batch (1,024 tokens as a rule): before that, there is nothing to keep warm."
    ),
}
_KEEP = (
    "Keep the model loaded: set keep_alive to -1, or longer than the longest pause, in every "
    "client, and the same num_ctx in all of them. What is unloaded, or loaded again with another "
    "window, has lost its cache."
)


def verdict(run: Json, finding: GroupFinding) -> list[str]:
    """Return the verdict as sentences, the most important ones first.

    Args:
        run: The run's JSON object with its `tables`.
        finding: The group that its counts show.
    """
    if run["disturbed"]:
        return [f"Disturbed, and therefore nothing is counted: {why}." for why in run["disturbed"]]
    found = [_group(run, finding)]
    if not run["complete"]:
        found.append("The run is not complete: go on with it by --resume.")
    if finding.group is not Group.UNKNOWN:
        found += _costs(run)
        found.append(_SETTINGS[finding.group])
        found.append(_KEEP)
    found += _oddities(run["summary"])
    return found


def _group(run: Json, finding: GroupFinding) -> str:
    group = finding.group
    if group is Group.UNKNOWN:
        return f"Unknown group: {finding.reason}."
    words = f"{group[0].upper()}{group[1:]}: {_GROUPS[group]} ({finding.reason})."
    if finding.batch is not None:
        words += f" The batch is {finding.batch:,} tokens."
    costs = costs_of(run["summary"])
    if group is Group.NO_REUSE and costs.repeats and max(costs.repeats) <= FEW:
        words += " An exact repeat is kept, so the server has a cache."
    if group is Group.TRUNCATES and run["memory"] in {"recurrent", "sliding window"}:
        words += (
            f" Its memory is {run['memory']} by its description: here the server keeps a state "
            "close enough to the question."
        )
    return words


def _costs(run: Json) -> Iterator[str]:
    summary, tables = run["summary"], run["tables"]
    costs = costs_of(summary)
    times = {row["conversation"]: row["prefillMs"] for row in tables["T1"]["rows"]}
    yield (
        f"A cold prompt reads {span(costs.cold)} tokens{_time(times['cold'])}; the first new "
        f"conversation on a system text {span(costs.first)}{_time(times['first new'])}, a later "
        f"one {span(costs.later)}{_time(times['later new'])}."
    )
    for row in tables["T4"]["rows"]:
        if row["pattern"] == "two conversations" and row["reRead"] is not None:
            yield (
                f"Two users at once: each turn re-reads {span(row['reRead'])} tokens; for one user "
                f"alone, a turn that goes on re-reads {span(costs.turns)}."
            )
    for row in tables["T5"]["rows"]:
        yield from _abandoned(summary, row)


def _abandoned(summary: Json, retry: Json) -> Iterator[str]:
    if retry["abandoned"] is False:
        yield (
            "An abandoned call was not measured: the model answers a cold prompt before the "
            "probe's client gives up."
        )
    if retry["waitMs"] is None or retry["cached"] is None:
        return
    waited = "took no longer than a warm call"
    if retry["waitMs"] > _A_MOMENT:
        waited = (
            f"took {duration(retry['waitMs'])} longer than a warm call, of which reading took "
            f"{duration(retry['prefillMs'])}"
        )
    cold = row_of(summary, Phase.IDENTICAL_REPEAT, "cold")
    limit = "" if cold is None else f", {duration(cold['totalMs'])} here"
    yield (
        f"An abandoned call: the same call again, 5 s later, {waited}, and found "
        f"{retry['cached']:,} of {retry['prompt']:,} tokens cached. A client's timeout has to be "
        f"longer than a cold prompt takes{limit}: giving up earlier saves nothing."
    )


def _time(milliseconds: Sequence[int] | None) -> str:
    """Return a range of times, to go behind a count; nothing if it is unknown."""
    return "" if milliseconds is None else f" in {durations(milliseconds)}"


def _oddities(summary: Json) -> Iterator[str]:
    """Yield what is strange about the answers themselves."""
    rows = [row for call in PLAN if (row := row_of(summary, call.phase, call.role)) is not None]
    digests = [row["replyDigest"] for row in rows if row["replyDigest"] is not None]
    if digests and all(one == digest("") for one in digests):
        yield (
            "All answers were empty: the model spent its 60 tokens on thinking, although it was "
            "asked not to. Turns were measured with empty answers in their history."
        )
    if different := _different_answers(summary):
        yield (
            f"{different} got another answer than the same request before, at temperature 0: the "
            "cache, or the way the model reads in pieces, changes what it says."
        )


def _different_answers(summary: Json) -> str:
    """Return the roles of repeats whose answer is not the one that they repeat."""
    pairs = [(before, call) for before, call in pairwise(PLAN) if call.kind is Kind.REPEAT]
    branch = {call.role: call for call in PLAN if call.phase is Phase.SECOND_BRANCH}
    pairs.append((branch["branch-1"], branch["branch-1-again"]))
    found = []
    for before, call in pairs:
        rows = [row_of(summary, one.phase, one.role) for one in (before, call)]
        known = [row for row in rows if row is not None and re_read(row) is not None]
        if len(known) == len(rows) and len({row["replyDigest"] for row in known}) > 1:
            found.append(call.role)
    return ", ".join(found)
