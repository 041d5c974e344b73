"""A template parsed, with the place of each of its expressions in the source.

Jinja's nodes know their line only. Here each token carries its number where Jinja looks for a
line, so a node knows the token that it was read from, and the token knows its place.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
import re
from typing import override

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

_NEWLINE = re.compile(r"\r\n|\r|\n")
# Tokens that the lexer yields and the parser never sees.
_UNSEEN = frozenset({
    "comment_begin", "comment", "comment_end", "whitespace", "raw_begin", "raw_end",
})  # fmt: skip
_OPEN = frozenset({"(", "[", "{"})
_CLOSE = frozenset({")", "]", "}"})
# What stands before the name of a filter or a test, which takes its arguments unseen.
_BEFORE_NAME = frozenset({"|", "is"})
_LONGEST = 60


class _Numbered(Extension):
    """Numbers the tokens on their way to the parser, downwards from -1."""

    @override
    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for number, token in enumerate(stream, start=1):
            yield token._replace(lineno=-number)


# The statements that Home Assistant's own templates know.
_ENVIRONMENT = Environment(  # noqa: S701 - nothing is rendered
    extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do", _Numbered]
)


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of the source: where it stands, with line and column from 1, and how it reads."""

    offset: int
    end: int
    line: int
    column: int
    text: str


class UnreadableError(Exception):
    """The template does not parse."""

    def __init__(self, place: Place) -> None:
        """Keep the place from which on it is not understood."""
        super().__init__()
        self.place = place


@dataclass(frozen=True, slots=True)
class _Lexeme:
    """A token as it stands in the source."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Source:
    """The source of a template."""

    def __init__(self, template: str) -> None:
        """Take the text as the lexer does: with one kind of line break."""
        lines = _NEWLINE.split(template)
        self.text = "\n".join(lines)
        self._lexemes: list[_Lexeme] = []
        self._lines = [0, *accumulate(len(line) + 1 for line in lines[:-1])]

    def parse(self) -> nodes.Template:
        """Return the syntax tree. Raises UnreadableError."""
        self._lex()
        try:
            return Parser(_ENVIRONMENT, self.text).parse()
        except TemplateSyntaxError as error:
            raise UnreadableError(self._place_of_error(error.lineno)) from error
        except (RecursionError, ValueError) as error:
            # Nested too deeply, or a number of more digits than Python reads.
            raise UnreadableError(self.whole) from error

    @property
    def whole(self) -> Place:
        """Return the place of the whole template."""
        return self._place(0, len(self.text))

    def place(self, node: nodes.Node) -> Place:
        """Return where an expression stands."""
        numbers = list(_numbers(node))
        first, last = self._whole(min(numbers), self._with_name(max(numbers)))
        return self._place(self._lexemes[first].start, self._lexemes[last].end)

    def _lex(self) -> None:
        """Find each token's place. What the lexer drops between tokens is white space."""
        at = 0
        try:
            for _, kind, text in _ENVIRONMENT.lex(self.text):
                start = self.text.index(text, at)
                at = start + len(text)
                if kind not in _UNSEEN:
                    self._lexemes.append(_Lexeme(start, text))
        except TemplateSyntaxError as error:
            raise UnreadableError(self._from(at)) from error

    def _place_of_error(self, lineno: int) -> Place:
        """Return where the parser stopped: at a token, or in a line where it met none."""
        if lineno < 0:
            return self._from(self._lexemes[-lineno - 1].start)
        return self._from(self._lines[lineno - 1])

    def _from(self, start: int) -> Place:
        """Return the rest of the source, from the first thing in it on."""
        blanks = len(self.text) - start - len(self.text[start:].lstrip())
        return self._place(start + blanks, len(self.text))

    def _place(self, start: int, end: int) -> Place:
        """Return a piece of the source, cut to one short line."""
        line = bisect_right(self._lines, start)
        text = " ".join(self.text[start : min(end, start + 4 * _LONGEST)].split())
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST - 1]}…"
        return Place(start, end, line, start - self._lines[line - 1] + 1, text)

    def _with_name(self, last: int) -> int:
        """Return the last token of an expression, given the last that one of its nodes has."""
        text = self._lexemes[last].text
        if text == "is":
            last += 2 if self._lexemes[last + 1].text == "not" else 1
        elif text == ".":
            last += 1
        elif text[0] in "'\"":
            while self._lexemes[last + 1].text[0] in "'\"":
                last += 1
        elif self._lexemes[last - 1].text in _BEFORE_NAME and self._lexemes[last + 1].text == "(":
            last += 1
        return last

    def _whole(self, first: int, last: int) -> tuple[int, int]:
        """Return the first and last token with all brackets closed that they open."""
        depth = lowest = 0
        for lexeme in self._lexemes[first : last + 1]:
            depth += _step(lexeme)
            lowest = min(lowest, depth)
        depth -= lowest
        while lowest < 0:
            first -= 1
            lowest += _step(self._lexemes[first])
        while depth > 0:
            last += 1
            depth += _step(self._lexemes[last])
        return first, last


def _step(lexeme: _Lexeme) -> int:
    """Return by how much a token changes the depth of brackets."""
    return (lexeme.text in _OPEN) - (lexeme.text in _CLOSE)


def _numbers(node: nodes.Node) -> Iterator[int]:
    """Yield the places in the list of tokens that a node and those within were read from."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.lineno is not None and one.lineno < 0:
            yield -one.lineno - 1
        waiting.extend(one.iter_child_nodes())
