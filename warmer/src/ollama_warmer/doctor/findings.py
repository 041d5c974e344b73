"""What the doctor says of one thing: a level, the words for it, and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How something stands. What could not be found out is unknown, and never ok."""

    OK = "ok"
    ADVICE = "advice"
    PROBLEM = "problem"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the doctor.

    Attributes:
        id: What was looked at, in a word that never changes; no two findings share one.
        level: How it stands.
        subject: The part of the whole that it belongs to.
        words: What was found, without a full stop.
        advice: What to do, without a full stop; none where there is nothing to do.
    """

    id: str
    level: Level
    subject: str
    words: str
    advice: str | None = None

    def __post_init__(self) -> None:
        """Take away the full stops of words that came from elsewhere: one is put behind them."""
        object.__setattr__(self, "words", self.words.rstrip("."))
        if self.advice is not None:
            object.__setattr__(self, "advice", self.advice.rstrip("."))


@dataclass(frozen=True)
class Subject:
    """Writes findings about one part of the whole."""

    name: str

    def ok(self, check: str, words: str) -> Finding:
        """Return a finding that all is well."""
        return Finding(id=check, level=Level.OK, subject=self.name, words=words)

    def advice(self, check: str, words: str, advice: str) -> Finding:
        """Return a finding of something that could be better."""
        return Finding(id=check, level=Level.ADVICE, subject=self.name, words=words, advice=advice)

    def problem(self, check: str, words: str, advice: str) -> Finding:
        """Return a finding of something that costs a person time, or hides that it does."""
        return Finding(id=check, level=Level.PROBLEM, subject=self.name, words=words, advice=advice)

    def trouble(self, check: str, error: str) -> Finding:
        """Return a problem from an error's sentences, the last of which says what to do."""
        words, _, advice = error.rpartition(". ")
        return Finding(
            id=check,
            level=Level.PROBLEM,
            subject=self.name,
            words=words or advice,
            advice=advice if words else None,
        )

    def unknown(self, check: str, words: str, advice: str | None = None) -> Finding:
        """Return a finding of something that could not be found out."""
        return Finding(id=check, level=Level.UNKNOWN, subject=self.name, words=words, advice=advice)


HOME_ASSISTANT = Subject("Home Assistant")
OLLAMA = Subject("Ollama")
MODEL = Subject("Model")
LOG = Subject("Log")
ROUTER = Subject("Router")
MEASUREMENT = Subject("Measurement")


def at(findings: Iterable[Finding], level: Level) -> list[Finding]:
    """Return the findings of one level."""
    return [finding for finding in findings if finding.level is level]


def tokens(count: int) -> str:
    """Return a number of tokens as sentences write it."""
    return f"{count:,}"


def many(count: int, thing: str) -> str:
    """Return a number of things as sentences write it; the plural ends in s."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def span(seconds: float) -> str:
    """Return a span of time as sentences write it, in its two largest units."""
    rest = round(seconds)
    parts: list[str] = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, rest = divmod(rest, size)
        if number or parts:
            parts.append(f"{number} {unit}" if number else "")
    return " ".join(part for part in parts[:2] if part) or "0 s"
