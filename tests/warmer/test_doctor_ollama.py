"""What the doctor says of a model server, looked at alone."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from ollama_warmer.config.config import OllamaConfig
from ollama_warmer.doctor.checks.keep import seconds_of
from ollama_warmer.doctor.examine import examine
from ollama_warmer.doctor.findings import Finding, Level
from ollama_warmer.doctor.setup import Setup
from tests.warmer.support.doctor_server import (
    MODEL,
    NUM_CTX,
    Json,
    Server,
    entry,
    open_server,
    shown,
    staying,
)

Look = Callable[..., Awaitable[dict[str, Finding]]]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Return a server with which all is well, until a test says otherwise."""
    async with open_server(Server()) as opened:
        yield opened


@pytest.fixture
def look(server: Server) -> Look:
    """Return a way to have the server looked at; findings by their ids."""

    async def look_at_it(interval: float = 3600.0, **wanted: object) -> dict[str, Finding]:
        asked = {"url": server.url, "model": MODEL, "num_ctx": NUM_CTX, **wanted}
        setup = Setup(ollama=OllamaConfig(**asked), interval=interval)  # type: ignore[arg-type]
        findings = await examine(setup, {}, lambda _: None)
        assert len({it.id for it in findings}) == len(findings)
        return {it.id: it for it in findings}

    return look_at_it


def wrong(findings: dict[str, Finding]) -> dict[str, Level]:
    """Return what is not ok, without the log that no one named."""
    return {
        name: it.level
        for name, it in findings.items()
        if it.level is not Level.OK and name != "log"
    }


async def test_all_is_well(look: Look) -> None:
    """Nothing is wrong, and nothing unknown but the log."""
    findings = await look()
    assert wrong(findings) == {}
    assert findings["log"].level is Level.UNKNOWN


async def test_nobody_there(look: Look) -> None:
    """An address where nothing answers is a problem with what to do."""
    findings = await look(url="http://127.0.0.1:1")
    assert wrong(findings) == {"ollama": Level.PROBLEM}
    assert findings["ollama"].words.startswith("Ollama cannot be reached at http://127.0.0.1:1: ")
    assert findings["ollama"].advice == "See whether it runs, and whether the address is right"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.35.1", {}),
        ("0.40.0-rc6", {}),
        ("0.33.3", {}),
        ("0.33.3-rc1", {"version_counts": Level.ADVICE}),
        ("0.33.2", {"version_counts": Level.ADVICE}),
        ("0.30.7", {"version_counts": Level.ADVICE, "version_shift": Level.ADVICE}),
        (
            "0.30.0",
            {
                "version_counts": Level.ADVICE,
                "version_shift": Level.ADVICE,
                "version_wrong_counts": Level.PROBLEM,
            },
        ),
        ("0.24.0", {"version_counts": Level.ADVICE}),
        ("0.13.5", {"version_counts": Level.ADVICE, "version_tools": Level.PROBLEM}),
        ("0.0.0", {"ollama_version": Level.UNKNOWN}),
        ("my own", {"ollama_version": Level.UNKNOWN}),
    ],
)
async def test_versions(
    server: Server, look: Look, version: str, expected: dict[str, Level]
) -> None:
    """What each release means for a model that remembers everything."""
    server.version = {"version": version}
    assert wrong(await look()) == expected


async def test_the_old_runner_needs_more_than_a_log(server: Server, look: Look) -> None:
    """Before 0.30 the log tells counts only when it is asked to."""
    server.version = {"version": "0.24.0"}
    assert "OLLAMA_DEBUG=1" in str((await look())["version_counts"].advice)


RECURRENT = shown("qwen35", renderer="qwen3.5")


@pytest.mark.parametrize(
    ("version", "model", "expected"),
    [
        ("0.34.2", RECURRENT, {"version_checkpoints"}),
        ("0.35.0", RECURRENT, set()),
        ("0.34.2", shown("jamba", template=""), {"version_checkpoints"}),
        ("0.31.0", RECURRENT, {"version_counts", "version_checkpoints"}),
        ("0.31.0", shown("jamba", template=""), {"version_counts"}),
        ("0.30.10", RECURRENT, {"version_counts"}),
        ("0.32.9", shown(details={"format": "safetensors"}), {"version_counts", "version_mlx"}),
        ("0.33.3", shown(details={"format": "safetensors"}), {"version_mlx"}),
        ("0.34.0", shown(details={"format": "safetensors"}), set()),
    ],
)
async def test_versions_that_matter_for_some_models(
    server: Server, look: Look, version: str, model: Json, expected: set[str]
) -> None:
    """Checkpoints for recurrent memory, the cache of MLX for MLX."""
    server.version, server.shown = {"version": version}, model
    assert set(wrong(await look())) == expected


@pytest.mark.parametrize(
    ("loaded", "wanted", "expected"),
    [
        ([staying(7200)], {}, {}),
        ([staying(300)], {}, {"keep_alive": Level.ADVICE}),
        ([staying(-5)], {}, {"keep_alive": Level.UNKNOWN}),
        ([entry(expires_at=None)], {}, {"keep_alive": Level.UNKNOWN}),
        ([entry()], {"keep_alive": "5m"}, {"keep_alive": Level.PROBLEM}),
        ([entry()], {"keep_alive": "2h"}, {}),
        ([entry()], {"keep_alive": -1}, {}),
        ([], {}, {"loaded": Level.PROBLEM}),
        ([entry(context_length=4096)], {}, {"num_ctx": Level.PROBLEM}),
        ([entry(context_length=None)], {}, {"num_ctx": Level.UNKNOWN}),
        ([entry()], {"num_ctx": None}, {"num_ctx": Level.UNKNOWN}),
        ([entry()], {"num_ctx": 131_072}, {"num_ctx": Level.ADVICE}),
        ([entry(size_vram=600)], {}, {"processor": Level.ADVICE}),
        ([entry(size_vram=None)], {}, {"processor": Level.UNKNOWN}),
        ([entry()], {"model": None}, {"model": Level.UNKNOWN}),
        ([entry()], {"model": "qwen3"}, {"model": Level.PROBLEM}),
    ],
)
async def test_the_loaded_model(
    server: Server,
    look: Look,
    loaded: list[Json],
    wanted: dict[str, object],
    expected: dict[str, Level],
) -> None:
    """Is it there, until when, with which window, and where."""
    server.loaded = loaded
    assert wrong(await look(**wanted)) == expected


async def test_a_name_without_a_tag_is_the_latest(server: Server, look: Look) -> None:
    """As Ollama itself takes it."""
    server.models = ["home:latest"]
    server.loaded = [entry(name="home:latest", model="home:latest")]
    assert wrong(await look(model="home")) == {}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (shown(), {"memory": "attention", "path": "rendered", "runner": "llama-server"}),
        (RECURRENT, {"memory": "recurrent", "path": "rendered", "runner": "llama-server"}),
        (
            shown("gemma3", model_info={"gemma3.attention.sliding_window": 512}, template=""),
            {"memory": "sliding window", "path": "native"},
        ),
        (shown(model_info={"x.ssm.state_size": 16}), {"memory": "recurrent"}),
        (shown(template="{% for it in messages %}{{ it }}{% endfor %}"), {"path": "native"}),
        (shown(details={"format": "safetensors"}), {"runner": "MLX"}),
    ],
)
async def test_the_model_itself(
    server: Server, look: Look, model: Json, expected: dict[str, str]
) -> None:
    """How it remembers, who makes its prompt, and what runs it."""
    server.shown = model
    findings = await look()
    for name, words in expected.items():
        assert words in findings[name].words


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (shown(template="Current date: {{ currentDate }}"), {"template_date"}),
        (shown(template="{{- strftime_now('%d %B') }}{% if x %}{% endif %}"), {"template_date"}),
        (shown(template="Today Date: {{ x }}"), {"template_date"}),
        (shown(template="Cutting Knowledge Date: December 2023"), set()),
        (shown(renderer="glimmer"), {"template_date"}),
        (shown(parameters='num_ctx    4096\nstop "x"'), {"modelfile"}),
        (shown(parameters=f"num_ctx    {NUM_CTX}\nnum_keep 4", system="Be nice."), set()),
        (shown(remote_host="https://ollama.com:443"), {"cloud"}),
    ],
)
async def test_what_the_model_brings_along(
    server: Server, look: Look, model: Json, expected: set[str]
) -> None:
    """A date, a window of its own, a machine of someone else's."""
    server.shown = model
    assert set(wrong(await look())) == expected


def node(name: str, context: int = NUM_CTX, status: str = "online") -> Json:
    """Return a machine of a fleet."""
    loaded = [{"name": MODEL, "context_length": context}]
    return {
        "node_id": name,
        "status": status,
        "ollama_url": f"http://{name}:11434",
        "ollama": {"models_loaded": loaded},
    }


HERD = {"router": Level.ADVICE, "keep_alive": Level.UNKNOWN, "processor": Level.UNKNOWN}
SEVERAL = HERD | {"router_nodes": Level.ADVICE}


@pytest.mark.parametrize(
    ("fleet", "interval", "expected"),
    [
        ({"nodes": [node("alpha")]}, 600, HERD),
        ({"nodes": [node("alpha")]}, 3600, HERD | {"router_interval": Level.ADVICE}),
        ({"nodes": [node("alpha"), node("beta")]}, 600, SEVERAL),
        ({"nodes": [node("alpha"), node("beta", status="offline")]}, 600, HERD),
        (
            {"nodes": [node("alpha"), node("beta", 4096)]},
            600,
            SEVERAL | {"router_windows": Level.ADVICE, "num_ctx": Level.PROBLEM},
        ),
        (500, 600, HERD | {"num_ctx": Level.UNKNOWN}),
    ],
)
async def test_herd(
    server: Server, look: Look, fleet: Json | int, interval: float, expected: dict[str, Level]
) -> None:
    """What it changes, and what its short list of models leaves unknown."""
    server.version = {"version": "0.35.1", "herd_version": "0.11.4"}
    server.loaded = [{"name": MODEL, "model": MODEL, "size": 1000, "fleet_node": "alpha"}]
    server.fleet = fleet
    findings = await look(interval=interval)
    assert wrong(findings) == expected
    assert "Ollama Herd 0.11.4" in findings["router"].words
    if "router_nodes" in expected:
        assert "beta at http://beta:11434" in str(findings["router_nodes"].advice)


async def test_herd_by_its_list_of_models(server: Server, look: Look) -> None:
    """Whatever release does not report its version."""
    server.loaded = [entry(fleet_node="alpha")]
    findings = await look(interval=600)
    assert wrong(findings) == {"router": Level.ADVICE}
    assert "Ollama Herd of unknown version" in findings["router"].words


@pytest.mark.parametrize(
    ("keep_alive", "seconds"),
    [(None, None), (-1, None), ("-1", None), (0, 0.0), (300, 300.0), ("1h30m", 5400.0)],
)
def test_spans(keep_alive: int | str | None, seconds: float | None) -> None:
    """As Ollama takes them."""
    assert seconds_of(keep_alive) == seconds
