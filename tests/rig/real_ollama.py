"""A real Ollama with the rig's llama.cpp: what the stand-in stands for.

Ollama looks for `llama-server` and `llama-quantize` beside its own binary, so it is given a folder
of its own for each run. Its log is one file that survives a restart, with llama.cpp's lines in it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
import filecmp
import hashlib
import os
from pathlib import Path
import shutil
import signal
import socket
import stat
import subprocess
import sys
from typing import Any, Self

import aiohttp
import aiohttp.web

from tests.rig.llama import ROOT
from tests.rig.models import cache_folder

START_SECONDS = 60
STOP_SECONDS = 10
# Models with random weights never end an answer by themselves.
ANSWER_TOKENS = 12


class OllamaMissingError(RuntimeError):
    """There is no Ollama on this machine, and none was built."""


class OllamaDiedError(RuntimeError):
    """Ollama did not start, or refused something that it should not."""


def ollama_binary(version: str = "0.33.3") -> Path:
    """Return the Ollama that `script/bootstrap --ollama` found or built.

    Raises OllamaMissingError where it did not.
    """
    kept = cache_folder() / "ollama" / version / "bin" / "ollama"
    named = os.environ.get("OLLAMA_BIN") or shutil.which("ollama")
    for path in (kept, *([Path(named)] if named and version == "0.33.3" else [])):
        if path.is_file():
            return path
    raise OllamaMissingError("there is no Ollama here: run script/bootstrap --ollama")


@dataclass(frozen=True, kw_only=True)
class RealModel:
    """A model to be created: a file, and who makes its prompt."""

    name: str
    gguf: Path
    template: str = ""
    """In Go's language: Ollama's rendered path."""
    renderer: str = ""
    """One of Ollama's built-in ones, and its parser of the same name."""
    answer_tokens: int = ANSWER_TOKENS

    @property
    def full_name(self) -> str:
        """Name with a tag, as Ollama lists it."""
        return self.name if ":" in self.name else f"{self.name}:latest"

    def body(self, digest: str) -> dict[str, Any]:
        """Return the body of `/api/create`."""
        body: dict[str, Any] = {
            "model": self.name,
            "files": {"model.gguf": digest},
            "parameters": {"num_predict": self.answer_tokens},
            "stream": False,
        }
        if self.template:
            body["template"] = self.template
        if self.renderer:
            body |= {"renderer": self.renderer, "parser": self.renderer}
        return body


class RealOllama:
    """One Ollama on a port of its own, which stays the same over restarts."""

    def __init__(
        self,
        models: Sequence[RealModel],
        *,
        folder: Path,
        version: str = "0.33.3",
        n_parallel: int = 1,
        debug: bool = False,
    ) -> None:
        """Say what is served, and from which folder; nothing runs before `start`."""
        self.models = list(models)
        self.version = version
        self.n_parallel = n_parallel
        self.debug = debug
        self.log_path = folder / "ollama.log"
        self._folder = folder
        self._port = _free_port()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self.stop()

    async def start(self) -> None:
        """Start, wait until it answers, and create the models that are not there yet."""
        program = await asyncio.to_thread(_installed, ollama_binary(self.version), self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                program, "serve", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self._environment(), start_new_session=True,
            )  # fmt: skip
        async with asyncio.timeout(START_SECONDS):
            while not await self._answers():
                if self._process.returncode is not None:
                    raise OllamaDiedError(self._last_line())
                await asyncio.sleep(0.05)
        for model in self.models:
            await self.create(model)

    async def stop(self) -> None:
        """End it and its runners in good order."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it and its runners as a crash of the machine would."""
        await self._end(signal.SIGKILL)

    async def upgrade(self, version: str) -> None:
        """Stop, and start as another version on the same port with the same models."""
        await self.stop()
        self.version = version
        await self.start()

    def runners(self) -> list[int]:
        """Return the processes that read prompts."""
        if self._process is None:
            return []
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError, ValueError):
                fields = path.read_text().rpartition(")")[2].split()
                if int(fields[1]) == self._process.pid and fields[0] != "Z":
                    found.append(int(path.parent.name))
        return found

    def kill_runners(self) -> int:
        """Kill the runners as a crash of llama.cpp would, and return how many there were."""
        found = self.runners()
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    async def create(self, model: RealModel) -> None:
        """Create a model from its file. Raises OllamaDiedError with Ollama's own words."""
        data = await asyncio.to_thread(model.gguf.read_bytes)
        digest = f"sha256:{_sha256(data)}"
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{self.url}/api/blobs/{digest}", data=data) as answer:
                if answer.status >= 400:
                    raise OllamaDiedError(await answer.text())
            async with session.post(f"{self.url}/api/create", json=model.body(digest)) as answer:
                said = await answer.text()
                if answer.status >= 400 or '"error"' in said:
                    raise OllamaDiedError(said)

    async def unload(self, model: str) -> None:
        """Have a model unloaded, as `ollama stop` does."""
        async with aiohttp.ClientSession() as session:
            body = {"model": model, "keep_alive": 0}
            async with session.post(f"{self.url}/api/generate", json=body) as answer:
                await answer.read()

    def _environment(self) -> dict[str, str]:
        """Return its environment: nothing of the person who runs the tests, and no cloud."""
        return {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": str(self._folder),
            "OLLAMA_MODELS": str(self._folder / "models"),
            "OLLAMA_HOST": f"127.0.0.1:{self._port}",
            "OLLAMA_NO_CLOUD": "1",
            "OLLAMA_NUM_PARALLEL": str(self.n_parallel),
            "OLLAMA_DEBUG": str(int(self.debug)),
            "PYTHONPATH": str(ROOT),
            "OLLAMA_WARM_CACHE": str(cache_folder()),
        }

    async def _answers(self) -> bool:
        """Return whether it answers."""
        async with aiohttp.ClientSession() as session:
            with suppress(aiohttp.ClientError, OSError):
                async with session.get(f"{self.url}/api/version") as answer:
                    return answer.ok
        return False

    async def _end(self, how: signal.Signals) -> None:
        """End the process and all that it started."""
        if (process := self._process) is None:
            return
        runners = self.runners()
        with suppress(ProcessLookupError):
            process.send_signal(how)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        for pid in runners:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process = None

    def _last_line(self) -> str:
        """Return what the log ends with."""
        return self.log_path.read_text(errors="replace").strip().rpartition("\n")[2]


@asynccontextmanager
async def without_the_count(url: str) -> AsyncGenerator[str]:
    """Pass everything on to a server and drop the cached count, as an Ollama before 0.33.3 would.

    Yields the address to ask instead.
    """
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        site = _Dropping(session, url)
        runner = aiohttp.web.AppRunner(site.application(), handler_cancellation=True)
        await runner.setup()
        await aiohttp.web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


class _Dropping:
    """Passes requests on and takes one key out of each line of an answer."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """Pass on to this address."""
        self._session = session
        self._url = url

    def application(self) -> aiohttp.web.Application:
        """Return the one route."""
        app = aiohttp.web.Application(client_max_size=64 * 1024**2)
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        return app

    async def _pass_on(self, request: aiohttp.web.Request) -> aiohttp.web.StreamResponse:
        """Pass one request on, unbuffered."""
        async with self._session.request(
            request.method, f"{self._url}{request.path_qs}", data=await request.read(),
            headers={"Content-Type": request.content_type},
        ) as answer:  # fmt: skip
            response = aiohttp.web.StreamResponse(status=answer.status)
            response.content_type = answer.content_type
            await response.prepare(request)
            async for line in answer.content:
                await response.write(_without_count(line))
            await response.write_eof()
            return response


def _without_count(line: bytes) -> bytes:
    """Return a line of JSON without the cached count."""
    start = line.find(b',"prompt_eval_cached_count":')
    if start < 0:
        return line
    end = start + 1
    while line[end : end + 1] not in {b",", b"}"}:
        end += 1
    return line[:start] + line[end:]


def _installed(binary: Path, folder: Path) -> Path:
    """Return a copy of the program that finds the rig's llama.cpp beside itself."""
    program = folder / "bin" / "ollama"
    if not program.exists() or not filecmp.cmp(program, binary):
        program.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(binary, program)
    beside = folder / "lib" / "ollama"
    beside.mkdir(parents=True, exist_ok=True)
    run: Callable[[str], str] = lambda words: f"#!/bin/sh\nexec {words}\n"  # noqa: E731 (short)
    for name, script in {
        "llama-server": run(f'{sys.executable} -m tests.rig.llama_server "$@"'),
        # `ollama create` asks for a copy only: --allow-requantize FROM TO COPY.
        "llama-quantize": run('cp "$2" "$3"'),
    }.items():
        path = beside / name
        path.write_text(script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return program


def _sha256(data: bytes) -> str:
    """Return the digest that names a blob."""
    return hashlib.sha256(data).hexdigest()


def _free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
