"""A server that speaks as Ollama does until a test pulls a string."""

import asyncio
import json

from .server import JSON, MODEL, reply

CHUNKS = (
    {"message": {"role": "assistant", "content": "One "}, "done": False},
    {
        "message": {"role": "assistant", "content": "two."},
        "done": True,
        "prompt_eval_count": 1000,
        "prompt_eval_cached_count": 990,
    },
)


class Puppet:
    """Answers as far as an agent asks, at one address."""

    def __init__(self) -> None:
        """Hold nothing back."""
        self.go_on = asyncio.Event()
        """Cleared: answers at `holds` wait until it is set."""
        self.go_on.set()
        self.holds = "/api/chat"
        self.after = 1
        """A chat is held after so many chunks, any other answer at its start."""
        self.held = asyncio.Event()
        """Set once an answer is held."""
        self.garbage: bytes | None = None
        """The body of every answer, with no sense in it."""
        self._server: asyncio.Server | None = None
        self._port = 0
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """Address of the server, the same one after every start."""
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start to answer."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def kill(self) -> None:
        """End without a word, whoever listens."""
        if self._server is not None:
            self._server.close()
        self.hang_up()
        await asyncio.sleep(0)

    def hang_up(self) -> None:
        """End what is being answered, without a word; whoever comes next is answered."""
        for writer in self._open:
            writer.transport.abort()
        self.go_on.set()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
            if self.garbage is not None:
                writer.write(JSON + self.garbage)
            elif path == "/api/chat":
                await self._chat(writer)
            else:
                await self._wait(path)
                writer.write(JSON + json.dumps(self._says(path)).encode())
            await writer.drain()
            writer.close()
        except ConnectionError, asyncio.IncompleteReadError:
            pass
        finally:
            self._open.discard(writer)

    async def _chat(self, writer: asyncio.StreamWriter) -> None:
        for count, chunk in enumerate(CHUNKS):
            if count == self.after:
                await self._wait("/api/chat")
            start = reply() if count == 0 else b""
            writer.write(start + json.dumps(chunk).encode() + b"\n")
            await writer.drain()

    async def _wait(self, path: str) -> None:
        if path == self.holds and not self.go_on.is_set():
            self.held.set()
            await self.go_on.wait()

    @staticmethod
    def _says(path: str) -> dict[str, object]:
        if path == "/api/version":
            return {"version": "0.35.1"}
        if path == "/api/show":
            return {"template": "{{ .Prompt }}", "model_info": {}}
        return {"models": [{"name": f"{MODEL}:latest", "context_length": 8192}]}
