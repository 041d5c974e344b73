"""System text as segments, the smallest pieces of a prompt that are moved as a whole.

A segment is a line, or a YAML list item with its continuation lines and all that it quotes, as
Home Assistant lists entities (PyYAML's block style). Segments carry no line break of their own:
`join(split(text)) == text` for every text, so a piece can be taken from the middle or the end
without a byte of the others changing.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
import re

_ITEM = "- "
_CONTINUATION = ("  ", "\t")
# YAML writes these for what they are, and the indent behind them.
_BREAKS = "\x85\u2028\u2029"
# What may stand in quotes, by kind of quote: the quote itself is doubled, or escaped.
_QUOTED = {"'": r"(?:[^']|'')*+", '"': r'(?:[^"\\]|\\.)*+\\?'}
# A line with a scalar, behind dashes and a key, whose quote is not closed on it.
_OPENED = re.compile(
    rf"""\s*(?:- +)*(?:[^\s'":][^'":]*: +)?(?:(?P<single>'){_QUOTED["'"]}|"{_QUOTED['"']})"""
)
# Quote -> a line within, a line with the end.
_IN_QUOTES = {
    quote: (re.compile(inner), re.compile(rf"{inner}{quote}\s*"))
    for quote, inner in _QUOTED.items()
}
# So many pairs of equal segments, for each segment, may be looked at to find the longest.
_MOST_PAIRS = 16
# So many steps may be taken to find the fewest changes, for each segment and at least; a turn costs
# as much as so many.
_MOST_STEPS = 24
_LEAST_STEPS = 24_000
_TURN = 10
_NOWHERE: tuple[int, object] = (-1, None)
# So often the space between two anchors may have anchors of its own.
_MOST_LEVELS = 4
# So many segments a segment that is repeated may have moved by.
_REACH = 32


def split(text: str) -> list[str]:
    """Return the segments of a text, in order, blank lines included as empty segments."""
    lines = text.split("\n")
    starts: list[int] = []
    in_item = False
    end = 0
    for index, line in enumerate(lines):
        if index < end:
            continue
        if not (in_item and line.startswith(_CONTINUATION) and line.strip()):
            starts.append(index)
            in_item = line.startswith(_ITEM)
        # Asked first, as it is much faster, and nearly no name is quoted.
        if in_item and ("'" in line or '"' in line):
            end = 1 + _end_of_quote(lines, index)
    starts.append(len(lines))
    return ["\n".join(lines[start:end]) for start, end in pairwise(starts)]


def _end_of_quote(lines: Sequence[str], index: int) -> int:
    """Return the last line of a quoted scalar that begins in a line, the line itself without one.

    A line break in a name is a blank line inside of quotes in YAML, and what follows it belongs
    to the name. Quotes that are never closed, or only beyond a line without indent, are none.
    """
    if not (opened := _OPENED.fullmatch(lines[index])):
        return index
    goes_on, ends = _IN_QUOTES["'" if opened["single"] else '"']
    for number in range(index + 1, len(lines)):
        line = lines[number]
        if line.strip() and not line.lstrip(_BREAKS).startswith(_CONTINUATION):
            break
        if ends.fullmatch(line):
            return number
        if not goes_on.fullmatch(line):
            break
    return index


def join(segments: Iterable[str]) -> str:
    """Return the text of these segments."""
    return "\n".join(segments)


def places(part: Sequence[str], whole: Sequence[str]) -> list[int] | None:
    """Return where each segment of `part` stands in `whole`, the first fit of each in order.

    None when `part` is not a subsequence of `whole`. Linear, as it runs on every turn.
    """
    found: list[int] = []
    wanted = iter(part)
    current = next(wanted, None)
    for index, segment in enumerate(whole):
        if current is None:
            break
        if segment == current:
            found.append(index)
            current = next(wanted, None)
    return found if current is None else None


def common(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return a common subsequence of two lists of segments, in about linear time.

    It is a longest one where segments are unique, where one list is short, where few are
    repeated, and where little has changed. Otherwise segments that are unique in both are
    anchors, and what stands between two anchors is compared for itself, unless more stays
    without them.
    """
    return _common(first, second, _MOST_LEVELS)


def _common(first: Sequence[str], second: Sequence[str], levels: int) -> list[str]:
    """Return a common subsequence: the same start, the same end, and what lies between."""
    start = 0
    end = min(len(first), len(second))
    while start < end and first[start] == second[start]:
        start += 1
    back = 0
    while back < end - start and first[-1 - back] == second[-1 - back]:
        back += 1
    if start + back == end:
        return [*first[:start], *first[len(first) - back :]]
    middle = _between(first[start : len(first) - back], second[start : len(second) - back], levels)
    return [*first[:start], *middle, *first[len(first) - back :]]


def _between(first: Sequence[str], second: Sequence[str], levels: int) -> list[str]:
    """Return a common subsequence of two lists that share no start and no end."""
    mine, theirs = Counter(first), Counter(second)
    pairs = sum(count * theirs[segment] for segment, count in mine.items())
    if pairs <= _MOST_PAIRS * (len(first) + len(second)):
        return _longest(first, second)
    # Once is enough, as it is for prompts in which little has changed.
    if levels == _MOST_LEVELS and (found := _with_few_changes(first, second)) is not None:
        return found
    unique = {segment for segment, count in mine.items() if count == theirs[segment] == 1}
    nearest = _nearest(first, second)
    if not unique or not levels:
        return nearest
    anchors = _longest([s for s in first if s in unique], [s for s in second if s in unique])
    result: list[str] = []
    here = there = 0
    for anchor in anchors:
        # Each stands once in either list, so no index is searched through twice.
        end, other_end = first.index(anchor, here), second.index(anchor, there)
        result += _common(first[here:end], second[there:other_end], levels - 1)
        result.append(anchor)
        here, there = end + 1, other_end + 1
    result += _common(first[here:], second[there:], levels - 1)
    # One anchor that has moved far may cost all the equal segments that it passed.
    return max(result, nearest, key=len)


def _longest(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return a longest common subsequence, by the method of Hunt and Szymanski.

    It looks at pairs of equal segments only, at each of them once.
    """
    where: dict[str, list[int]] = {}
    for index in range(len(second) - 1, -1, -1):
        where.setdefault(second[index], []).append(index)
    # ends[k] is the smallest place in `second` at which a common run of k + 1 segments ends.
    ends: list[int] = []
    links: list[tuple[str, object] | None] = []
    for segment in first:
        for index in where.get(segment, ()):
            length = bisect_left(ends, index)
            link = (segment, links[length - 1] if length else None)
            if length == len(ends):
                ends.append(index)
                links.append(link)
            else:
                ends[length] = index
                links[length] = link
    result: list[str] = []
    node: object = links[-1] if links else None
    while isinstance(node, tuple):
        result.append(node[0])
        node = node[1]
    return result[::-1]


def _with_few_changes(first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    """Return a longest common subsequence, None where that takes too many steps.

    By the greedy method of Myers: with each change more, as far as possible for each difference
    between the place in `first` and that in `second`.
    """
    steps = max(_LEAST_STEPS, _MOST_STEPS * (len(first) + len(second)))
    # Difference -> the place in `first` that was reached, and the equal runs on the way there.
    reached: dict[int, tuple[int, object]] = {1: (0, None)}
    changes = 0
    while steps > 0:
        for offset in range(-changes, changes + 1, 2):
            more, less = reached.get(offset + 1, _NOWHERE), reached.get(offset - 1, _NOWHERE)
            start, runs = more if less[0] < more[0] else (less[0] + 1, less[1])
            end = start
            while (
                end < len(first)
                and end - offset < len(second)
                and first[end] == second[end - offset]
            ):
                end += 1
            reached[offset] = end, (start, end, runs) if end > start else runs
            steps -= end - start + _TURN
            if end >= len(first) and end - offset >= len(second):
                return _in_runs(first, reached[offset][1])
        changes += 1
    return None


def _in_runs(segments: Sequence[str], runs: object) -> list[str]:
    """Return what is in runs of segments: each is start, end, and the runs before it."""
    found: list[Sequence[str]] = []
    while isinstance(runs, tuple):
        start, end, runs = runs
        found.append(segments[start:end])
    return [segment for run in reversed(found) for segment in run]


def _nearest(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return a common subsequence that takes the next equal segment, unless it is far away."""
    where: dict[str, list[int]] = {}
    for index, segment in enumerate(second):
        where.setdefault(segment, []).append(index)
    result: list[str] = []
    at = 0
    for number, segment in enumerate(first):
        places_of = where.get(segment, ())
        found = bisect_left(places_of, at)
        # No further than the rest of `second` is longer, or one segment would cost all behind it.
        longer = max(0, (len(second) - at) - (len(first) - number))
        if found < len(places_of) and places_of[found] - at <= longer + _REACH:
            result.append(segment)
            at = places_of[found] + 1
    return result
