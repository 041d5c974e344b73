"""When a model is loaded, loaded anew and unloaded: the rules of Ollama's scheduler."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
import math
from pathlib import Path
import re
import time
from typing import Any

from tests.rig.llama import LlamaServer, LlamaSettings, batch_for

DEFAULT_KEEP_ALIVE = 300.0
DEFAULT_CONTEXT = 4096
# The longest time Go can count: how Ollama says "for ever".
FOREVER = timedelta(seconds=2**63 / 1e9)

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"(?:(\d+\.?\d*|\.\d+)(h|ms|m|s|us|ns))+")
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(h|ms|m|s|us|ns)")


def keep_alive_seconds(value: object) -> float | None:
    """Return seconds, infinity for a negative value, or None where nothing was said.

    Raises:
        ValueError: with Go's words for it.
    """
    if value is None:
        return None
    if isinstance(value, int | float):
        return math.inf if value < 0 else float(value)
    text = str(value).removeprefix("-")
    if text == "0":
        return 0
    if not _DURATION.fullmatch(text):
        trouble = "missing unit in" if re.fullmatch(r"[\d.]+", text) else "invalid"
        raise ValueError(f'time: {trouble} duration "{value}"')
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return math.inf if str(value).startswith("-") else seconds


@dataclass(frozen=True)
class RunnerOptions:
    """The options of a request that belong to the process; any difference means a new one."""

    num_ctx: int
    num_batch: int
    shift: bool
    others: tuple[tuple[str, object], ...]

    @classmethod
    def of(cls, options: dict[str, Any], *, shift: bool, longest: int) -> RunnerOptions:
        """Pick a request's options out, and fill in what Ollama would choose."""
        num_ctx = min(int(options.get("num_ctx") or DEFAULT_CONTEXT), longest)
        names = ("num_gpu", "main_gpu", "use_mmap", "num_thread", "draft_num_predict")
        return cls(
            num_ctx=num_ctx,
            num_batch=int(options.get("num_batch") or batch_for(num_ctx)),
            shift=shift,
            others=tuple((name, options[name]) for name in names if name in options),
        )


class Runner:
    """The process of one model, and how long it stays."""

    def __init__(
        self, gguf: Path, log_path: Path, n_parallel: int, threads: int, chat_template: str = ""
    ) -> None:
        """Nothing is loaded before the first request."""
        self.log_path = log_path
        self.options: RunnerOptions | None = None
        self.expires_at = datetime.now(UTC)
        self.loads = 0
        self._gguf = gguf
        self._n_parallel = n_parallel
        self._threads = threads
        self._chat_template = chat_template
        self._server: LlamaServer | None = None
        self._keep_alive = DEFAULT_KEEP_ALIVE
        self._slots = asyncio.Semaphore(n_parallel)
        self._changing = asyncio.Lock()
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._timer: asyncio.TimerHandle | None = None
        self._unloading: asyncio.Task[None] | None = None

    @property
    def server(self) -> LlamaServer | None:
        """The process, if there is a live one."""
        return self._server if self._server and self._server.alive else None

    @asynccontextmanager
    async def use(
        self, options: RunnerOptions, keep_alive: float | None
    ) -> AsyncGenerator[tuple[LlamaServer, float]]:
        """Lend the process with these options, and say how many seconds loading took."""
        asked = time.monotonic()
        async with self._changing:
            if (server := self.server) is None or self.options != options:
                # Like Ollama: who still gets an answer is not cut off by another's options.
                await self._idle.wait()
                server = await self._load(options)
            self._users += 1
            self._idle.clear()
            self._stop_timer()
            if keep_alive is not None:
                self._keep_alive = keep_alive
        try:
            yield server, time.monotonic() - asked
        finally:
            self._users -= 1
            if not self._users:
                self._idle.set()
                self._start_timer()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Wait for one of the places in which a prompt can be read."""
        async with self._slots:
            yield

    async def unload(self) -> None:
        """End the process once nobody uses it."""
        async with self._changing:
            await self._idle.wait()
            await self._end()

    async def kill(self) -> None:
        """End the process as a crash would, whoever uses it."""
        self._stop_timer()
        server, self._server, self.options = self._server, None, None
        if server is not None:
            server.kill()
            await server.stop()

    async def _load(self, options: RunnerOptions) -> LlamaServer:
        await self._end()
        server = LlamaServer(
            self._gguf,
            self.log_path,
            LlamaSettings(
                options.num_ctx,
                self._n_parallel,
                options.num_batch,
                chat_template=self._chat_template,
                threads=self._threads,
            ),
        )
        self._log_start(server.settings)
        await server.start()
        self.loads += 1
        self._server, self.options, self._keep_alive = server, options, DEFAULT_KEEP_ALIVE
        return server

    def _log_start(self, settings: LlamaSettings) -> None:
        """Write the line by which a reader of Ollama's log knows a new process."""
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        command = (
            f"llama-server --model {self._gguf.name} -c {settings.n_ctx * settings.n_parallel} "
            f"-np {settings.n_parallel} -b {settings.batch} -ub {settings.batch}"
        )
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self.log_path.open("a") as log:
            log.write(
                f"time={stamp} level=INFO source=llama_server.go:433 "
                f'msg="starting llama-server" cmd="{command}"\n'
            )

    async def _end(self) -> None:
        self._stop_timer()
        if self._server is not None:
            await self._server.stop()
        self._server = self.options = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _start_timer(self) -> None:
        """Start to count the time that an idle model stays."""
        self._stop_timer()
        if math.isinf(self._keep_alive):
            self.expires_at = datetime.now(UTC) + FOREVER
            return
        self.expires_at = datetime.now(UTC) + timedelta(seconds=self._keep_alive)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._keep_alive, self._expire)

    def _expire(self) -> None:
        self._unloading = asyncio.ensure_future(self._unload_if_idle())

    async def _unload_if_idle(self) -> None:
        async with self._changing:
            if self._idle.is_set():
                await self._end()
