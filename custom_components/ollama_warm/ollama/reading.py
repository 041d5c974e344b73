"""Reads the answers of a server within limits that no honest one reaches.

Whatever is at the address may be no Ollama, or a broken one: a line without an end, a body of a
gigabyte, an object in an object a hundred thousand times over.
"""

from collections.abc import AsyncGenerator
import json
from typing import Any, Final, NoReturn

from aiohttp import ClientResponse, hdrs

MIB: Final = 1024**2
LONGEST_LINE: Final = 8 * MIB
"""One chunk of a stream, in bytes. Ollama sends a few hundred."""
LONGEST_BODY: Final = 32 * MIB
"""An answer in one piece, in bytes. That of `/api/show` is the longest, with some MB."""
LONGEST_STREAM: Final = 256 * MIB
"""An answer in chunks, in bytes: more than a million tokens."""
_LARGEST: Final = 2**63 - 1
"""What Go can count. Home Assistant's own JSON does not hold more, either."""
DEEPEST: Final = 100
"""How many objects and lists may stand in one another."""


class UnreadableError(Exception):
    """An answer is longer, or nested deeper, than any that makes sense."""


class BrokenError(Exception):
    """An answer is not JSON."""


def refuse_compressed(response: ClientResponse) -> None:
    """Raise UnreadableError for an answer that is compressed although none was asked for.

    A few kilobytes of it can become gigabytes.
    """
    if response.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
        raise UnreadableError


async def lines(response: ClientResponse) -> AsyncGenerator[bytes]:
    """Yield the lines of an answer that are not blank. Raises UnreadableError."""
    rest, total = b"", 0
    async for data in response.content.iter_any():
        total += len(data)
        *whole, last = data.split(b"\n")
        if whole:
            whole[0] = rest + whole[0]
            rest = last
        else:
            rest += last
        if total > LONGEST_STREAM or max(map(len, (rest, *whole))) > LONGEST_LINE:
            raise UnreadableError
        for line in whole:
            if line.strip():
                yield line
    if rest.strip():
        yield rest


async def body(response: ClientResponse) -> bytes:
    """Return the whole answer. Raises UnreadableError."""
    found = bytearray()
    async for data in response.content.iter_any():
        found += data
        if len(found) > LONGEST_BODY:
            raise UnreadableError
    return bytes(found)


def parsed(text: bytes | str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value of a text, without halves of characters.

    Raises BrokenError for what is no JSON, and UnreadableError for what is nested too deep.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError as err:
        raise UnreadableError from err
    except ValueError as err:
        raise BrokenError from err
    if _is_deep(value):
        raise UnreadableError
    return _cleaned(value)


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value that can be shown, stored and sent on."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(item) for key, item in value.items()}
    return value


def _refuse(constant: str) -> NoReturn:
    """Refuse what Python takes for JSON and JSON does not know: NaN and infinities."""
    raise ValueError(constant)


def _is_deep(value: object) -> bool:
    """Return whether a JSON value is nested deeper than anything that makes sense."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def clean(text: str) -> str:
    """Return a text without halves of characters, which JSON can hold and nothing else can."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def count(value: object) -> int | None:
    """Return a count, or None where the server gave none; 0 is a count like any other."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return value if value <= _LARGEST else None


def seconds(value: object) -> float | None:
    """Return the seconds of a duration in nanoseconds."""
    found = count(value)
    return None if found is None else found / 1e9
