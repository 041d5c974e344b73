"""Finds the formats of logs: every subclass of `LogFormat` in a file of `counts/formats`."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
import pkgutil
import re
from typing import ClassVar

from ollama_warmer.counts import formats
from ollama_warmer.counts.requests import Requests
from ollama_warmer.ollama.facts import Runner

NUMBER = r"(\d{1,9})"  # longer ones are none of a log's
# A container's log file is JSON, with a backslash before each quotation mark.
QUOTE = r'\\?"'


@dataclass(frozen=True, kw_only=True)
class Start:
    """A process that is started for a model.

    Attributes:
        runner: The kind of program.
        command: Its program and arguments, and what stands behind them in the line.
    """

    runner: Runner
    command: str = ""


class LogFormat:
    """What one kind of server writes; a base that knows no line.

    Attributes:
        runner: Who writes so.
        starting: Finds the line that says that a process is started for a model; what its group
            `command` finds is that process's command.
        loaded: Finds the line that says that a model is in memory, which comes once for each.
        ready: Finds another line that says so, for the second time.
    """

    runner: ClassVar[Runner]
    starting: ClassVar[re.Pattern[str] | None] = None
    loaded: ClassVar[re.Pattern[str] | None] = None
    ready: ClassVar[re.Pattern[str] | None] = None

    def take(self, line: str, found: Requests) -> bool:  # noqa: ARG002 - it knows no line
        """Note what a line says of a request; return whether it is one of this format.

        No line may be taken by two formats.
        """
        return False

    def progress(self, line: str) -> float | None:  # noqa: ARG002 - it knows no line
        """Return which share of a prompt has been read, 0 to 1; none if the line does not say."""
        return None

    def start(self, line: str) -> Start | None:
        """Return the process that the line says is started; none if it says no such thing."""
        if self.starting is None or (match := self.starting.search(line)) is None:
            return None
        return Start(runner=self.runner, command=match["command"] or "")


def starting(program: str) -> re.Pattern[str]:
    """Return what finds Ollama's line about the start of a program, as it is called there."""
    return re.compile(
        rf"(?:msg={QUOTE}|llama\.go:\d+: )starting (?:{program})(?:{QUOTE}|\s*$)"
        r"(?: cmd=(?P<command>.*))?"
    )


@cache
def all_formats() -> tuple[LogFormat, ...]:
    """Return every format there is, in the order of their files."""
    modules = pkgutil.iter_modules(formats.__path__)
    found = (
        it
        for module in sorted(module.name for module in modules)
        for it in vars(import_module(f"{formats.__name__}.{module}")).values()
    )
    kinds = {it: None for it in found if isinstance(it, type) and issubclass(it, LogFormat)}
    return tuple(kind() for kind in kinds if kind is not LogFormat)
