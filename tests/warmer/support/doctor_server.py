"""A stand-in for Ollama that says whatever a test wants of itself and of one model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

MODEL = "qwen3:8b"
NUM_CTX = 8192

Json = dict[str, Any]


def entry(**more: object) -> Json:
    """Return a model in memory, wholly on the GPU and for ever, as /api/ps lists it."""
    return {
        "name": MODEL,
        "model": MODEL,
        "size": 1000,
        "size_vram": 1000,
        "expires_at": "2318-08-28T16:17:38.102345678Z",
        "context_length": NUM_CTX,
    } | more


def staying(seconds: float) -> Json:
    """Return a model that is unloaded in so many seconds."""
    return entry(expires_at=(datetime.now(UTC) + timedelta(seconds=seconds)).isoformat())


def shown(architecture: str = "qwen3", **more: object) -> Json:
    """Return what /api/show says of a model with attention alone."""
    return {
        "modelfile": "FROM /usr/share/ollama/.ollama/models/blobs/sha256-aaaa0001\n",
        "template": "{{ .System }}{{ .Prompt }}",
        "details": {"format": "gguf"},
        "model_info": {
            "general.architecture": architecture,
            f"{architecture}.context_length": 40_960,
        },
    } | more


@dataclass
class Server:
    """What it answers; a status instead of an object is an error."""

    version: Json = field(default_factory=lambda: {"version": "0.35.1"})
    models: list[str] = field(default_factory=lambda: [MODEL])
    loaded: list[Json] = field(default_factory=lambda: [entry()])
    shown: Json = field(default_factory=shown)
    fleet: Json | int = 404
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        """Answer whatever the doctor asks."""
        answers: dict[str, Json | int] = {
            "/api/version": self.version,
            "/api/tags": {"models": [{"name": it, "model": it} for it in self.models]},
            "/api/ps": {"models": self.loaded},
            "/api/show": self.shown,
            "/fleet/status": self.fleet,
        }
        answer = answers.get(request.path, 404)
        if isinstance(answer, int):
            return web.json_response({"error": "no"}, status=answer)
        return web.json_response(answer)


@asynccontextmanager
async def open_server(server: Server) -> AsyncIterator[Server]:
    """Serve it on a free port of this machine, and tell it its address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    async with TestServer(app, host="127.0.0.1") as running:
        server.url = str(running.make_url("")).rstrip("/")
        yield server
