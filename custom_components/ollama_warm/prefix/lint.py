"""Moving parts in a prompt template, found before they cost anything.

`lint` reads the template and computes none of it, so it needs no Home Assistant. What it
reports is how often a piece of the prompt changes, which is how often a model server has to
read the prompt again from there on.
"""

from dataclasses import dataclass
from enum import StrEnum

from .lint_source import Place, Source, UnreadableError
from .lint_statements import Statements
from .lint_values import Mover

__all__ = ["ADVICE", "Finding", "Mover", "Severity", "lint"]


class Severity(StrEnum):
    """Whether a finding is worth a change of the template."""

    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of a template that moves. `mover` is the key of the advice's translation."""

    mover: Mover
    severity: Severity
    line: int
    """Counted from 1."""
    column: int
    """Counted from 1, where the expression begins."""
    expression: str
    """The expression in one line, at most 60 characters."""

    @property
    def advice(self) -> str:
        """Return what to do about it, in English."""
        return ADVICE[self.mover]


# What moves once a day, or with who is speaking where, is kept out of the prefix without harm.
_NOTES = frozenset({Mover.DAY, Mover.MONTH_OR_LONGER, Mover.PERSON, Mover.DEVICE})

ADVICE = {
    Mover.SECONDS: (
        "This changes every second, so no two prompts are the same. Leave it out: the model"
        " asks for the time with a tool when it needs it."
    ),
    Mover.MINUTES: (
        "This changes every minute. Leave it out: the model asks for the time with a tool when"
        " it needs it."
    ),
    Mover.HOURS: (
        "This changes with the hour, or a few times a day. Leave it out: the model asks for the"
        " time with a tool when it needs it."
    ),
    Mover.DAY: (
        "This changes once a day, and the prompt is read again after midnight, before anyone"
        " asks. Keep it on a line of its own."
    ),
    Mover.MONTH_OR_LONGER: "This changes once a month or less often. It can stay.",
    Mover.STATE: (
        "This changes whenever the entity does. Expose the entity instead: the model asks for"
        " its state with a tool when it needs it."
    ),
    Mover.RANDOM: "This is another text every time. Write one fixed text instead.",
    Mover.RELATIVE_TIME: (
        "This changes as time passes. Leave it out, or write the fixed time that it is counted"
        " from."
    ),
    Mover.PERSON: (
        "This differs from person to person and is sent with the question. Keep it on a line of"
        " its own."
    ),
    Mover.DEVICE: (
        "This differs from device to device and is sent with the question. Keep it on a line of"
        " its own."
    ),
    Mover.SYNTAX: (
        "Home Assistant cannot read the template from here on. Correct it, or the agent cannot"
        " answer."
    ),
}


def lint(template: str) -> list[Finding]:
    """Return what moves in the text of a template, in the order of the source.

    Never raises: a template that cannot be read is a finding.
    """
    source = Source(template)
    statements = Statements()
    try:
        statements.walk(source.parse().body)
    except UnreadableError as error:
        return [_finding(Mover.SYNTAX, error.place)]
    except RecursionError:
        # Jinja would not compile it, either.
        return [_finding(Mover.SYNTAX, source.whole)]
    places = [(source.place(node), mover) for mover, node in statements.moving]
    # Of expressions that begin at the same place, the whole one is reported.
    places.sort(key=lambda one: (one[0].offset, one[1], one[0].end))
    found = {(place.offset, mover): _finding(mover, place) for place, mover in places}
    return list(found.values())


def _finding(mover: Mover, place: Place) -> Finding:
    severity = Severity.NOTE if mover in _NOTES else Severity.WARNING
    return Finding(mover, severity, place.line, place.column, place.text)
