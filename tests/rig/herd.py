"""A router in front of a model server that shows itself as Ollama Herd 0.11.4 does.

It passes everything on to the one server behind it, and adds and leaves out what Herd does: the
version of its own, the state of its fleet, its headers, and the short list of loaded models.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

type Json = dict[str, Any]

VERSION = "0.11.4"


@dataclass
class Herd:
    """A fleet of machines, all of which are the same server.

    Attributes:
        behind: Web address of that server.
        nodes: The names of the machines; the first one always wins.
        windows: Machine -> the window it tells, where that is not the server's own.
    """

    behind: str
    nodes: list[str] = field(default_factory=lambda: ["alpha"])
    windows: dict[str, int] = field(default_factory=dict)
    url: str = ""

    async def _ask(self, path: str) -> Json:
        async with ClientSession() as session, session.get(self.behind + path) as response:
            answer: Json = await response.json()
            return answer

    async def version(self, _: web.Request) -> web.Response:
        """Answer with both versions."""
        return web.json_response(await self._ask("/api/version") | {"herd_version": VERSION})

    async def loaded(self, _: web.Request) -> web.Response:
        """Answer with what Herd leaves of the models in memory."""
        models = (await self._ask("/api/ps"))["models"]
        kept = [{key: model[key] for key in ("name", "model", "size")} for model in models]
        named = [model | {"fleet_node": self.nodes[0]} for model in kept]
        return web.json_response({"models": named})

    async def status(self, _: web.Request) -> web.Response:
        """Answer with the fleet."""
        models = (await self._ask("/api/ps"))["models"]
        nodes = []
        for name in self.nodes:
            loaded = [
                {
                    "name": model["name"],
                    "context_length": self.windows.get(name, model["context_length"]),
                }
                for model in models
            ]
            nodes.append(
                {
                    "node_id": name,
                    "status": "online",
                    "ollama_url": self.behind,
                    "ollama": {"models_loaded": loaded},
                }
            )
        return web.json_response({"fleet": {"nodes_total": len(nodes)}, "nodes": nodes})

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        """Hand a request on, and its answer back with Herd's headers."""
        body = await request.read()
        async with (
            ClientSession() as session,
            session.request(request.method, self.behind + request.path, data=body) as answer,
        ):
            headers = {"X-Fleet-Node": self.nodes[0], "X-Fleet-Score": "90"}
            response = web.StreamResponse(
                status=answer.status, headers=headers | {"Content-Type": answer.content_type}
            )
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response


@asynccontextmanager
async def open_herd(behind: str) -> AsyncIterator[Herd]:
    """Serve a router in front of a model server, and tell it its address."""
    herd = Herd(behind)
    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_get("/api/version", herd.version)
    app.router.add_get("/api/ps", herd.loaded)
    app.router.add_get("/fleet/status", herd.status)
    app.router.add_route("*", "/{path:.*}", herd.pass_on)
    async with TestServer(app, host="127.0.0.1") as server:
        herd.url = str(server.make_url("")).rstrip("/")
        yield herd
