"""Draws the conclusions of a run: its object with group, tables and verdict beside the counts."""

from typing import Any

from ollama_warmer.lab.probe.group import Group, GroupFinding, costs_of, group_of
from ollama_warmer.lab.probe.record import Record
from ollama_warmer.lab.probe.tables import tables
from ollama_warmer.lab.probe.verdict import verdict


def conclude(record: Record) -> dict[str, Any]:
    """Return the run's JSON object with everything that its counts say.

    Beside the published keys there are `group` (one of Group's), `batch` (tokens, or null),
    `reason` (why that group), `tables` (T1 to T7, or null if the run was disturbed) and `verdict`
    (sentences).
    """
    run = record.as_json()
    if record.disturbed:
        finding = GroupFinding(group=Group.UNKNOWN, reason=record.disturbed[0])
    else:
        finding = group_of(costs_of(run["summary"]))
    run["tables"] = tables(run, group=finding.group.value, batch=finding.batch)
    run |= {"group": finding.group.value, "batch": finding.batch, "reason": finding.reason}
    run["verdict"] = verdict(run, finding)
    return run
