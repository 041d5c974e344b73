"""The 39 calls of the probe, in order, as data: nine phases, each a pattern of a chat's requests.

What a call costs depends on what the server read before it, so the order is part of the
measurement, and a phase cannot be taken out of it without the ones that it needs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Tag(StrEnum):
    """The system texts: one that most calls share, and four that are new when their phase comes."""

    ALPHA = "alpha"
    BRAVO = "bravo"
    CHARLIE = "charlie"
    DELTA = "delta"
    ECHO = "echo"


class Phase(StrEnum):
    """The nine phases, in order, by their published ids."""

    IDENTICAL_REPEAT = "identical-repeat"
    NEW_QUESTION = "new-question"
    GROWING = "growing-conversation"
    INTERLEAVED = "interleaved"
    RETRY = "retry-after-abort"
    ORDERING = "ordering"
    FIRST_DIVERGENCE = "first-divergence"
    TWO_CONVERSATIONS = "interleaved-conversations"
    SECOND_BRANCH = "second-branch"


class Kind(StrEnum):
    """What a call is to the server's cache: calls of one kind cost about the same."""

    COLD = "cold"
    """A system text that was never sent, and counts as one in the tables."""
    OTHER = "other"
    """The same, in the middle of another's calls."""
    REPEAT = "repeat"
    """Exactly the call before it."""
    FIRST_NEW = "first new conversation"
    """A new question, the first one on its system text."""
    LATER_NEW = "later new conversation"
    TURN = "turn"
    """The conversation of the call before it goes on."""
    BACK = "back"
    """An earlier call again, after another system text."""
    ABANDONED = "abandoned"
    """The client leaves before the answer."""
    RETRY = "retry"
    ALTERNATING = "alternating"
    """One of two conversations that take turns."""
    BRANCH = "branch"


# What depends on one of these phases is worth nothing without it: the shared text has to be in the
# cache, and the first new question on it is a case of its own (an MLX runner reads everything once
# more then). `interleaved` goes back to a state that the growing conversation left; `ordering`
# begins after another prompt; a retry's wait is compared with the exact repeat.
_FIRST_TWO = (Phase.IDENTICAL_REPEAT, Phase.NEW_QUESTION)
NEEDS: dict[Phase, tuple[Phase, ...]] = {
    Phase.IDENTICAL_REPEAT: (),
    Phase.NEW_QUESTION: (Phase.IDENTICAL_REPEAT,),
    Phase.GROWING: _FIRST_TWO,
    Phase.INTERLEAVED: (*_FIRST_TWO, Phase.GROWING),
    Phase.RETRY: (Phase.IDENTICAL_REPEAT,),
    Phase.ORDERING: (*_FIRST_TWO, Phase.RETRY),
    Phase.FIRST_DIVERGENCE: (),
    Phase.TWO_CONVERSATIONS: _FIRST_TWO,
    Phase.SECOND_BRANCH: _FIRST_TWO,
}
# Repeated at the start of a run that goes on from a file, to see whether the server still counts
# as it did: the batch is chosen again each time that a model is loaded.
ANCHOR = _FIRST_TWO


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request.

    Attributes:
        phase: The phase that it belongs to.
        role: Its published name, unique in the phase.
        tag: Its system text.
        question: The newest message of the user.
        kind: What it is to the cache.
        follows: Role of the call in the same phase whose conversation it goes on with.
    """

    phase: Phase
    role: str
    tag: Tag
    question: str
    kind: Kind
    follows: str | None = None


def _define(tag: Tag, term: int) -> str:
    return f"Define {tag}-term{term}."


def _calls(phase: Phase, tag: Tag, rows: Iterable[tuple[str, int, Kind]]) -> Iterator[Call]:
    """Yield calls that each ask for one term in a conversation of its own."""
    for role, term, kind in rows:
        yield Call(phase=phase, role=role, tag=tag, question=_define(tag, term), kind=kind)


def _growing() -> Iterator[Call]:
    phase, tag = Phase.GROWING, Tag.ALPHA
    yield from _calls(phase, tag, [("turn-1", 12, Kind.LATER_NEW)])
    rows = [
        ("turn-2", f"Now define {tag}-term15.", "turn-1"),
        ("turn-3", f"And {tag}-term18?", "turn-2"),
    ]
    for role, question, follows in rows:
        yield Call(
            phase=phase, role=role, tag=tag, question=question, kind=Kind.TURN, follows=follows
        )


def _ordering() -> Iterator[Call]:
    phase, tag, new = Phase.ORDERING, Tag.ALPHA, Kind.LATER_NEW
    rows = [
        *(("seed", 20, new), ("exact", 20, Kind.REPEAT), ("after-exact", 21, new)),
        *(("after-question", 22, new), ("after-question-2", 23, new)),
        *(("exact-2", 23, Kind.REPEAT), ("after-exact-2", 24, new), ("extend-base", 25, new)),
    ]
    yield from _calls(phase, tag, rows)
    question = f"Now define {tag}-term26."
    yield Call(
        phase=phase,
        role="extend",
        tag=tag,
        question=question,
        kind=Kind.TURN,
        follows="extend-base",
    )
    yield from _calls(phase, tag, [("after-extend", 27, new)])


def _first_divergence() -> Iterator[Call]:
    """Yield both arms: one asks a new question at once, the other repeats its first one before."""
    for tag in (Tag.DELTA, Tag.ECHO):
        rows = [(f"{tag}-cold", 7, Kind.COLD)]
        if tag is Tag.ECHO:
            rows.append((f"{tag}-exact", 7, Kind.REPEAT))
        rows.append((f"{tag}-fresh-1", 8, Kind.FIRST_NEW))
        rows += [(f"{tag}-fresh-{number}", 7 + number, Kind.LATER_NEW) for number in (2, 3)]
        yield from _calls(Phase.FIRST_DIVERGENCE, tag, rows)


def _two_conversations() -> Iterator[Call]:
    phase, tag, kind = Phase.TWO_CONVERSATIONS, Tag.ALPHA, Kind.ALTERNATING
    users = (("a", 3), ("b", 4))
    yield from _calls(phase, tag, [(f"{user}-turn-1", 10 * ten, kind) for user, ten in users])
    for turn in (2, 3):
        for user, ten in users:
            yield Call(
                phase=phase,
                role=f"{user}-turn-{turn}",
                tag=tag,
                question=f"Now define {tag}-term{ten}{turn - 1}1.",
                kind=kind,
                follows=f"{user}-turn-{turn - 1}",
            )


def _plan() -> Iterator[Call]:
    alpha = Tag.ALPHA
    rows = [("cold", 7, Kind.COLD), ("identical", 7, Kind.REPEAT)]
    yield from _calls(Phase.IDENTICAL_REPEAT, alpha, rows)
    yield Call(
        phase=Phase.NEW_QUESTION,
        role="new-question",
        tag=alpha,
        question=f"Define {alpha}-term9 instead.",
        kind=Kind.FIRST_NEW,
    )
    yield from _growing()
    yield from _calls(Phase.INTERLEAVED, Tag.BRAVO, [("other", 7, Kind.OTHER)])
    yield from _calls(Phase.INTERLEAVED, alpha, [("back-to-a", 7, Kind.BACK)])
    rows = [("aborted", 7, Kind.ABANDONED), ("retry", 7, Kind.RETRY)]
    yield from _calls(Phase.RETRY, Tag.CHARLIE, rows)
    yield from _ordering()
    yield from _first_divergence()
    yield from _two_conversations()
    branches = [("branch-1", 50), ("branch-2", 60), ("branch-1-again", 50), ("branch-3", 70)]
    yield from _calls(
        Phase.SECOND_BRANCH, alpha, [(role, term, Kind.BRANCH) for role, term in branches]
    )


PLAN: tuple[Call, ...] = tuple(_plan())

# One length of the sweep, each on a model that was reloaded: a shorter glossary is the
# beginning of a longer one, and would be found in the cache.
SWEEP_CALLS: tuple[Call, ...] = tuple(
    call for call in PLAN if call.role in {"cold", "new-question", "turn-1"}
)


def calls_of(phase: Phase) -> tuple[Call, ...]:
    """Return the calls of a phase, in order."""
    return tuple(call for call in PLAN if call.phase is phase)


def with_needed(chosen: Iterable[Phase]) -> tuple[Phase, ...]:
    """Return these phases and the ones that they need, in the plan's order."""
    wanted = set(chosen)
    wanted |= {needed for phase in wanted for needed in NEEDS[phase]}
    return tuple(phase for phase in Phase if phase in wanted)
