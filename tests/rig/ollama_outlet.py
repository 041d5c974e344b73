"""How an answer leaves the stand-in: as a stream or at once, whole or broken on purpose."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from aiohttp import hdrs, web

from tests.rig.ollama_engine import BackendError, Json
from tests.rig.ollama_shapes import error, line


class FaultKind(StrEnum):
    """What can go wrong between a client and a model."""

    HTML = "html"
    """A page of a proxy, with status 200."""
    STATUS_500 = "status_500"
    STATUS_401 = "status_401"
    DELAY = "delay"
    """Waits for `seconds`, then answers as always."""
    HALF_LINE = "half_line"
    """After `after` chunks half a line of JSON, then the connection is closed."""
    CLOSE = "close"
    """After `after` chunks the connection is closed."""
    ERROR_LINE = "error_line"
    """After `after` chunks a line with an error."""


@dataclass
class Fault:
    """A fault, and how often it happens."""

    kind: FaultKind
    after: int = 1
    seconds: float = 0
    times: int | None = None
    """None: until it is taken away."""
    paths: tuple[str, ...] = ("/api/chat", "/api/generate")

    def happens(self, path: str, *kinds: FaultKind) -> bool:
        """Whether it happens now, which uses it up by one."""
        if self.kind not in kinds or path not in self.paths or self.times == 0:
            return False
        if self.times is not None:
            self.times -= 1
        return True


async def instead_of_answer(fault: Fault, path: str) -> web.StreamResponse | None:
    """Return the answer that a fault gives before any work is done, after its delay."""
    if fault.happens(path, FaultKind.DELAY):
        await asyncio.sleep(fault.seconds)
    elif fault.happens(path, FaultKind.HTML):
        return web.Response(text="<html><body>Sign in</body></html>", content_type="text/html")
    elif fault.happens(path, FaultKind.STATUS_500):
        return error(500, "llama-server process has terminated: exit status 2")
    elif fault.happens(path, FaultKind.STATUS_401):
        return error(401, "unauthorized")
    return None


class BrokenOffError(Exception):
    """The connection was closed on purpose."""


class Outlet:
    """Sends the chunks of one answer."""

    def __init__(self, request: web.Request, *, stream: bool, fault: Fault | None) -> None:
        """Nothing is sent before the first chunk."""
        self._request = request
        self._stream = stream
        self._fault = fault
        self._response: web.StreamResponse | None = None
        self._sent = 0
        self._whole: Json = {}

    async def send(self, chunk: Json) -> None:
        """Send a chunk, or add it to the answer that is sent at once."""
        await self._break_off(chunk)
        self._sent += 1
        if self._stream:
            await (await self._open()).write(line(chunk))
        else:
            self._whole = _merged(self._whole, chunk)

    async def fail(self, status: int, message: str) -> web.StreamResponse:
        """End with an error: a line where a stream has begun, else a status."""
        if self._response is None:
            return error(status, message)
        await self._response.write(line({"error": message}))
        return self._response

    async def end(self) -> web.StreamResponse:
        """End a good answer."""
        if self._response is None:
            return web.json_response(self._whole)
        await self._response.write_eof()
        return self._response

    async def _open(self) -> web.StreamResponse:
        if self._response is None:
            self._response = web.StreamResponse(headers={hdrs.CONTENT_TYPE: "application/x-ndjson"})
            await self._response.prepare(self._request)
        return self._response

    async def _break_off(self, chunk: Json) -> None:
        """Let a fault of the stream happen, where it is its turn."""
        fault, path = self._fault, self._request.path
        if fault is None or (self._stream and self._sent < fault.after):
            return
        if fault.happens(path, FaultKind.ERROR_LINE):
            raise BackendError(500, "an error was encountered while running the model")
        if fault.happens(path, FaultKind.HALF_LINE):
            whole = line(chunk)
            await (await self._open()).write(whole[: len(whole) // 2])
            self._close()
        if fault.happens(path, FaultKind.CLOSE):
            self._close()

    def _close(self) -> None:
        if self._request.transport is not None:
            self._request.transport.close()
        raise BrokenOffError


def _merged(whole: Json, chunk: Json) -> Json:
    """Return what a client gets that does not stream: the last chunk, with all the words."""
    merged = whole | chunk
    for key in ("response", "thinking"):
        if key in whole or key in chunk:
            merged[key] = whole.get(key, "") + chunk.get(key, "")
    if "message" in chunk:
        before, after = whole.get("message", {}), chunk["message"]
        message = merged["message"] = before | after
        message["content"] = before.get("content", "") + after["content"]
        for key, empty in (("thinking", ""), ("tool_calls", [])):
            if value := before.get(key, empty) + after.get(key, empty):
                message[key] = value
    return merged
