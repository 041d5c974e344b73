"""The stand-in is honest: what it counts is what llama.cpp counts, whatever the memory and path."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
import re

import aiohttp
import pytest

from tests.e2e.stand_in_client import ALL_MODELS, HOUSE, OPTIONS, TOOLS, Client, Json
from tests.rig.llama import LlamaServer, LlamaSettings
from tests.rig.models import Memory
from tests.rig.ollama import OllamaStandIn, ServedModel
from tests.rig.ollama_engine import Engine, conversation

QUESTIONS = ("turn on the light", "what is the weather like today", "set a timer")

every_model = pytest.mark.parametrize("model", ALL_MODELS, ids=lambda model: model.name)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[Client]:
    """A stand-in with all kinds of models, and a client."""
    async with (
        OllamaStandIn(ALL_MODELS, log_dir=tmp_path) as ollama,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session,
    ):
        yield Client(ollama, session)


def logged_counts(log: Path) -> list[tuple[int, int]]:
    """Return (prompt, read) of every request in llama.cpp's own log."""
    text = log.read_text(errors="replace")
    prompts = re.findall(r"new prompt, .*task\.n_tokens = (\d+)", text)
    read = re.findall(r"prompt eval time =.*/ +(\d+) tokens", text)
    return list(zip(map(int, prompts), map(int, read), strict=True))


async def direct_counts(client: Client, model: ServedModel, log: Path) -> list[tuple[int, int]]:
    """Return (prompt, read) of the questions, asked of llama.cpp without the stand-in."""
    server = LlamaServer(model.gguf, log, LlamaSettings(OPTIONS["num_ctx"]))
    await server.start()
    engine, counts = Engine(client.session, server.url), []
    for question in QUESTIONS:
        house, asked = {"role": "system", "content": HOUSE}, {"role": "user", "content": question}
        talk = conversation([house, asked], TOOLS, None)
        native = engine.chat(talk, model.answer_tokens)
        rendered = engine.complete(await engine.render(talk), model.answer_tokens)
        pieces = [piece async for piece in (native if model.path == "native" else rendered)]
        timings = pieces[-1].timings
        assert timings is not None
        counts.append((timings.cached + timings.read, timings.read))
    await server.stop()
    return counts


@every_model
async def test_counts_are_llama_cpps_own(
    client: Client, model: ServedModel, tmp_path: Path
) -> None:
    """Answers, records, llama.cpp's log and a llama.cpp of its own agree on every count."""
    told = []
    for question in QUESTIONS:
        last = await client.ask(model.name, question)
        prompt, cached = last["prompt_eval_count"], last["prompt_eval_cached_count"]
        told.append((prompt, prompt - cached))
    records = [(r.prompt_tokens, r.re_read_tokens) for r in client.ollama.records]
    direct = await direct_counts(client, model, tmp_path / "direct.log")
    await client.ollama.unload(model.name)  # the log is written by then

    assert told == records == direct == logged_counts(client.ollama.log_path(model.name))


@pytest.mark.parametrize("memory", Memory)
async def test_both_paths_read_the_same_prompt(client: Client, memory: Memory) -> None:
    """Rendering first and reading then makes no token more, and none less."""
    tools_used = [
        {"role": "system", "content": HOUSE},
        {"role": "user", "content": "Light, please"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "HassTurnOn", "arguments": {"name": "Lamp é"}}}],
        },
        {"role": "tool", "tool_name": "HassTurnOn", "content": '{"success": true}'},
        {"role": "user", "content": "Thanks"},
    ]
    body = {"messages": tools_used, "tools": TOOLS, "options": OPTIONS, "think": False}
    counts = []
    for path in ("native", "rendered"):
        last = await client.last("/api/chat", body | {"model": f"{memory}-{path}"})
        counts.append(last["prompt_eval_count"])
    prompt = client.ollama.records[-1].prompt
    assert prompt is not None
    assert '<tool_call>\n{"name": "HassTurnOn", "arguments": {"name": "Lamp é"}}' in prompt
    begins = memory is Memory.SLIDING  # the one with a token of its own in front, once
    tokens = await client.ollama.count_tokens(f"{memory}-rendered", prompt) + begins
    assert counts == [tokens, tokens]


async def test_what_becomes_of_a_tool(client: Client) -> None:
    """llama.cpp puts a tool's outer keys in its own order, and keeps that of the parameters."""
    function = TOOLS[0]["function"]
    properties = function["parameters"]["properties"]
    turned = [{"function": dict(reversed(function.items())) | {"strict": True}, "type": "function"}]
    swapped = function["parameters"] | {"properties": dict(reversed(properties.items()))}
    prompts = []
    for tools in (
        TOOLS,
        turned,
        [{"type": "function", "function": function | {"parameters": swapped}}],
    ):
        await client.ask("attention-rendered", "hello", tools=tools)
        prompts.append(client.ollama.records[-1].prompt)
    assert prompts[0] == prompts[1] != prompts[2]


@pytest.mark.parametrize("memory", [Memory.ATTENTION, Memory.SLIDING])
@pytest.mark.parametrize("path", ["native", "rendered"])
async def test_a_new_question_costs_itself(client: Client, memory: Memory, path: str) -> None:
    """Without a recurrent state only the words behind the common prefix are read."""
    costs = [await client.re_read(f"{memory}-{path}", question) for question in QUESTIONS]
    assert costs[0] > 3000
    assert max(costs[1:]) <= 14


async def test_a_recurrent_model_on_the_native_path(client: Client) -> None:
    """A checkpoint lies at the start of the question: what moves in front of it costs a batch."""
    model = "recurrent-native"
    await client.re_read(model, "hello")
    assert await client.re_read(model, "turn on the light") <= 17
    in_system = [await client.re_read(model, "hello", f"{HOUSE}12:00:0{s}") for s in range(3)]
    assert set(in_system[1:]) <= {1024, 1025}
    in_question = [await client.re_read(model, f"It is 12:00:0{s}.\nhello") for s in range(4)]
    assert 1000 < in_question[0] < 1100
    assert max(in_question[1:]) <= 25


async def test_a_recurrent_model_on_the_rendered_path(client: Client) -> None:
    """Every new question costs a batch, until a raw ping leaves a checkpoint behind the prefix."""
    model = "recurrent-rendered"
    await client.re_read(model, "hello")
    costs = [await client.re_read(model, question) for question in QUESTIONS]
    assert all(1015 <= cost <= 1035 for cost in costs)

    render = (await client.ask(model, "alpha", _debug_render_only=True))["_debug_info"]
    prefix = render["rendered_template"].partition("alpha")[0]
    ping = {"model": model, "raw": True, "prompt": f"{prefix}ping"}
    ping["options"] = OPTIONS | {"num_predict": 1}
    await client.last("/api/generate", ping)
    confirmed = await client.last("/api/generate", ping | {"prompt": f"{prefix}pong"})
    assert confirmed["prompt_eval_count"] - confirmed["prompt_eval_cached_count"] <= 6
    costs = [await client.re_read(model, f"In the kitchen: {words}") for words in QUESTIONS]
    assert max(costs) <= 24


async def test_a_change_in_the_middle(client: Client) -> None:
    """Attention keeps what stands before it; the other two have no way back to it."""
    cost = {}
    for memory in Memory:
        await client.re_read(f"{memory}-native", "hello")
        changed = HOUSE.replace("Lamp 75", "Candle 75")
        cost[memory] = await client.re_read(f"{memory}-native", "hello", changed)
    assert 1400 < cost[Memory.ATTENTION] < 1700
    assert min(cost[Memory.RECURRENT], cost[Memory.SLIDING]) > 3000


@every_model
async def test_turns_of_a_conversation(client: Client, model: ServedModel) -> None:
    """What was answered is remembered: a turn costs its own words and the template's."""
    messages = [{"role": "system", "content": HOUSE}]
    costs = []
    for turn in range(4):
        messages.append({"role": "user", "content": f"question {turn}, please"})
        body = {"model": model.name, "messages": messages, "options": OPTIONS, "stream": False}
        answer = await client.last("/api/chat", body)
        messages.append(answer["message"])
        costs.append(client.ollama.records[-1].re_read_tokens)
    assert costs[1:] == [17, 17, 17]


async def test_another_context_loads_anew(client: Client) -> None:
    """A runner option that differs means a new process, and an empty cache."""
    model = "attention-native"
    await client.ask(model, "hello")
    kept = await client.ask(model, "hello again")
    loaded = await client.ask(model, "hello again", options={"num_ctx": 8192})
    assert kept["prompt_eval_cached_count"] > 3000
    assert loaded["prompt_eval_cached_count"] == 0
    assert loaded["load_duration"] > 5 * kept["load_duration"]
    assert client.ollama.runner(model).loads == 2
    assert [entry["context_length"] for entry in await client.running()] == [8192]
    log = client.ollama.log_path(model).read_text(errors="replace")
    assert re.findall(r"-c (\d+) -np 1 -b (\d+)", log) == [("16384", "1024"), ("8192", "1024")]


async def test_a_backend_that_dies(client: Client) -> None:
    """What is killed is cold afterwards; the stand-in itself comes back at the same address."""
    model = "recurrent-native"
    await client.ask(model, "hello")
    await client.ollama.restart_backend(model)
    assert await client.running() == []
    assert await client.re_read(model, "hello") > 3000
    url = client.ollama.url
    await client.ollama.stop()
    with pytest.raises(aiohttp.ClientConnectorError):
        await client.ask(model, "hello")
    await client.ollama.start()
    assert client.ollama.url == url
    assert await client.re_read(model, "hello") > 3000


async def _until_logged(log: Path, words: str, times: int) -> None:
    def count() -> int:
        return log.read_text(errors="replace").count(words) if log.exists() else 0

    async with asyncio.timeout(20):
        while count() < times:  # noqa: ASYNC110 - another process writes the file
            await asyncio.sleep(0.02)


async def test_who_leaves_stops_the_work(client: Client) -> None:
    """A client that goes away cancels its request in llama.cpp, and what was read is kept."""
    model, log = "attention-native", client.ollama.log_path("attention-native")

    def ask() -> asyncio.Task[Json]:
        long = client.ask(model, "hello", HOUSE * 6, options={"num_ctx": 32_768})
        return asyncio.create_task(long)

    asked = ask()
    await _until_logged(log, "memory_seq_rm", 3)  # once for every batch
    asked.cancel()
    await _until_logged(log, "cancel task", 1)
    assert client.ollama.records[-1].cancelled
    last = await ask()
    assert 2048 <= last["prompt_eval_cached_count"] < last["prompt_eval_count"] - 1024


async def test_two_slots_are_two_memories(tmp_path: Path) -> None:
    """With two slots one after the other finds the warm one; two at once read one prompt anew."""
    model = ALL_MODELS[0]
    async with (
        OllamaStandIn([model], log_dir=tmp_path, n_parallel=2) as ollama,
        aiohttp.ClientSession() as session,
    ):
        client = Client(ollama, session)
        await client.ask(model.name, "hello")
        assert await client.re_read(model.name, "turn on the light") <= 14
        log = ollama.log_path(model.name)
        batches = log.read_text(errors="replace").count("memory_seq_rm")
        # Words so long that the second question comes while they are still read.
        talk = asyncio.create_task(client.ask(model.name, "and " * 8_000))
        await _until_logged(log, "memory_seq_rm", batches + 2)
        second = await client.ask(model.name, "how warm is it?")
        first = await talk
    assert first["prompt_eval_cached_count"] > 3000
    assert second["prompt_eval_cached_count"] == 0


async def test_what_does_not_fit_is_dropped(client: Client) -> None:
    """Like Ollama, messages go from the front, and the system text stays."""
    messages = [{"role": "system", "content": "Be brief."}]
    messages += [{"role": "user", "content": f"{number} " * 200} for number in range(10)]
    body = {"model": "attention-rendered", "messages": messages, "options": {"num_ctx": 1024}}
    assert (await client.last("/api/chat", body))["prompt_eval_count"] <= 1024
    prompt = client.ollama.records[-1].prompt or ""
    assert prompt.startswith("<|im_start|>system\nBe brief.")
    assert "0 0 0" not in prompt
    assert "9 9 9" in prompt
    raw = {"model": "attention-rendered", "prompt": HOUSE, "raw": True} | {
        "options": {"num_ctx": 1024}
    }
    assert (await client.last("/api/generate", raw))["prompt_eval_count"] == 1023
