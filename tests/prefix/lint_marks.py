"""Templates with their findings marked in them: `{{ ⟦hours:now().hour⟧ }}`."""

import re

from custom_components.ollama_warm.prefix.lint import lint

_MARK = re.compile(r"⟦(\w+):|⟧")


def _place(text: str) -> str:
    """Return the line and column behind a text."""
    return f"{text.count('\n') + 1}:{len(text) - text.rfind('\n')}"


def read(marked: str) -> tuple[str, list[str]]:
    """Return the template without its marks, and the findings that they stand for."""
    template = ""
    opened: list[tuple[int, str]] = []
    found: list[tuple[int, str]] = []
    at = 0
    for mark in _MARK.finditer(marked):
        template += marked[at : mark.start()]
        at = mark.end()
        if mark[1]:
            opened.append((len(template), mark[1]))
        else:
            start, kind = opened.pop()
            text = " ".join(template[start:].split())
            found.append((start, f"{kind} {_place(template[:start])} {text}"))
    return template + marked[at:], [finding for _, finding in sorted(found)]


def findings(template: str) -> list[str]:
    """Return the findings of a template in the same form."""
    return [f"{one.mover} {one.line}:{one.column} {one.expression}" for one in lint(template)]


def check(marked: str) -> None:
    """Assert that a template has the findings that are marked in it, and no others."""
    template, expected = read(marked)
    assert findings(template.replace("\n", "\r\n")) == expected
    assert findings(template) == expected
