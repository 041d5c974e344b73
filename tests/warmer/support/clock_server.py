"""A stand-in for Ollama that tells the counts a test wants, also those no real one would tell."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web
from click.testing import CliRunner, Result

from ollama_warmer.commands.clock import clock
from ollama_warmer.config.config import OllamaConfig
from tests.warmer.support.house import TOKEN

MODEL = "voice:8b"
PROMPT = 4800
FOREVER = "2318-05-10T12:00:00.123456789Z"

type Body = dict[str, Any]


def loaded(window: int = 8192, expires_at: str = FOREVER) -> Body:
    """Return an entry of /api/ps."""
    return {"name": MODEL, "model": MODEL, "context_length": window, "expires_at": expires_at}


def soon(**span: float) -> str:
    """Return a time from now as Ollama writes it."""
    return (datetime.now(UTC) + timedelta(**span)).isoformat().replace("+00:00", "Z")


@dataclass
class Server:
    """What the server says; every answer to a question reads `cached` of PROMPT tokens."""

    shown: Body = field(default_factory=lambda: {"capabilities": ["completion", "tools"]})
    ps: list[Body] = field(default_factory=lambda: [loaded()])
    prompt: int = PROMPT
    cached: Callable[[Body], int | None] = lambda _: PROMPT - 20
    load_s: float = 0.01
    delay: float = 0
    refuse_after: int | None = None
    bodies: list[Body] = field(default_factory=list)
    url: str = ""

    @property
    def config(self) -> OllamaConfig:
        """What a configuration would say of it."""
        return OllamaConfig(url=self.url, model=MODEL)

    async def chat(self, request: web.Request) -> web.Response:
        """Answer a question."""
        body = await request.json()
        if len(self.bodies) == self.refuse_after:
            return web.json_response({"error": "the model runner has stopped"}, status=500)
        self.bodies.append(body)
        await asyncio.sleep(self.delay)
        counts = {"prompt_eval_count": self.prompt, "prompt_eval_cached_count": self.cached(body)}
        times = {"total_duration": 3e9, "load_duration": self.load_s * 1e9}
        answer = {"message": {"role": "assistant", "content": "Mon"}, "done": True}
        known = {name: count for name, count in counts.items() if count is not None}
        durations = {name: int(time) for name, time in times.items()}
        return web.json_response(answer | known | durations | {"prompt_eval_duration": 2 * 10**9})


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Server]:
    """Serve on a free port of this machine, and tell the server its address."""

    async def version(_: web.Request) -> web.Response:
        return web.json_response({"version": "0.35.1"})

    async def show(_: web.Request) -> web.Response:
        return web.json_response(server.shown)

    async def ps(_: web.Request) -> web.Response:
        return web.json_response({"models": server.ps})

    app = web.Application()
    app.router.add_get("/api/version", version)
    app.router.add_get("/api/ps", ps)
    app.router.add_post("/api/show", show)
    app.router.add_post("/api/chat", server.chat)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


async def clocked(
    server: Server, *options: str, yes: bool = True, words: str | None = None
) -> Result:
    """Run the command against the server, and return what came of it."""
    arguments = [*(["--yes"] if yes else []), *options]
    if "--config" not in options:
        arguments += ["--url", server.url, "--model", MODEL]
    result = await asyncio.to_thread(
        CliRunner().invoke, clock, arguments, words, env={"HA_TOKEN": TOKEN}
    )
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert TOKEN not in result.output
    return result
