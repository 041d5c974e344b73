"""Where the instructions of an agent fail: not always, but as the house is now."""

from collections.abc import Container
import hashlib
import re
from traceback import walk_tb

from homeassistant.components.conversation import ConverseError
from homeassistant.exceptions import TemplateError

# What Jinja calls the code of a template without a file. Its lines are the template's (3.1).
_TEMPLATE = "<template>"
_PARTS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


class Failing:
    """The contexts in which an agent's instructions failed when they were tried last."""

    def __init__(self) -> None:
        self.tried = False
        self._lines: dict[str, int] = {}

    @property
    def line(self) -> int | None:
        """Return the first line that fails anywhere, None if none does."""
        return min(self._lines.values(), default=None)

    def works(self, context: str) -> None:
        """Note that a prompt could be built."""
        self.tried = True
        self._lines.pop(context, None)

    def fails(self, context: str, err: ConverseError, prompt: str) -> None:
        """Note why a prompt could not be built, if it is the instructions' fault."""
        if line := _line_of(err, prompt):
            self.tried = True
            self._lines[context] = line

    def forget(self, others: Container[str]) -> None:
        """Forget all contexts but these, as nothing is tried in any other now."""
        self._lines = {context: line for context, line in self._lines.items() if context in others}


def _line_of(err: ConverseError, prompt: str) -> int | None:
    """Return the line of the instructions that Home Assistant could not render, None if unknown.

    It is the outermost one: a macro that fails may come from another file. Home Assistant strips
    a template before it is read (2026.10).
    """
    cause = err.__cause__
    if not isinstance(cause, TemplateError) or cause.__cause__ is None:
        return None
    frames = walk_tb(cause.__cause__.__traceback__)
    lines = (line for frame, line in frames if frame.f_code.co_filename == _TEMPLATE)
    stripped = prompt[: len(prompt) - len(prompt.lstrip())].count("\n")
    return next((line + stripped for line in lines), None)


def parts_of(prompt: str, line: int) -> list[str]:
    """Return the expressions and statements of a template that a line has a part of."""
    return [
        found[0]
        for found in _PARTS.finditer(prompt)
        if prompt.count("\n", 0, found.start()) < line <= 1 + prompt.count("\n", 0, found.end())
    ]


def prompt_key(prompt: str) -> str:
    """Return a name for instructions, so that others are another matter."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:8]
