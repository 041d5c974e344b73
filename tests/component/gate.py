"""A proxy in front of the stand-in, which wants a credential, redirects, and keeps a record."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import hdrs, web
from aiohttp.test_utils import TestServer


@dataclass(frozen=True, slots=True)
class Visit:
    """One request as it arrived."""

    method: str
    path: str
    authorization: str | None
    body: bytes


@dataclass
class Gate:
    """What a proxy does with its visitors. `behind` is the address of the server it is for."""

    behind: str = ""
    wants: str | None = None
    """The only header that it accepts, None if it asks for none."""
    redirect: Callable[[str, str], tuple[int, str] | None] = lambda *_: None
    """(method, path) -> status and `Location` of the redirect, None to let a request pass."""
    url: str = ""
    visits: list[Visit] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        given = request.headers.get(hdrs.AUTHORIZATION)
        body = await request.read()
        self.visits.append(Visit(request.method, request.raw_path, given, body))
        if self.wants is not None and given != self.wants:
            return web.json_response({"error": "no"}, status=401)
        if target := self.redirect(request.method, request.raw_path):
            status, location = target
            return web.Response(status=status, headers={hdrs.LOCATION: location})
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, self.behind + request.path, data=body or None
            ) as response,
        ):
            return web.Response(
                body=await response.read(),
                status=response.status,
                headers={hdrs.CONTENT_TYPE: response.headers[hdrs.CONTENT_TYPE]},
            )


@asynccontextmanager
async def gate(behind: str = "", wants: str | None = None) -> AsyncGenerator[Gate]:
    """Open a proxy."""
    opened = Gate(behind, wants)
    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_route("*", "/{path:.*}", opened.answer)
    async with TestServer(app) as server:
        opened.url = str(server.make_url("")).rstrip("/")
        yield opened
