"""Answers `/metrics` and `/health` on an address of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
import os

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ollama_warmer.config.run import Address
from ollama_warmer.daemon.board import Board
from ollama_warmer.daemon.metrics import registry
from ollama_warmer.errors import ConfigError


@asynccontextmanager
async def listening(address: Address, board: Board) -> AsyncIterator[None]:
    """Answer until the block is left.

    `/health` is 200 with `{"status": "ok"}`, or 503 with `{"status": "unhealthy", "reason": ...}`.

    Raises:
        ConfigError: The address cannot be used, for example because another program does.
    """
    metrics = registry(board)

    async def show_metrics(_: web.Request) -> web.Response:
        return web.Response(
            body=generate_latest(metrics), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )

    async def show_health(_: web.Request) -> web.Response:
        reason = board.ailment(asyncio.get_running_loop().time())
        if reason is None:
            return web.json_response({"status": "ok"})
        body = {"status": "unhealthy", "reason": reason}
        return web.json_response(body, status=HTTPStatus.SERVICE_UNAVAILABLE)

    app = web.Application()
    app.router.add_get("/metrics", show_metrics)
    app.router.add_get("/health", show_health)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, *address).start()
        except OSError as err:
            why = os.strerror(err.errno) if err.errno else str(err)
            raise ConfigError(
                f"{address.shown} cannot be listened on: {why}. Choose another `listen` under [run]"
            ) from err
        yield
    finally:
        await runner.cleanup()
