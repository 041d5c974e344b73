"""llama.cpp's own server in a process of its own, with the settings Ollama gives it."""

import asyncio
from contextlib import suppress
from dataclasses import asdict, dataclass
import json
from pathlib import Path
import sys

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 5


class LlamaError(RuntimeError):
    """llama.cpp's server did not start."""


def batch_for(n_ctx: int) -> int:
    """Return the batch Ollama chooses for a context: also the step a recurrent model falls back."""
    for context, batch in ((4096, 512), (32_768, 1024)):
        if n_ctx <= context:
            return batch
    return 2048


@dataclass(frozen=True)
class LlamaSettings:
    """What llama.cpp's server is started with; names and defaults are Ollama's or llama.cpp's."""

    n_ctx: int = 8192
    """Context of one slot: like Ollama, the server is given this times n_parallel."""
    n_parallel: int = 1
    n_batch: int | None = None
    """None: what Ollama would choose for the context."""
    cache_ram_mib: int = 8192
    n_ctx_checkpoints: int = 32
    verbosity: int = 4
    chat_template: str = ""
    """In place of the file's own one; empty leaves it."""
    threads: int = 1
    """llama.cpp's threads wait for each other by spinning: on a busy machine one is the fastest."""

    @property
    def batch(self) -> int:
        """The batch in use."""
        return self.n_batch or batch_for(self.n_ctx)

    def for_process(self, gguf: Path) -> str:
        """Return the settings as the process wants them."""
        return json.dumps(
            asdict(self)
            | {
                "model": str(gguf),
                "n_ctx": self.n_ctx * self.n_parallel,
                "n_batch": self.batch,
                "n_ubatch": self.batch,
            }
        )


class LlamaServer:
    """One llama.cpp server. Its log is appended to, so that it survives a restart."""

    def __init__(self, gguf: Path, log_path: Path, settings: LlamaSettings | None = None) -> None:
        """Say which model to serve; nothing runs before start()."""
        self.gguf = gguf
        self.log_path = log_path
        self.settings = settings or LlamaSettings()
        self.url = ""
        self._process: asyncio.subprocess.Process | None = None

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the process and wait until it serves the model."""
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "tests.rig.llama_process", self.settings.for_process(self.gguf)),
                cwd=ROOT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        if process.stdout is None:
            raise LlamaError("llama.cpp's server has no output")
        try:
            self.url = (await process.stdout.readline()).decode().strip()
        except asyncio.CancelledError:
            self.kill()
            raise
        if not self.url:
            last = self.log_path.read_text(errors="replace").strip().rpartition("\n")[2]
            raise LlamaError(f"llama.cpp's server did not start: {last}")

    async def stop(self) -> None:
        """End the process in good order, or by force where that takes too long."""
        if (process := self._process) is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            self.kill()
            await process.wait()
        self._process = None

    def kill(self) -> None:
        """End the process as a crash would."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
