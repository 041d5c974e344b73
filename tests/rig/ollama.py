"""A stand-in for Ollama: its HTTP API in front of the llama.cpp that Ollama also uses.

Every prompt is read by llama.cpp, and every count is its own. What the stand-in adds is what Ollama
adds: the names of things, when a model is loaded and unloaded, and the two paths to a prompt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
import json
from pathlib import Path
import time
from typing import Self

import aiohttp
from aiohttp import hdrs, web

from tests.rig import ollama_shapes as shapes
from tests.rig.llama import LlamaError
from tests.rig.ollama_call import Call, Script, refusal
from tests.rig.ollama_engine import BackendError, Engine, Json
from tests.rig.ollama_outlet import BrokenOffError, Fault, FaultKind, Outlet, instead_of_answer
from tests.rig.ollama_runner import Runner
from tests.rig.ollama_shapes import Record, Scripted, ServedModel

__all__ = ["Fault", "FaultKind", "OllamaStandIn", "Record", "Scripted", "ServedModel"]

# The first Ollama that tells how many prompt tokens were cached.
CACHED_COUNT_SINCE = (0, 33, 3)

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class OllamaStandIn:
    """A server that answers like Ollama, in the caller's event loop."""

    def __init__(  # noqa: PLR0913 (all but the models are named)
        self,
        models: Sequence[ServedModel],
        *,
        log_dir: Path,
        version: str = "0.35.1",
        reports_cached: bool | None = None,
        n_parallel: int = 1,
        pullable: Sequence[ServedModel] = (),
    ) -> None:
        """Say what is served; nothing runs before start(). Attributes may be set at any time."""
        self.version = version
        self.reports_cached = reports_cached
        """None: as the version does."""
        self.records: list[Record] = []
        self.script: Script | None = None
        self.fault: Fault | None = None
        self.api_key: str | None = None
        self.models: list[ServedModel] = []
        self.pullable = list(pullable)
        self._log_dir = log_dir
        self._n_parallel = n_parallel
        self._runners: dict[str, Runner] = {}
        self._port = 0
        self._site: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None
        for model in models:
            self.serve(model)

    @property
    def url(self) -> str:
        """Address of the server, the same one after every start."""
        return f"http://127.0.0.1:{self._port}"

    def serve(self, model: ServedModel) -> None:
        """Add a model to the ones that are there."""
        log_path = self._log_dir / f"{model.full_name.replace('/', '_').replace(':', '_')}.log"
        self.models.append(model)
        runner = Runner(model.gguf, log_path, self._n_parallel, model.threads, model.chat_template)
        self._runners[model.full_name] = runner

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self.stop()

    async def start(self) -> None:
        """Start to answer, on the port of the last time if there was one."""
        # llama.cpp closes a connection after a stream, so none is used twice.
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        self._session = aiohttp.ClientSession(
            connector=connector, timeout=aiohttp.ClientTimeout(total=None)
        )
        # A client that goes away takes its request with it: its socket to llama.cpp is closed.
        self._site = web.AppRunner(
            self._application(), handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._site.setup()
        site = web.TCPSite(self._site, "127.0.0.1", self._port, reuse_address=True)
        await site.start()
        self._port = self._site.addresses[0][1]

    async def stop(self) -> None:
        """Stop to answer; every model is unloaded, as when Ollama itself ends."""
        if self._site is not None:
            await self._site.cleanup()
        for runner in self._runners.values():
            await runner.unload()
        if self._session is not None:
            await self._session.close()
        self._site = self._session = None

    def runner(self, model: str) -> Runner:
        """Return the process of a model, by any of its names."""
        return self._runners[self._find(model).full_name]

    async def restart_backend(self, model: str) -> None:
        """Kill a model's process: whoever waits gets an error, the next request loads anew."""
        await self.runner(model).kill()

    async def unload(self, model: str) -> None:
        """Unload a model, once nobody uses it."""
        await self.runner(model).unload()

    def log_path(self, model: str) -> Path:
        """Return the file with llama.cpp's own lines about a model."""
        return self.runner(model).log_path

    async def count_tokens(self, model: str, text: str) -> int:
        """Count the tokens of a text with the vocabulary of a model that is loaded."""
        server = self.runner(model).server
        if server is None or self._session is None:
            raise LlamaError(f"{model} is not loaded")
        return len(await Engine(self._session, server.url).tokenize(text))

    def _find(self, name: str) -> ServedModel:
        for model in self.models:
            if name in (model.name, model.full_name):
                return model
        raise KeyError(name)

    def _application(self) -> web.Application:
        """Return the routes."""
        app = web.Application(middlewares=[self._guard], client_max_size=64 * 1024**2)
        app.router.add_get("/", self._root)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_get("/api/ps", self._ps)
        app.router.add_post("/api/show", self._show)
        app.router.add_post("/api/pull", self._pull)
        app.router.add_post("/api/chat", self._answer)
        app.router.add_post("/api/generate", self._answer)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Turn away who has no key, and let faults happen that need no model."""
        if self.api_key and request.headers.get(hdrs.AUTHORIZATION) != f"Bearer {self.api_key}":
            return shapes.error(401, "unauthorized")
        if self.fault and (response := await instead_of_answer(self.fault, request.path)):
            return response
        return await handler(request)

    async def _root(self, _: web.Request) -> web.Response:
        return web.Response(text="Ollama is running")

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": self.version})

    async def _tags(self, _: web.Request) -> web.Response:
        models = [shapes.listed(model) | {"modified_at": shapes.now()} for model in self.models]
        return web.json_response({"models": models})

    async def _ps(self, _: web.Request) -> web.Response:
        models: list[Json] = []
        for model in self.models:
            runner = self._runners[model.full_name]
            if runner.server is not None and runner.options is not None:
                entry = shapes.listed(model)
                entry |= {
                    "expires_at": runner.expires_at.isoformat().replace("+00:00", "Z"),
                    "size_vram": entry["size"],
                    "context_length": runner.options.num_ctx,
                }
                models.append(entry)
        return web.json_response({"models": models})

    async def _show(self, request: web.Request) -> web.Response:
        body = await request.json()
        name = body.get("model") or body.get("name") or ""
        try:
            return web.json_response(shapes.shown(self._find(name)))
        except KeyError:
            return shapes.error(404, f"model '{name}' not found")

    async def _pull(self, request: web.Request) -> web.StreamResponse:
        """Tell the progress of a download that is none, and serve the model from then on."""
        body = await request.json()
        outlet = Outlet(request, stream=body.get("stream") is not False, fault=None)
        await outlet.send({"status": "pulling manifest"})
        name = body.get("model") or body.get("name") or ""
        model = next((m for m in self.pullable if name in (m.name, m.full_name)), None)
        if model is None:
            return await outlet.fail(500, "pull model manifest: file does not exist")
        size, digest = model.gguf.stat().st_size, f"sha256:{model.digest}"
        pulling = {"status": f"pulling {model.digest[:12]}", "digest": digest, "total": size}
        for done in (0, size // 2, size):
            await outlet.send(pulling | ({"completed": done} if done else {}))
        for status in ("verifying sha256 digest", "writing manifest", "success"):
            await outlet.send({"status": status})
        if model not in self.models:
            self.serve(model)
        return await outlet.end()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Answer /api/chat or /api/generate, and keep a record of it."""
        started, raw = time.monotonic(), await request.text()
        try:
            body: Json = json.loads(raw) if raw else {}
        except ValueError as trouble:
            return shapes.error(400, str(trouble))
        if not raw:
            return shapes.error(400, "missing request body")
        name, headers = body.get("model", ""), dict(request.headers)
        record = Record(request.path, name, body, raw, started, headers=headers)
        self.records.append(record)
        outlet = Outlet(request, stream=body.get("stream") is not False, fault=self.fault)
        try:
            return await self._call(record).answer(outlet)
        except (BackendError, LlamaError) as trouble:
            record.error = str(trouble)
            return await outlet.fail(getattr(trouble, "status", 500), str(trouble))
        except BrokenOffError:
            return web.Response()
        except asyncio.CancelledError:
            record.cancelled = True
            raise
        finally:
            record.ended = record.ended or time.monotonic()

    def _call(self, record: Record) -> Call:
        """Return a call with what is true of the server at this moment."""
        try:
            model = self._find(record.model)
        except KeyError:
            raise BackendError(404, f"model '{record.model}' not found") from None
        if refused := refusal(model, record.body):
            raise BackendError(400, refused)
        if self._session is None:
            raise LlamaError("the stand-in is not started")
        reports = self.reports_cached
        if reports is None:
            reports = shapes.version_numbers(self.version) >= CACHED_COUNT_SINCE
        runner = self._runners[model.full_name]
        return Call(model, runner, self._session, record, self.version, reports, self.script)
