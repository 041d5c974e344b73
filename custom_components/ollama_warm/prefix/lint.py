"""Moving parts in a prompt template, found before they cost anything.

`lint` reads the template and computes none of it, so it needs no Home Assistant. What it
tells is how often a piece of the prompt changes, which is how often a model server has to
read the prompt again from there on.
"""

from dataclasses import dataclass
from enum import StrEnum

from .lint_source import Place, Source, UnreadableError
from .lint_statements import Statements
from .lint_values import Kind

__all__ = ["ADVICE", "Finding", "Kind", "Severity", "lint"]


class Severity(StrEnum):
    """Whether a finding is worth a change of the template."""

    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of a template that moves. `kind` is the key of the advice's translation."""

    kind: Kind
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
        return ADVICE[self.kind]


# What moves once a day, or with who is speaking where, is kept out of the prefix without harm.
_NOTES = frozenset({Kind.DAY, Kind.MONTH_OR_LONGER, Kind.PERSON, Kind.DEVICE})

ADVICE = {
    Kind.SECONDS: (
        "This changes every second, so no two prompts are the same. Leave it out: the model"
        " asks for the time with a tool when it needs it."
    ),
    Kind.MINUTES: (
        "This changes every minute. Leave it out: the model asks for the time with a tool when"
        " it needs it."
    ),
    Kind.HOURS: (
        "This changes with the hour, or a few times a day. Leave it out: the model asks for the"
        " time with a tool when it needs it."
    ),
    Kind.DAY: (
        "This changes once a day, and the prompt is read again after midnight, before anybody"
        " asks. Keep it on a line of its own."
    ),
    Kind.MONTH_OR_LONGER: "This changes once a month or less often. It can stay.",
    Kind.STATE: (
        "This changes whenever the entity does. Expose the entity instead: the model asks for"
        " its state with a tool when it needs it."
    ),
    Kind.RANDOM: "This is another text every time. Write one fixed text instead.",
    Kind.RELATIVE_TIME: (
        "This changes as time passes. Leave it out, or write the fixed time that it is counted"
        " from."
    ),
    Kind.PERSON: (
        "This differs from person to person and is sent with the question. Keep it on a line of"
        " its own."
    ),
    Kind.DEVICE: (
        "This differs from device to device and is sent with the question. Keep it on a line of"
        " its own."
    ),
    Kind.SYNTAX: (
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
        return [_finding(Kind.SYNTAX, error.place)]
    except RecursionError:
        # Jinja would not compile it, either.
        return [_finding(Kind.SYNTAX, source.whole)]
    places = [(source.place(node), kind) for kind, node in statements.moving]
    # Of expressions that begin at the same place, the whole one is told.
    places.sort(key=lambda one: (one[0].offset, one[1], one[0].end))
    found = {(place.offset, kind): _finding(kind, place) for place, kind in places}
    return list(found.values())


def _finding(kind: Kind, place: Place) -> Finding:
    severity = Severity.NOTE if kind in _NOTES else Severity.WARNING
    return Finding(kind, severity, place.line, place.column, place.text)
