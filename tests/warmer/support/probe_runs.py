"""Runs of the probe as tests want them: made up from what each kind of call re-reads."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ollama_warmer.lab.probe.plan import PLAN, Call, Kind, Phase, calls_of
from ollama_warmer.lab.probe.prompts import SystemSource
from ollama_warmer.lab.probe.record import Conditions, Record, Taken
from ollama_warmer.lab.probe.runner import Settings
from ollama_warmer.lab.probe.session import Order, Session, new_session, run_session
from ollama_warmer.lab.probe.survey import look_at
from ollama_warmer.ollama.client import open_ollama
from tests.warmer.support.probe_server import MODEL, Server

PROMPT = 3178
# An attention-only build.
ANYWHERE = dict.fromkeys(Kind, 7) | {
    Kind.COLD: PROMPT - 28,
    Kind.OTHER: PROMPT - 28,
    Kind.REPEAT: 1,
    Kind.TURN: 16,
    Kind.RETRY: 1,
}
# A recurrent one whose prompt Ollama renders, and one on the MLX runner.
BATCH = ANYWHERE | {Kind.FIRST_NEW: 1025, Kind.LATER_NEW: 1024, Kind.BACK: 1024}
ONCE = ANYWHERE | {Kind.FIRST_NEW: PROMPT - 4}


def record(
    costs: Mapping[Kind, int | None] = ANYWHERE,
    *,
    changed: Mapping[str, Mapping[str, Any]] | None = None,
    phases: tuple[Phase, ...] = tuple(Phase),
) -> Record:
    """Return a complete run.

    Args:
        costs: Tokens that each kind of call re-reads; None for a server that tells no counts.
        changed: Values of single calls, by role.
        phases: The phases that were run.
    """
    made = _empty(phases)
    for call in PLAN:
        if call.phase not in phases:
            continue
        taken = _taken(call, costs[call.kind], PROMPT + 30 * _turns_before(call))
        taken = replace(taken, **(changed or {}).get(call.role, {}))
        made.phases.setdefault(call.phase, []).append(taken)
    return made


def summary(
    costs: Mapping[Kind, int | None] = ANYWHERE,
    *,
    changed: Mapping[str, Mapping[str, Any]] | None = None,
    phases: tuple[Phase, ...] = tuple(Phase),
) -> dict[str, Any]:
    """Return the summary of such a run."""
    found: dict[str, Any] = record(costs, changed=changed, phases=phases).as_json()["summary"]
    return found


def _turns_before(call: Call) -> int:
    before = next((it for it in calls_of(call.phase) if it.role == call.follows), None)
    return 0 if before is None else 1 + _turns_before(before)


def _taken(call: Call, cost: int | None, prompt: int) -> Taken:
    if call.kind is Kind.ABANDONED:
        return Taken(call=call, trouble="TimeoutError")
    return Taken(
        call=call,
        prompt=prompt,
        cached=None if cost is None else prompt - cost,
        prefill_ms=cost,
        total_ms=None if cost is None else cost + 100,
        reply_digest="0123456789ab",
        reply_chars=20,
        passed=True,
    )


def _empty(wanted: tuple[Phase, ...]) -> Record:
    conditions = Conditions(
        model=MODEL,
        model_digest="d1",
        ollama="0.35.1",
        variant="entries300",
        entries=300,
        system_source="glossary",
        num_ctx=8192,
    )
    return Record(
        conditions=conditions,
        machine="a machine",
        measured_at="2026-11-30",
        environment={"OLLAMA_NUM_PARALLEL": "unset"},
        memory="attention-only",
        runner="llama-server",
        wanted=wanted,
    )


class Watcher:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        """Be told nothing yet."""
        self.plans: list[int] = []
        self.asked: list[str] = []
        self.seen: list[Taken] = []
        self.notes: list[str] = []

    def starting(self, calls: object) -> None:
        """Keep how many calls are to come."""
        self.plans.append(len(calls))  # type: ignore[arg-type]

    def asking(self, call: Call) -> None:
        """Keep the role."""
        self.asked.append(call.role)

    def answered(self, taken: Taken, seconds: float) -> None:
        """Keep the outcome."""
        del seconds
        self.seen.append(taken)

    def note(self, words: str) -> None:
        """Keep the words."""
        self.notes.append(words)


def quick(settings: Settings) -> Settings:
    """Return settings that do not wait for what needs no time in a test."""
    return replace(settings, abandon_after=0.05, wait=0.01, patience=0.3)


async def session_for(server: Server, output: Path, **order: Any) -> Session:  # noqa: ANN401
    """Return a new run against a server, with its file in a folder."""
    async with open_ollama(server.url) as ollama:
        survey = await look_at(ollama, MODEL)
    given: dict[str, Any] = {
        "source": SystemSource(),
        "output": output,
        "machine": "a machine",
    } | order
    return new_session(Order(**given), survey, server.url, {})


async def run(server: Server, session: Session, watcher: Watcher | None = None) -> dict[str, Any]:
    """Run a session without waiting, and return the object in its file."""
    async with open_ollama(server.url) as ollama:
        return await run_session(ollama, session, watcher or Watcher(), paced=quick)
