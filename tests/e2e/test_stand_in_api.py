"""The stand-in speaks like Ollama: streams, errors, versions, and a model's stay in memory."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.stand_in_client import Client, Json
from tests.rig import models
from tests.rig.models import Memory, ModelNotBuiltError, tiny_model
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn, Scripted, ServedModel

GGUF = tiny_model(Memory.ATTENTION)
NATIVE = ServedModel("tiny", Memory.ATTENTION, GGUF)
RENDERED = ServedModel("tiny:rendered", Memory.ATTENTION, GGUF, "rendered")
EXTRA = ServedModel("extra", Memory.RECURRENT, GGUF)
HELLO = [{"role": "user", "content": "hello"}]
CHAT: Json = {"model": "tiny", "messages": HELLO}
METRICS = {
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_cached_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[Client]:
    """A stand-in with one model on each path, and a client."""
    async with (
        OllamaStandIn([NATIVE, RENDERED], pullable=[EXTRA], log_dir=tmp_path) as ollama,
        aiohttp.ClientSession() as session,
    ):
        yield Client(ollama, session)


@pytest.mark.parametrize("model", ["tiny", "tiny:latest", "tiny:rendered"])
async def test_chat_stream(client: Client, model: str) -> None:
    """Words come in chunks, figures come with the last one."""
    _, (*chunks, last) = await client.post("/api/chat", CHAT | {"model": model, "think": False})
    assert len(chunks) == 12
    for chunk in chunks:
        assert set(chunk) == {"model", "created_at", "message", "done"}
        assert (chunk["model"], chunk["done"]) == (model, False)
        assert datetime.fromisoformat(chunk["created_at"]).tzinfo == UTC
    assert set(last) == {"model", "created_at", "message", "done", "done_reason"} | METRICS
    assert last["message"] == {"role": "assistant", "content": ""}
    assert (last["done"], last["done_reason"], last["eval_count"]) == (True, "stop", 12)
    whole = await client.last("/api/chat", CHAT | {"model": model, "stream": False})
    assert whole["message"]["content"] == "".join(c["message"]["content"] for c in chunks)


async def test_generate(client: Client) -> None:
    """The other endpoint has its words in `response`, and makes the same prompt."""
    body = {"model": "tiny", "prompt": "hello", "options": {"num_predict": 3}}
    _, (*chunks, last) = await client.post("/api/generate", body)
    assert ["response" in chunk for chunk in chunks] == [True] * 3
    assert (last["response"], last["done_reason"], last["eval_count"]) == ("", "length", 3)
    chat = await client.last("/api/chat", CHAT)
    assert last["prompt_eval_count"] == chat["prompt_eval_count"]


async def test_num_predict_zero_is_no_limit_on_the_rendered_path(client: Client) -> None:
    """Ollama leaves the zero out there; llama.cpp writes one token where it gets it."""
    counts = {
        model: (await client.last("/api/chat", CHAT | {"model": model, "options": options}))
        for model in ("tiny", "tiny:rendered")
        for options in ({"num_predict": 0},)
    }
    assert {name: last["eval_count"] for name, last in counts.items()} == {
        "tiny": 1,
        "tiny:rendered": 12,
    }


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("chat", {"model": "none"}, 404, "model 'none' not found"),
        ("generate", {"model": "none"}, 404, "model 'none' not found"),
        ("show", {"model": "none"}, 404, "model 'none' not found"),
        ("chat", CHAT | {"think": True}, 400, '"tiny" does not support thinking'),
        ("chat", CHAT | {"keep_alive": "300"}, 400, 'time: missing unit in duration "300"'),
        (
            "generate",
            {"model": "tiny", "prompt": "x", "raw": True, "system": "y"},
            400,
            "raw mode does not support template, system, or context",
        ),
    ],
)
async def test_refusals(client: Client, path: str, body: Json, status: int, message: str) -> None:
    """Errors are an object with one text, and a status that fits."""
    assert await client.post(f"/api/{path}", body) == (status, [{"error": message}])


async def test_no_body(client: Client) -> None:
    """A request without a body, or with half of one, is told so."""
    for data, message in ((b"", "missing request body"), (b"{", None)):
        async with client.session.post(f"{client.ollama.url}/api/chat", data=data) as answer:
            assert answer.status == 400
            assert message in (None, (await answer.json())["error"])


@pytest.mark.parametrize(
    ("version", "reports", "count"),
    [
        ("0.35.1", None, 0),
        ("0.33.3-rc1", None, 0),
        ("0.33.2", None, None),
        ("0.33.2", 1, 0),
        ("0.35.1", 0, None),
    ],
)
async def test_cached_count_by_version(
    client: Client, version: str, reports: int | None, count: int | None
) -> None:
    """Not reported is not there, none is a literal zero, and the record knows the truth."""
    client.ollama.version = version
    client.ollama.reports_cached = None if reports is None else bool(reports)
    last = await client.last("/api/chat", CHAT)
    assert last.get("prompt_eval_cached_count") == count
    assert client.ollama.records[-1].cached_tokens == 0
    async with client.session.get(f"{client.ollama.url}/api/version") as answer:
        assert await answer.json() == {"version": version}


async def test_load_and_unload(client: Client) -> None:
    """Nothing asked loads the model, with no time to stay it goes; neither has figures."""
    loaded = await client.last("/api/chat", {"model": "tiny", "messages": []})
    assert (loaded["done_reason"], METRICS & set(loaded)) == ("load", set())
    assert [entry["name"] for entry in await client.running()] == ["tiny:latest"]
    body = {"model": "tiny", "prompt": "", "keep_alive": 0}
    assert (await client.last("/api/generate", body))["done_reason"] == "unload"
    assert await client.running() == []
    assert [record.kind for record in client.ollama.records] == ["load", "unload"]


@pytest.mark.parametrize(
    ("keep_alive", "seconds"),
    [(None, 300), ("5m", 300), (60, 60), ("1h30m", 5400), (-1, 2**63 / 1e9), ("-1s", 2**63 / 1e9)],
)
async def test_keep_alive(client: Client, keep_alive: str | int | None, seconds: float) -> None:
    """A time, a number of seconds, or for ever; who says nothing changes nothing."""
    body = CHAT if keep_alive is None else CHAT | {"keep_alive": keep_alive}
    for request in (body, CHAT):
        await client.last("/api/chat", request)
        entry = (await client.running())[0]
        stays = datetime.fromisoformat(entry["expires_at"]) - datetime.now(UTC)
        assert abs(stays - timedelta(seconds=seconds)) < timedelta(seconds=5)


@pytest.mark.parametrize("keep_alive", [0, "50ms"])
async def test_a_model_goes_when_its_time_is_over(client: Client, keep_alive: str | int) -> None:
    """An answer is given, and then the memory is free again."""
    await client.last("/api/chat", CHAT | {"keep_alive": keep_alive})
    async with asyncio.timeout(5):
        while await client.running():  # noqa: ASYNC110 (the server tells nobody)
            await asyncio.sleep(0.05)


async def test_render_only(client: Client) -> None:
    """The prompt comes back and nothing is read, on both paths; old versions do not know it."""
    for model in ("tiny", "tiny:rendered"):
        last = await client.last("/api/chat", CHAT | {"model": model, "_debug_render_only": True})
        assert last["_debug_info"] == {
            "rendered_template": "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n",
            "image_count": 0,
        }
        assert not METRICS & set(last)
    client.ollama.version = "0.11.4"
    last = await client.last("/api/chat", CHAT | {"_debug_render_only": True})
    assert "_debug_info" not in last


async def test_show_tags_and_the_root(client: Client) -> None:
    """What a client asks before it chooses a model."""
    native = await client.last("/api/show", {"model": "tiny"})
    rendered = await client.last("/api/show", {"model": "tiny:rendered"})
    assert "template" not in native
    assert "{{ .System }}" in rendered["template"]
    assert native["capabilities"] == ["completion", "tools"]
    assert native["model_info"]["general.architecture"] == "llama"
    async with client.session.get(f"{client.ollama.url}/api/tags") as answer:
        names = [entry["name"] for entry in (await answer.json())["models"]]
    assert names == ["tiny:latest", "tiny:rendered"]
    async with client.session.head(client.ollama.url) as answer:
        assert answer.status == 200


async def test_pull(client: Client) -> None:
    """Progress, and then the model is there; what nobody has is an error in the stream."""
    _, objects = await client.post("/api/pull", {"model": "extra"})
    assert [o["status"] for o in objects][-3:-1] == ["verifying sha256 digest", "writing manifest"]
    assert objects[-1] == {"status": "success"}
    assert objects[3]["completed"] == objects[3]["total"]
    assert (await client.last("/api/show", {"model": "extra"}))["details"]["family"] == "mamba2"
    _, objects = await client.post("/api/pull", {"model": "none"})
    assert objects[-1] == {"error": "pull model manifest: file does not exist"}


@pytest.mark.parametrize("model", ["tiny", "tiny:rendered"])
async def test_scripted_answers(client: Client, model: str) -> None:
    """A script says the words and the calls; the prompt is read and counted all the same."""
    call = {"name": "HassTurnOn", "arguments": {"name": "Lamp"}}
    scripted = Scripted(["On ", "it."], [call], "hm")
    client.ollama.script = lambda body: scripted if body["messages"] == HELLO else None
    _, objects = await client.post("/api/chat", CHAT | {"model": model})
    assert objects[0]["message"]["thinking"] == "hm"
    assert "".join(o["message"]["content"] for o in objects) == "On it."
    # On the native path a call comes with the last chunk, on the rendered one before it.
    (calls,) = [o for o in objects if "tool_calls" in o["message"]]
    assert calls["done"] is (model == "tiny")
    assert calls["message"]["tool_calls"][0]["function"] == {"index": 0} | call
    assert objects[-1]["prompt_eval_count"] == client.ollama.records[-1].prompt_tokens
    client.ollama.script = None
    plain = await client.last("/api/chat", CHAT | {"model": model})
    assert plain["prompt_eval_count"] == objects[-1]["prompt_eval_count"]


async def test_faults_before_an_answer(client: Client) -> None:
    """A proxy's page, a status, a wait: each as often as it was asked for."""
    client.ollama.fault = Fault(FaultKind.HTML, times=1)
    async with client.session.post(f"{client.ollama.url}/api/chat", json=CHAT) as answer:
        assert (answer.status, answer.content_type) == (200, "text/html")
    client.ollama.fault = Fault(FaultKind.STATUS_500, paths=("/api/version",))
    async with client.session.get(f"{client.ollama.url}/api/version") as answer:
        assert answer.status == 500
    client.ollama.fault = Fault(FaultKind.DELAY, seconds=0.3, times=1)
    started = asyncio.get_running_loop().time()
    await client.last("/api/chat", CHAT)
    assert asyncio.get_running_loop().time() - started >= 0.3


@pytest.mark.parametrize("lines", [3, 0], ids=["stream", "whole"])
@pytest.mark.parametrize("kind", [FaultKind.HALF_LINE, FaultKind.CLOSE])
async def test_connections_that_break(client: Client, kind: FaultKind, lines: int) -> None:
    """A connection that ends in mid-answer is no answer."""
    client.ollama.fault = Fault(kind, after=3)
    received = bytearray()

    async def receive() -> None:
        body = CHAT | {"stream": lines > 0}
        async with client.session.post(f"{client.ollama.url}/api/chat", json=body) as answer:
            async for data in answer.content.iter_any():
                received.extend(data)

    with pytest.raises(aiohttp.ClientError):
        await receive()
    whole, _, rest = received.rpartition(b"\n")
    assert len(whole.splitlines()) == lines
    assert rest.startswith(b'{"model":"tiny"') is (kind is FaultKind.HALF_LINE)
    assert not rest.endswith(b"}")


async def test_an_error_in_mid_stream(client: Client) -> None:
    """What has begun to stream ends with a line; what has not, with a status."""
    client.ollama.fault = Fault(FaultKind.ERROR_LINE, after=2)
    wrong = {"error": "an error was encountered while running the model"}
    status, objects = await client.post("/api/chat", CHAT)
    assert (status, len(objects), objects[-1]) == (200, 3, wrong)
    assert await client.post("/api/chat", CHAT | {"stream": False}) == (500, [wrong])
    assert client.ollama.records[-1].error == wrong["error"]


async def test_a_key(client: Client) -> None:
    """With a key set, only who has it is let in."""
    client.ollama.api_key = "secret"
    assert (await client.post("/api/chat", CHAT))[0] == 401
    assert (await client.post("/api/chat", CHAT, Authorization="Bearer secret"))[0] == 200


def test_models_are_the_same_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built anew a model is the same file; where it cannot be built, the error says what to do."""
    monkeypatch.setenv("OLLAMA_WARM_CACHE", str(tmp_path))
    assert tiny_model(Memory.ATTENTION).read_bytes() == GGUF.read_bytes()
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    with pytest.raises(ModelNotBuiltError, match=r"python -m tests\.rig\.models"):
        tiny_model(Memory.SLIDING)
