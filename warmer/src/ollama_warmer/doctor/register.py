"""Finds the doctor's checks: every file of `doctor/checks` and what is marked in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum, auto
from importlib import import_module
import pkgutil

from ollama_warmer.doctor import checks
from ollama_warmer.doctor.findings import Finding
from ollama_warmer.doctor.seen import Seen

Look = Callable[[Seen], Iterable[Finding]]


class Part(IntEnum):
    """The parts of a report, in their order."""

    HOUSE = auto()
    SERVER = auto()
    MODEL = auto()
    LOG = auto()
    ANSWERS = auto()


@dataclass(frozen=True, order=True)
class Check:
    """A check and its place in the report.

    Attributes:
        part: The part of the report.
        place: Where in that part, the lowest first.
        name: The module and the function, for two that have the same place.
        look: Yields what is found; nothing where there is nothing to say.
    """

    part: Part
    place: int
    name: str
    look: Look


def check(part: Part, place: int) -> Callable[[Look], Check]:
    """Make a function that looks at what was seen a check of the doctor.

    Args:
        part: The part of the report that its findings stand in.
        place: Where in that part; leave room for others in between.
    """
    return lambda look: Check(part, place, f"{look.__module__}.{look.__name__}", look)


def all_checks() -> list[Check]:
    """Return every check there is, in the order of the report."""
    names = [f"{checks.__name__}.{module.name}" for module in pkgutil.iter_modules(checks.__path__)]
    found = {
        it for name in names for it in vars(import_module(name)).values() if isinstance(it, Check)
    }
    return sorted(found)
