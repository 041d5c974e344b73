"""Requests that stay with the server they are meant for.

aiohttp follows a redirect to wherever it points, and takes the body along (307 and 308), or
leaves it out (301 to 303). A body here holds a person's words and the names of devices.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

from aiohttp import ClientResponse, ClientSession, ClientTimeout, hdrs
from yarl import URL

MOST_REDIRECTS: Final = 3
_REDIRECTS = {301, 302, 303, 307, 308}
_KEEP_THE_BODY = {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}
_LONGEST_HOST = 253


class SentElsewhereError(Exception):
    """A server answers with a redirect that is not followed."""

    def __init__(self, target: str | None = None) -> None:
        """Keep the address of the server that it points to, None if it points to no other."""
        super().__init__(target)
        self.target = target


@asynccontextmanager
async def staying(  # noqa: PLR0913 - what a request is made of
    session: ClientSession,
    method: str,
    base: str,
    path: str,
    *,
    body: Mapping[str, Any] | None,
    headers: Mapping[str, str],
    limits: ClientTimeout,
) -> AsyncIterator[ClientResponse]:
    """Send a request, and again where the same origin redirects it to, a few times at most.

    Raises SentElsewhereError, and whatever aiohttp does.
    """
    url = URL(base + path)
    for _ in range(MOST_REDIRECTS + 1):
        async with session.request(
            method,
            url,
            json=body,
            headers=headers,
            timeout=limits,
            allow_redirects=False,
            # Home Assistant's own looks at redirects only, fails at a broken one with ValueError,
            # and says of some that they are blocked, where a person needs to hear what they are.
            middlewares=(),
        ) as response:
            if response.status not in _REDIRECTS:
                yield response
                return
            url = _next(response, base, path)
    raise SentElsewhereError


def _next(response: ClientResponse, base: str, path: str) -> URL:
    """Return where a redirect leads to at the same origin. Raises SentElsewhereError."""
    location = response.headers.get(hdrs.LOCATION)
    try:
        target = response.url.join(URL(location or "")).with_user(None).with_fragment(None)
        origin = target.origin()
    except ValueError as err:
        raise SentElsewhereError from err
    if not location or target.scheme not in ("http", "https") or len(str(origin)) > _LONGEST_HOST:
        raise SentElsewhereError
    # As texts, in which a scheme's usual port is left out.
    if str(origin) != str(response.url.origin()):
        raise SentElsewhereError(_server(target, path))
    if response.method == hdrs.METH_POST and response.status not in _KEEP_THE_BODY:
        moved = _server(target, path)
        raise SentElsewhereError(moved if moved not in (base, str(origin)) else None)
    return target


def _server(target: URL, path: str) -> str:
    """Return the address of the server at which a redirect's target is a path of the API.

    Where it is none, only the origin is certain to be no secret.
    """
    at = target.raw_path.rstrip("/")
    if at.endswith(path) and len(at) <= _LONGEST_HOST:
        return str(target.origin().with_path(at.removesuffix(path), encoded=True)).rstrip("/")
    return str(target.origin())
