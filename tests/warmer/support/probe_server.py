"""A server that speaks like Ollama and keeps prompts by a rule, each rule one kind of build."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
import re
import time
from typing import Any, override

from aiohttp import web

Json = dict[str, Any]
Tokens = tuple[str, ...]

MODEL = "tiny:latest"
CONTEXT = 8192
_NANO = 1_000_000_000
_ANSWER = "It means what it says. "


def tokens_of(messages: Sequence[Json]) -> Tokens:
    """Return the tokens of a prompt: every word and every mark between them."""
    text = "".join(f"<{message['role']}>{message['content']}</>" for message in messages)
    return tuple(re.findall(r"\w+|\W", f"{text}<assistant>"))


def shared(one: Tokens, other: Tokens) -> int:
    """Return how many tokens two prompts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


class Rule:
    """Decides how many tokens of a prompt are cached; this one keeps nothing."""

    def read(self, prompt: Tokens, answer: Tokens) -> int:
        """Return the cached tokens of a prompt, and remember it with its answer."""
        del prompt, answer
        return 0


@dataclass
class Anywhere(Rule):
    """Goes on from any token of whatever was read before."""

    known: list[Tokens] = field(default_factory=list)

    @override
    def read(self, prompt: Tokens, answer: Tokens) -> int:
        """Take the longest beginning that any earlier prompt had."""
        found = max((shared(prompt, one) for one in self.known), default=0)
        self.known.append(prompt + answer)
        return min(found, len(prompt) - 1)


@dataclass
class OnceEach(Rule):
    """As Ollama's MLX runner does with a recurrent model.

    It keeps a state at the end of a prompt, at the end of its answer, and, while it reads a prompt
    that leaves a known one, at the place where it leaves it.
    """

    known: list[Tokens] = field(default_factory=list)
    states: set[Tokens] = field(default_factory=set)

    @override
    def read(self, prompt: Tokens, answer: Tokens) -> int:
        """Take the longest kept state that the prompt begins with."""
        most = len(prompt) - 1
        lengths = {len(state) for state in self.states if state == prompt[: len(state)]}
        cached = max((length for length in lengths if length <= most), default=0)
        branch = max((shared(prompt, one) for one in self.known), default=0)
        self.states |= {prompt[:branch], prompt[:-5], prompt, prompt + answer}
        self.known.append(prompt + answer)
        return cached


@dataclass
class Server:
    """The server; everything may be changed while it runs."""

    rule: Rule = field(default_factory=Anywhere)
    make_rule: Callable[[], Rule] = Anywhere
    version: str = "0.35.1"
    counts: bool = True
    context: int = CONTEXT
    others: list[str] = field(default_factory=list)
    keep_alive: timedelta = timedelta(minutes=10)
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds that it takes to answer a prompt with this word in it, once."""
    before: Callable[[Json], Json] = lambda _: {}
    """Returns what is to be different in the answer to a body."""
    bodies: list[Json] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)
    url: str = ""
    loaded: bool = False
    expires_at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def questions(self) -> list[str]:
        """The newest words of every request for an answer, without the one that loads the model."""
        return [body["messages"][-1]["content"] for body in self.bodies if "messages" in body][1:]

    async def chat(self, request: web.Request) -> web.Response:
        """Answer, or unload the model; a client that leaves does not stop the work."""
        body: Json = await request.json()
        self.bodies.append(body)
        self.ports.append(request.transport.get_extra_info("peername")[1])  # type: ignore[union-attr]
        if "messages" not in body:
            self.loaded, self.rule = False, self.make_rule()
            return web.json_response({"model": MODEL, "done": True, "done_reason": "unload"})
        started = time.monotonic()
        async with self._turn:
            return await self._answer(body, started)

    async def _answer(self, body: Json, started: float) -> web.Response:
        began = time.monotonic()
        self.loaded = True
        prompt = tokens_of(body["messages"])
        seconds = next((self.slow.pop(word) for word in list(self.slow) if word in prompt), 0.0)
        await asyncio.sleep(seconds)
        cached = self.rule.read(prompt, tuple(re.findall(r"\w+|\W", _ANSWER)))
        self.expires_at = datetime.now(UTC) + self.keep_alive
        now = time.monotonic()
        answer: Json = {
            "model": MODEL,
            "done": True,
            "done_reason": "stop",
            "message": {"role": "assistant", "content": _ANSWER},
            "prompt_eval_count": len(prompt),
            "prompt_eval_duration": int((now - began) * _NANO) + 1,
            "eval_duration": 1,
            "load_duration": 1,
            "total_duration": int((now - started) * _NANO) + 3,
        }
        if self.counts:
            answer["prompt_eval_cached_count"] = cached
        answer |= self.before(body)
        return web.json_response(answer, headers=answer.pop("headers", None))

    async def models(self, _: web.Request) -> web.Response:
        """List the model that is there."""
        entry = {"name": MODEL, "digest": "d1", "details": {"format": "gguf"}}
        return web.json_response({"models": [entry]})

    async def running(self, _: web.Request) -> web.Response:
        """List what is loaded."""
        expiry = self.expires_at.isoformat()
        ours = {"name": MODEL, "context_length": self.context, "expires_at": expiry}
        entries = [{"name": name, "context_length": CONTEXT} for name in self.others]
        return web.json_response({"models": [*([ours] if self.loaded else []), *entries]})


async def _show(_: web.Request) -> web.Response:
    info = {"general.architecture": "llama", "llama.block_count": 2}
    return web.json_response({"model_info": info, "details": {"format": "gguf"}})


@asynccontextmanager
async def serve(server: Server) -> AsyncIterator[Server]:
    """Let a server answer at its `url`."""

    async def version(_: web.Request) -> web.Response:
        return web.json_response({"version": server.version})

    app = web.Application(client_max_size=16 * 1024**2)
    app.router.add_post("/api/chat", server.chat)
    app.router.add_post("/api/show", _show)
    app.router.add_get("/api/tags", server.models)
    app.router.add_get("/api/ps", server.running)
    app.router.add_get("/api/version", version)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
