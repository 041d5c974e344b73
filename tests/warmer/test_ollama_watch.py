"""What is noticed at Ollama: restarts and models that come and go."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from ollama_warmer.config.config import OllamaConfig
from ollama_warmer.daemon.occasions import Occasion
from ollama_warmer.daemon.ollama_changes import (
    InMemory,
    Look,
    after_silence,
    between,
    find,
    full_name,
)
from ollama_warmer.daemon.ollama_watch import OllamaWatch
from ollama_warmer.errors import OllamaError
from ollama_warmer.ollama.client import open_ollama

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
FOR_EVER = "2318-11-20T12:47:16.854775807+01:00"
QWEN = InMemory(digest="a", context=16384, expires_at=NOW + timedelta(minutes=5))
SMALL = InMemory(digest="a", context=4096, expires_at=None)
LATE = InMemory(digest="a", context=16384, expires_at=NOW + timedelta(seconds=60))


def look(model: InMemory | None, version: str = "0.35.1") -> Look:
    """Return what Ollama said just now."""
    return Look(version=version, model=model, at=NOW)


@pytest.mark.parametrize(
    ("last", "now", "ours", "occasion"),
    [
        (look(QWEN), look(QWEN), False, None),
        (look(QWEN), look(QWEN, "0.36.0"), False, Occasion.OLLAMA_BACK),
        (look(QWEN), look(None), False, Occasion.MODEL_GONE),
        (look(QWEN), look(None), True, Occasion.MODEL_GONE),
        # Its keep_alive was over, or nearly.
        (look(LATE), look(None), False, None),
        (look(None), look(QWEN), False, Occasion.MODEL_RELOADED),
        (look(None), look(QWEN), True, None),
        (look(QWEN), look(SMALL), False, Occasion.MODEL_RELOADED),
        (look(SMALL), look(QWEN), True, None),
        (look(None), look(None), False, None),
    ],
)
def test_between_two_looks(
    last: Look,
    now: Look,
    ours: bool,  # noqa: FBT001 - a parameter of the test
    occasion: Occasion | None,
) -> None:
    """What went before its time, or was loaded by someone else, is cold."""
    assert between(last, now, ours=ours) is occasion


@pytest.mark.parametrize(
    ("last", "now", "occasion"),
    [
        (None, look(None), Occasion.OLLAMA_BACK),
        (look(QWEN), look(None), Occasion.OLLAMA_BACK),
        (look(None), look(None), Occasion.OLLAMA_BACK),
        (look(QWEN), look(QWEN, "0.36.0"), Occasion.OLLAMA_BACK),
        # The cable was out: nothing is lost.
        (look(QWEN), look(QWEN), None),
        (look(QWEN), look(SMALL), Occasion.MODEL_RELOADED),
    ],
)
def test_after_a_silence(last: Look | None, now: Look, occasion: Occasion | None) -> None:
    """A server that comes back with the model still in memory was only out of reach."""
    assert after_silence(last, now) is occasion


@pytest.mark.parametrize(
    ("expires_at", "moment"),
    [
        (FOR_EVER, datetime(2318, 11, 20, 11, 47, 16, 854775, tzinfo=UTC)),
        ("2026-11-30T12:00:00Z", NOW),
        ("2026-11-30T12:00:00", None),
        ("soon", None),
        (None, None),
    ],
)
def test_finding_the_model(expires_at: object, moment: datetime | None) -> None:
    """The model is found by any of its names; what Ollama does not say is unknown."""
    listed: list[dict[str, object]] = [
        {"name": "llama3:8b", "model": "llama3:8b"},
        {"model": "Qwen3:latest", "digest": "a", "expires_at": expires_at},
    ]

    assert find(listed, "qwen3") == InMemory(digest="a", context=None, expires_at=moment)
    assert find(listed, "qwen3:8b") is None
    assert find(listed, None) is None
    assert full_name("registry:5000/me/Model") == "registry:5000/me/model:latest"


class Server:
    """An Ollama that says what a test wants."""

    def __init__(self) -> None:
        """Have one model in memory."""
        self.status = HTTPStatus.OK
        self.models: list[dict[str, Any]] = [
            {"model": "qwen3:8b", "digest": "a", "context_length": 16384, "expires_at": FOR_EVER}
        ]

    def application(self) -> web.Application:
        """Return what answers."""
        app = web.Application()
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/ps", self._ps)
        return app

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": "0.35.1"}, status=self.status)

    async def _ps(self, _: web.Request) -> web.Response:
        return web.json_response({"models": self.models})


class Ears:
    """Hears what the watch tells."""

    def __init__(self) -> None:
        """Have heard nothing yet."""
        self.heard: list[str] = []
        self.waits: list[float] = []

    def ollama_is_up(self) -> None:
        """Hear that it answers."""
        self.heard.append("up")

    def ollama_is_down(self, trouble: OllamaError) -> None:
        """Hear that it does not."""
        self.heard.append(f"down: {trouble}")

    def ollama_lost_it(self, occasion: Occasion, wait: float) -> None:
        """Hear that something is cold."""
        self.heard.append(occasion)
        self.waits.append(wait)


async def test_watch() -> None:
    """Restarts, losses and reloads are told as they are seen."""
    ears, server = Ears(), Server()
    async with TestServer(server.application()) as test_server:
        url = str(test_server.make_url("")).rstrip("/")
        watch = OllamaWatch(OllamaConfig(url=url, model="qwen3:8b"), ears, lambda _: False)
        async with open_ollama(url) as ollama:
            loaded = server.models
            for models, status in (
                (loaded, HTTPStatus.OK),  # the first look is compared with nothing
                ([], HTTPStatus.OK),
                (loaded, HTTPStatus.OK),
                (loaded, HTTPStatus.BAD_GATEWAY),
                (loaded, HTTPStatus.OK),  # only its proxy was away
                (loaded, HTTPStatus.BAD_GATEWAY),
                ([], HTTPStatus.OK),
            ):
                server.models, server.status = models, status
                await watch.look(ollama)

    down = f"down: Ollama at {url} answered with an error: Bad Gateway (HTTP 502)"
    assert ears.heard == [
        *("up", "up", "model lost", "up", "model reloaded"),
        *(down, "up", down, "up", "Ollama is back"),
    ]
    # A server on which clients take turns is not warmed ever faster.
    assert ears.waits[0] < ears.waits[1] < ears.waits[2] <= 4


async def test_own_round_loads_the_model() -> None:
    """What our own round has loaded is no reason for another."""
    ears, server = Ears(), Server()
    asked: list[float] = []

    def asked_since(moment: float) -> bool:
        asked.append(moment)
        return True

    async with TestServer(server.application()) as test_server:
        url = str(test_server.make_url("")).rstrip("/")
        watch = OllamaWatch(OllamaConfig(url=url, model="qwen3:8b"), ears, asked_since)
        async with open_ollama(url) as ollama:
            loaded, server.models = server.models, []
            await watch.look(ollama)
            server.models = loaded
            await watch.look(ollama)

    assert ears.heard == ["up", "up"]
    assert len(asked) == 1
