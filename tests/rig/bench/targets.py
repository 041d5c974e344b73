"""What is to be reached, as the design promises it, and what each turn's verdict has to be."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

from tests.rig.models import Memory

from .cells import Asked, Kind, Measured

# A recurrent model's checkpoint lies four tokens before the end of what was read ahead, and only
# the native path makes another one at the start of the question.
RENDERED_RECURRENT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The most that may be read again. None: nothing is promised."""

    re_read: int | None = None
    waste: int | None = None
    mean_re_read: int | None = None
    beside_conversation: int | None = None
    """Tokens beside those of the whole conversation."""
    beside_rest: int | None = None
    """Tokens beside those that are read where nothing ever happened, and those that changed."""
    full_prefills: int | None = None
    """How often the whole prompt is read, counting warm-ups."""

    def words(self) -> str:
        """Return the target for a table."""
        parts = [
            (self.re_read, "re-read ≤ {}"),
            (self.mean_re_read, "mean ≤ {}"),
            (self.waste, "waste ≤ {}"),
            (self.beside_conversation, "own + {}"),
            (self.beside_rest, "at rest + {}"),
            (self.full_prefills, "{} full read"),
        ]
        return ", ".join(text.format(value) for value, text in parts if value is not None)


ROOM = Target(re_read=64, waste=8)
TARGETS = {
    "rooms": ROOM,
    "app": Target(re_read=80, waste=8),
    "clock": Target(re_read=100, waste=8),
    "new_entity": Target(re_read=120, waste=8),
    "unexposed": ROOM,
    "midnight": Target(re_read=100, waste=8),
    "beyond_history": Target(mean_re_read=100),
    "home_assistant_restart": ROOM,
    "backend_restart": ROOM,
    "two_rooms": Target(beside_conversation=12),
    "foreign_prompt": ROOM,
    "two_apis": Target(waste=8),
    "user_names": Target(waste=8),
    "wake_word": Target(full_prefills=1),
    "numbered_rename": Target(re_read=64, waste=8, beside_rest=2),
    "set_up_before_exposing": Target(re_read=64, waste=8, beside_rest=2),
    "history_with_lists": Target(beside_rest=2),
}
# What a turn may read beside its conversation without anything being wrong.
FEW_TOKENS = 24
WARM, RIDES = "warm", "warm: rides_along"
BATCH_BACK = "server_lost_it: checkpoint"
FIRST, CHANGED = "prompt_changed: first_prompt", "prompt_changed: segment_changed"
# What the scenario did to the prompt or the server, as our agent has to name it, for the questions
# on the way, and for those that count. What is not here has to be warm. A clock is new at the first
# question and learned at the second. After the wake word, whichever of the two comes first reads
# everything, because the server was restarted.
EXPECTED_BEFORE = {
    "clock": {FIRST, CHANGED, WARM},
    "numbered_rename": {CHANGED},
    "history_with_lists": {CHANGED, WARM, RIDES},
}
EXPECTED = {
    "wake_word": {WARM, "server_lost_it: model_loaded"},
    # What changes is told to ride along, where it is more than a few tokens.
    "history_with_lists": {WARM, RIDES},
}
EXPECTED_AT_REST = {"history_with_lists": {WARM, RIDES}}


def allowance(kind: Kind) -> int:
    """Return how many tokens more this kind may read."""
    recurrent = kind.memory is Memory.RECURRENT and kind.path == "rendered"
    return RENDERED_RECURRENT if recurrent else 0


def misses(measured: Measured) -> list[str]:
    """Return what is not reached, empty if all is."""
    if measured.kind.by_chat:
        return list(measured.failures)
    target, more = TARGETS[measured.scenario], allowance(measured.kind)
    asked = measured.asked
    found = list(measured.failures)
    checks: list[tuple[str, Iterable[float], int | None]] = [
        ("re-read", (one.re_read for one in asked), target.re_read),
        ("waste", (one.waste for one in asked), target.waste),
        (
            "beside the conversation",
            (one.re_read - one.conversation for one in asked),
            target.beside_conversation,
        ),
        ("mean", [mean(one.re_read for one in asked)] if asked else (), target.mean_re_read),
    ]
    for what, values, limit in checks:
        worst = max(values, default=None)
        if limit is not None and worst is not None and worst > limit + more:
            found.append(f"{what} {worst:.0f} > {limit + more}")
    if target.beside_rest is not None:
        more_than = more_than_at_rest(measured)
        if len(more_than) != len(asked):
            found.append(f"{len(measured.at_rest)} questions at rest for {len(asked)}")
        if max(more_than, default=0) > target.beside_rest:
            found.append(f"beside those at rest {max(more_than)} > {target.beside_rest}")
    if not asked and not found:
        found.append("nothing was asked")
    if target.full_prefills is not None and measured.full_prefills != target.full_prefills:
        found.append(f"{measured.full_prefills} full reads")
    return found


def more_than_at_rest(measured: Measured) -> list[int]:
    """Return the tokens of each question that neither its words nor what changed accounts for."""
    changed = measured.changed or [0] * len(measured.asked)
    pairs = zip(measured.asked, measured.at_rest, changed, strict=False)
    return [one.beside_words - rest.beside_words - more for one, rest, more in pairs]


def wrong_verdicts(measured: Measured) -> list[str]:
    """Return the turns whose verdict is not what the scenario did."""

    def wrong(turns: Iterable[Asked], expected: set[str]) -> list[str]:
        return [
            f"“{one.verdict}” for {one.re_read}" for one in turns if one.verdict not in expected
        ]

    if measured.kind.by_chat:
        return wrong(measured.asked, {BATCH_BACK})
    before = EXPECTED_BEFORE.get(measured.scenario, {WARM})
    return [
        *wrong(measured.before, before),
        *wrong(measured.at_rest, EXPECTED_AT_REST.get(measured.scenario, {WARM})),
        *wrong(measured.asked, EXPECTED.get(measured.scenario, {WARM})),
    ]


def is_falsely_warm(one: Asked) -> bool:
    """Return whether a turn is called warm that read more than its conversation."""
    return one.verdict == WARM and one.re_read - one.conversation > FEW_TOKENS
