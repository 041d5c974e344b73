"""What the model says in a test, in place of its own random words."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.rig.ollama import Scripted

type Json = dict[str, Any]
type Script = Callable[[Json], Scripted | None]


def says(*pieces: str) -> Script:
    """Answer every question with these words, streamed piece by piece."""
    return lambda _body: Scripted(content=list(pieces))


def call(tool: str, **arguments: object) -> Json:
    """Return a tool call in Ollama's form."""
    return {"function": {"name": tool, "arguments": arguments}}


def calls(*tool_calls: Json, then: str = "Done.") -> Script:
    """Call these tools for every question, and say something once they answered."""

    def script(body: Json) -> Scripted:
        if body["messages"][-1]["role"] == "tool":
            return Scripted(content=then)
        return Scripted(tool_calls=list(tool_calls))

    return script


def in_turn(*answers: Scripted) -> Script:
    """Give one answer after the other."""
    waiting: Iterator[Scripted] = iter(answers)
    return lambda _body: next(waiting)
