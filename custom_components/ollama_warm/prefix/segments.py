"""System text as segments, the smallest pieces of a prompt that are moved as a whole.

A segment is a line, or a YAML list item with its continuation lines. Segments carry no line
break of their own: `join(split(text)) == text` for every text, so a piece can be taken from
the middle or the end without a byte of the others changing.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

_ITEM = "- "
_CONTINUATION = ("  ", "\t")


def split(text: str) -> list[str]:
    """Return the segments of a text, in order, blank lines included as empty segments."""
    segments: list[str] = []
    in_item = False
    for line in text.split("\n"):
        if in_item and line.startswith(_CONTINUATION) and line.strip():
            segments[-1] += f"\n{line}"
            continue
        in_item = is_item(line)
        segments.append(line)
    return segments


def join(segments: Iterable[str]) -> str:
    """Return the text of these segments."""
    return "\n".join(segments)


def is_item(segment: str) -> bool:
    """Return whether a segment is a YAML list item, as entities are listed in a prompt."""
    return segment.startswith(_ITEM)


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
    """Return a longest common subsequence of two lists of segments.

    Nearly all segments of a prompt are unique, so the method of Hunt and Szymanski, which looks
    at matching pairs only, is close to linear here.
    """
    start = 0
    end = min(len(first), len(second))
    while start < end and first[start] == second[start]:
        start += 1
    back = 0
    while back < end - start and first[-1 - back] == second[-1 - back]:
        back += 1
    middle = _longest(first[start : len(first) - back], second[start : len(second) - back])
    return [*first[:start], *middle, *first[len(first) - back :]]


def _longest(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return a longest common subsequence of two lists that share no start and no end."""
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
