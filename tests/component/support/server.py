"""Servers to talk to: the stand-in for Ollama in a thread, and one that answers any bytes.

Home Assistant's test loop lives for one test only, so the stand-in has a loop of its own, and
its models stay loaded from test to test.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
import logging
from pathlib import Path
import threading
from typing import Any

from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, Record, ServedModel

MODEL = "tiny"
NUM_CTX = 8192
API_KEY = "let-me-in"
NOWHERE = "http://127.0.0.1:9"
"""An address at which nothing listens."""


class Ollama:
    """The stand-in, its thread, and what a test wants to know of it."""

    def __init__(self, log_dir: Path) -> None:
        """Prepare; `start` starts both."""
        gguf = tiny_model(Memory.ATTENTION)
        self.stand_in = OllamaStandIn([ServedModel(MODEL, Memory.ATTENTION, gguf)], log_dir=log_dir)
        self._loop = asyncio.new_event_loop()
        # It reads the clock in a way that a frozen one does not know.
        logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
        self._thread = threading.Thread(target=self._loop.run_forever, name="stand-in")

    def start(self) -> None:
        """Start to answer."""
        self._thread.start()
        self._wait(self.stand_in.start())

    def close(self) -> None:
        """End the server, its models and its thread."""
        self._wait(self.stand_in.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for something that runs in the stand-in's loop, from outside any loop."""
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something that runs in the stand-in's loop, from a test."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def forget(self) -> None:
        """Be as at the beginning of every test."""
        self.stand_in.records.clear()
        self.stand_in.script = self.stand_in.fault = None
        self.stand_in.api_key = self.stand_in.reports_cached = None
        self.stand_in.version = "0.35.1"

    @property
    def url(self) -> str:
        """Address of the server."""
        return self.stand_in.url

    @property
    def records(self) -> list[Record]:
        """All chat requests since the beginning of the test."""
        return self.stand_in.records

    @property
    def body(self) -> dict[str, Any]:
        """The body of the last chat request."""
        return self.records[-1].body

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the last chat request."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


@asynccontextmanager
async def answering(*pieces: bytes, head: bytes = b"") -> AsyncGenerator[str]:
    """Answer every request with these pieces, one packet each, then close; yields the address."""
    start = head or reply()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in (start, *pieces):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def reply(status: str = "200 OK", content_type: str = "application/x-ndjson") -> bytes:
    """Return the head of an answer that ends when the connection is closed."""
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nConnection: close\r\n\r\n"
    ).encode()


def split(data: bytes, size: int) -> Sequence[bytes]:
    """Return data in pieces of this size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


JSON = reply(content_type="application/json; charset=utf-8")
