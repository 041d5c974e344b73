"""One chat or generate request to the stand-in, from its body to its last chunk."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import cached_property
import time
from typing import cast

from aiohttp import ClientSession, web

from tests.rig.llama import LlamaServer
from tests.rig.models import Memory
from tests.rig.ollama_engine import BackendError, Engine, Json, Piece, Think, Timings, conversation
from tests.rig.ollama_outlet import Outlet
from tests.rig.ollama_runner import Runner, RunnerOptions, keep_alive_seconds
from tests.rig.ollama_shapes import (
    Record,
    Scripted,
    ServedModel,
    chat_part,
    generate_part,
    metrics,
    now,
    version_numbers,
)
from tests.rig.vocabulary import BEGIN_OF_TEXT

type Script = Callable[[Json], Scripted | None]

# Ollama keeps this many tokens of the front of a prompt that is too long.
NUM_KEEP = 4
RENDER_ONLY_SINCE = (0, 11, 5)


def refusal(model: ServedModel, body: Json) -> str | None:
    """Return what Ollama says to a request that this model cannot answer."""
    if body.get("tools") and "tools" not in model.capabilities:
        return f"registry.ollama.ai/library/{model.full_name} does not support tools"
    if body.get("think") and "thinking" not in model.capabilities:
        return f'"{body["model"]}" does not support thinking'
    if body.get("raw") and any(body.get(key) for key in ("template", "system", "context")):
        return "raw mode does not support template, system, or context"
    try:
        keep_alive_seconds(body.get("keep_alive"))
    except ValueError as trouble:
        return str(trouble)
    return None


@dataclass
class Call:
    """A request that Ollama takes up."""

    model: ServedModel
    runner: Runner
    session: ClientSession
    record: Record
    version: str
    reports_cached: bool
    script: Script | None

    @property
    def body(self) -> Json:
        """The request's body."""
        return self.record.body

    @property
    def chat(self) -> bool:
        """Whether it came to /api/chat."""
        return self.record.endpoint == "/api/chat"

    @property
    def native(self) -> bool:
        """Whether llama.cpp makes the prompt; a raw prompt is made already."""
        return self.model.path == "native" and not self.body.get("raw")

    @cached_property
    def options(self) -> Json:
        """The request's options."""
        return self.body.get("options") or {}

    @property
    def think(self) -> Think:
        """Whether to think: a model that can does, unless it is told not to."""
        asked = cast("Think", self.body.get("think"))
        return True if asked is None and "thinking" in self.model.capabilities else asked

    @property
    def messages(self) -> list[Json]:
        """The conversation; /api/generate has one of at most two messages."""
        if self.chat:
            return self.body.get("messages") or []
        prompt, system = self.body.get("prompt") or "", self.body.get("system")
        return [
            *([{"role": "system", "content": system}] if system else []),
            *([{"role": "user", "content": prompt}] if prompt else []),
        ]

    @property
    def empty(self) -> bool:
        """Whether nothing is asked, which loads or unloads the model."""
        return not self.body.get("messages" if self.chat else "prompt")

    def _object(self, part: Json, **more: object) -> Json:
        """Return one object of the answer."""
        done: Json = {"done": False} | more
        return {"model": self.body["model"], "created_at": now()} | part | done

    def _part(self, content: str, thinking: str = "", calls: list[Json] | None = None) -> Json:
        return (chat_part if self.chat else generate_part)(content, thinking, calls or [])

    async def answer(self, outlet: Outlet) -> web.StreamResponse:
        """Answer it, and keep the truth in the record."""
        keep_alive = keep_alive_seconds(self.body.get("keep_alive"))
        if self.empty and keep_alive == 0:
            self.record.kind = "unload"
            await self.runner.unload()
            return web.json_response(self._object(self._part(""), done=True, done_reason="unload"))
        options = RunnerOptions.of(
            self.options,
            shift=self.body.get("shift") is not False,
            longest=self.model.context_length,
        )
        async with self.runner.use(options, keep_alive) as (server, load_seconds):
            self.record.load_seconds = load_seconds
            if self.empty:
                self.record.kind = "load"
                part = self._object(self._part(""), done=True, done_reason="load")
                return web.json_response(part)
            return await self._with_server(server, outlet)

    async def _with_server(self, server: LlamaServer, outlet: Outlet) -> web.StreamResponse:
        """Render or answer with a model that is loaded."""
        engine = Engine(self.session, server.url)
        talk, prompt = await self._prompt(engine, server.settings.n_ctx)
        self.record.prompt = prompt
        if (
            self.body.get("_debug_render_only")
            and version_numbers(self.version) >= RENDER_ONLY_SINCE
        ):
            # On the native path too: there Ollama asks llama.cpp for the template's work.
            self.record.kind = "render"
            part = {"message": {"role": "", "content": ""}} if self.chat else {"response": ""}
            info = {"rendered_template": prompt, "image_count": 0}
            return web.json_response(self._object(part, _debug_info=info))
        self.record.kind = "answer"
        async with self.runner.slot():
            if self.native:
                self.record.native = talk
                pieces = engine.chat(talk, self._length)
            else:
                fitting = await self._cut(engine, prompt, server.settings.n_ctx)
                pieces = engine.complete(fitting, self._length)
            return await self._say(pieces, outlet)

    async def _prompt(self, engine: Engine, n_ctx: int) -> tuple[Json, str]:
        """Return the conversation and the prompt made of it, without what does not fit.

        Like Ollama, messages go from the front, and system messages stay.
        """
        if self.body.get("raw"):
            return {}, self.body["prompt"]
        messages, tools = self.messages, self.body.get("tools") or []
        for start in range(len(messages)):
            system = [m for m in messages[:start] if m.get("role") == "system"]
            talk = conversation([*system, *messages[start:]], tools, self.think)
            prompt = await engine.render(talk)
            if len(await engine.tokenize(prompt)) <= n_ctx or self.body.get("truncate") is False:
                break
        return talk, prompt

    async def _cut(self, engine: Engine, prompt: str, n_ctx: int) -> str | list[int]:
        """Return a prompt without a second first token, and cut in its middle if it must be."""
        if self.model.memory is Memory.SLIDING:
            prompt = prompt.removeprefix(BEGIN_OF_TEXT)  # llama.cpp adds it again
        if self.body.get("truncate") is False or len(prompt) < n_ctx:
            return prompt
        tokens = await engine.tokenize(prompt, special=True)
        if (excess := len(tokens) - (n_ctx - 1)) <= 0:
            return prompt
        keep = int(self.options.get("num_keep", NUM_KEEP))
        return tokens[:keep] + tokens[keep + excess :]

    @property
    def _asked_length(self) -> int:
        return int(self.options.get("num_predict", -1))

    @property
    def _length(self) -> int:
        """How many tokens llama.cpp is to write.

        Zero is no number on the rendered path: Ollama leaves it out, and the answer only ends
        where the model ends it.
        """
        if self._scripted:
            return 1
        asked = self._asked_length
        if asked < 0 or (asked == 0 and not self.native):
            return self.model.answer_tokens
        return min(asked, self.model.answer_tokens)

    @cached_property
    def _scripted(self) -> Scripted | None:
        """The answer a test wants; a ping is over before it could be said."""
        return self.script(self.body) if self.script and self._asked_length != 1 else None

    async def _say(self, pieces: AsyncGenerator[Piece], outlet: Outlet) -> web.StreamResponse:
        """Send the answer piece by piece."""
        async with aclosing(pieces):
            async for piece in pieces:
                if piece.timings is not None:
                    return await self._end(piece, piece.timings, outlet)
                if not self._scripted:
                    part = self._part(piece.content, piece.thinking)
                    await outlet.send(self._object(part))
        raise BackendError(500, "an error was encountered while running the model: unexpected EOF")

    async def _end(self, last: Piece, timings: Timings, outlet: Outlet) -> web.StreamResponse:
        """Send what a script says, and the last chunk with the figures.

        Only the deprecated `context` of /api/generate is left out.
        """
        record = self.record
        record.prompt_tokens = timings.cached + timings.read
        record.cached_tokens = timings.cached
        record.seconds = timings.read_ms / 1000
        calls: list[Json] = []
        cut = last.limited and 0 <= self._length < self.model.answer_tokens
        if script := self._scripted:
            cut, calls = False, script.calls()
            await self._perform(script, calls, outlet)
        record.ended = time.monotonic()
        figures = metrics(
            timings,
            record.ended - record.started,
            record.load_seconds,
            self.version,
            cached=self.reports_cached,
        )
        await outlet.send(
            self._object(
                self._part("", calls=calls if self.native else None),
                done=True,
                done_reason="length" if cut else "stop",
                **figures,
            )
        )
        return await outlet.end()

    async def _perform(self, script: Scripted, calls: list[Json], outlet: Outlet) -> None:
        """Send a scripted answer, the way the model's path would send it."""
        if script.thinking:
            await outlet.send(self._object(self._part("", script.thinking)))
        for content in filter(None, script.pieces):
            await outlet.send(self._object(self._part(content)))
        if calls and not self.native:
            # On the native path the calls come with the last chunk.
            await outlet.send(self._object(self._part("", calls=calls)))
