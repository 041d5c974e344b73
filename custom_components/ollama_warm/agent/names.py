"""Whether a text names a thing: as whole words, in any case and any script."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
import re
from typing import Any
import unicodedata

_WITHHELD = "(no longer available)"
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")

# Where intents, their results and the lists of devices of Home Assistant name kinds and places.
_NO_NAMES = frozenset(
    {"area", "areas", "floor", "floors", "domain", "domains", "device_class", "type"}
    | {"preferred_area_id", "preferred_floor_id"}
)


class _Letters(dict[int, str]):
    """What each character becomes where names are compared, found out once for each."""

    def __missing__(self, code: int) -> str:
        """Keep letters, digits and the marks of scripts that have no words without them."""
        char = chr(code)
        category = unicodedata.category(char)
        kept = char.isalnum() or category[0] == "M"
        # What only joins, parts or directs the letters around it is not seen.
        self[code] = "" if category == "Cf" else char if kept else " "
        return self[code]


# Marks that people leave out, or that only say how a sign is drawn: accents of Latin, Greek and
# Cyrillic letters, vowels and joins of Hebrew and Arabic ones, keycaps and variants of emoji.
_LEFT_OUT = (
    *range(0x300, 0x370),
    *range(0x591, 0x5C8),
    *range(0x610, 0x61B),
    0x640,
    *range(0x64B, 0x660),
    0x670,
    *range(0x180B, 0x1810),
    0x20E3,
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
)
# A Turkish dot and strokes through letters are accents, too; a Persian half space is a space.
_LETTERS = _Letters(
    dict.fromkeys(_LEFT_OUT, "") | {0x131: "i", 0x111: "d", 0xF8: "o", 0x142: "l", 0x200C: " "}
)


def fold(text: str) -> str:
    """Return the words of a text: what stands between them, case and accents do not matter."""
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    text = unicodedata.normalize("NFKD", text).casefold()
    # Korean letters are put together again, or one syllable would begin like another.
    return unicodedata.normalize("NFC", " ".join(text.translate(_LETTERS).split()))


def _symbols_in(text: str) -> str:
    """Return the signs of a text that mean something without words, such as emoji."""
    return "".join(s for s in text if not s.isascii() and unicodedata.category(s)[0] == "S")


def texts_in(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield all texts in a JSON value, the keys of its objects as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item)


def names_in(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield the values in a JSON value, and in lists of devices, that say no kind and no place."""
    if isinstance(value, str):
        yield "\n".join(line for line in value.split("\n") if _key_of(line) not in _NO_NAMES)
    elif isinstance(value, dict):
        if str(value.get("type")) not in _NO_NAMES:
            for key, item in value.items():
                if key not in _NO_NAMES:
                    yield from names_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from names_in(item)


def _key_of(line: str) -> str:
    """Return the key of a line of YAML, any text for another line."""
    return line.partition(":")[0].lstrip(" -")


@dataclass(frozen=True)
class Name:
    """A name of a thing. A house has thousands, so its words are found out once, when asked for."""

    text: str

    @cached_property
    def folded(self) -> str:
        """Its words."""
        return fold(self.text)


class Unsaid:
    """The names of things that may no longer be named."""

    def __init__(
        self, gone: Iterable[tuple[Name, datetime]] = (), here: Iterable[Name] = ()
    ) -> None:
        """Take names with when their things were found gone, and the names of what is there."""
        self._here: set[str] = set()
        self._gone: dict[str, datetime] = {}
        self._symbols: dict[str, datetime] = {}
        self._longer: dict[str, list[str]] = {}
        symbols_here: set[str] = set()
        for name in here:
            if name.folded:
                self._here.add(name.folded)
            else:
                symbols_here.add(_symbols_in(name.text))
        for name, when in gone:
            if folded := name.folded:
                if folded not in self._here:
                    self._gone[folded] = max(when, self._gone.get(folded, when))
            elif (symbols := _symbols_in(name.text)) and symbols not in symbols_here:
                self._symbols[symbols] = max(when, self._symbols.get(symbols, when))

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self._gone or self._symbols)

    def in_text(self, text: str, since: datetime, said: str = "") -> bool:
        """Return whether a text of this time names a thing that has gone since.

        What is `said` already, folded, does not count.
        """
        if self._symbols:
            symbols = _symbols_in(text)
            if any(when >= since and name in symbols for name, when in self._symbols.items()):
                return True
        folded = fold(text)
        return any(
            when >= since and self._names(folded, name) and not (said and self._names(said, name))
            for name, when in self._gone.items()
        )

    def withheld(self, value: Any, since: datetime, said: str = "") -> Any:  # noqa: ANN401 - JSON
        """Return a JSON value with other words for each text that names such a thing."""
        if isinstance(value, str):
            return _WITHHELD if self.in_text(value, since, said) else value
        if isinstance(value, dict):
            return {
                self.withheld(key, since, said): self.withheld(item, since, said)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.withheld(item, since, said) for item in value]
        return value

    def _names(self, text: str, name: str) -> bool:
        """Return whether a folded text has a name other than in a longer one of what is there."""
        return any(not self._is_covered(text, name, place) for place in _places(text, name))

    def _is_covered(self, text: str, name: str, place: int) -> bool:
        """Return whether the name at a place is a part of a longer one, of what is there."""
        if name not in self._longer:
            self._longer[name] = [longer for longer in self._here if name in longer]
        return any(
            place - offset in _places(text, longer)
            for longer in self._longer[name]
            for offset in _places(longer, name)
        )


def _places(text: str, name: str) -> list[int]:
    """Return where a folded text has a name as whole words."""
    found = []
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        before, after = text[place - 1 : place] if place else "", text[end : end + 1]
        if not (_are_one_word(before, name[0]) or _are_one_word(name[-1], after)):
            found.append(place)
        place = text.find(name, place + 1)
    return found


def _are_one_word(first: str, second: str) -> bool:
    """Return whether two characters in a row belong to one word.

    Only scripts with two cases are sure to put spaces between words, and to join nothing else
    to them: Chinese and Thai have no spaces, Korean and Hebrew join particles to a name.
    """
    return all(char.isdigit() or char.upper() != char for char in (first, second)) and bool(
        first and second
    )
