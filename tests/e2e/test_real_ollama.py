"""A real Ollama of the rig: it counts, says who makes a prompt, and can be broken in every way.

Skipped where there is none: `script/bootstrap --ollama` finds or builds one.
"""

from collections.abc import AsyncGenerator
from pathlib import Path
import re
from typing import Any

import aiohttp
import pytest

from custom_components.ollama_warm.ollama import facts
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama_shapes import GO_TEMPLATE
from tests.rig.real_ollama import (
    OllamaMissingError,
    RealModel,
    RealOllama,
    ollama_binary,
    without_the_count,
)

WITH_TOOLS = GO_TEMPLATE.replace(
    "{{ .Content }}",
    "{{ .Content }}{{ range .ToolCalls }}<tool_call>{{ .Function.Name }}</tool_call>{{ end }}"
    '{{ if eq .Role "tool" }}<tool_response>{{ end }}',
)
MODELS = {
    "native": RealModel(name="native", gguf=tiny_model(Memory.ATTENTION)),
    "renderer": RealModel(name="renderer", gguf=tiny_model(Memory.RECURRENT), renderer="qwen3.5"),
    "template": RealModel(name="template", gguf=tiny_model(Memory.SLIDING), template=WITH_TOOLS),
    # Ollama prefers the file's own template where only that one replays calls of tools.
    "preferred": RealModel(name="preferred", gguf=tiny_model(Memory.SLIDING), template=GO_TEMPLATE),
}
SYSTEM = "You are brief. " * 300


def _is_there(version: str) -> bool:
    try:
        ollama_binary(version)
    except OllamaMissingError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not _is_there("0.33.3"), reason="no real Ollama here: script/bootstrap --ollama"
)


@pytest.fixture
async def ollama(tmp_path: Path) -> AsyncGenerator[RealOllama]:
    """Run one with three models."""
    async with RealOllama(list(MODELS.values()), folder=tmp_path) as server:
        yield server


async def post(url: str, path: str, **body: object) -> dict[str, Any]:
    """Return the JSON that answers a body."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}{path}", json=body) as answer,
    ):
        assert answer.ok, await answer.text()
        found: dict[str, Any] = await answer.json()
        return found


async def ask(url: str, model: str, words: str) -> dict[str, Any]:
    """Ask a question behind the same system text."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": words}]
    options = {"num_ctx": 8192}
    return await post(
        url, "/api/chat", model=model, messages=messages, options=options, stream=False
    )


async def loaded(url: str) -> set[str]:
    """Return the models that it says are in memory."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/api/ps") as answer:
        return {model["name"] for model in (await answer.json())["models"]}


@pytest.mark.parametrize(
    ("name", "memory", "path", "most"),
    [
        ("native", facts.Memory.ATTENTION, facts.PromptPath.NATIVE, 20),
        # A chat leaves the nearest checkpoint a batch in front of the question.
        ("renderer", facts.Memory.RECURRENT, facts.PromptPath.RENDERED, 1040),
        ("template", facts.Memory.SLIDING, facts.PromptPath.RENDERED, 20),
        ("preferred", facts.Memory.SLIDING, facts.PromptPath.NATIVE, 20),
    ],
)
async def test_what_it_says_of_a_model(
    ollama: RealOllama, name: str, memory: facts.Memory, path: facts.PromptPath, most: int
) -> None:
    """Memory and path follow from its own words, and the counts agree with them."""
    shown = await post(ollama.url, "/api/show", model=name)
    assert facts.memory_of(shown) is memory
    assert facts.path_of(shown) is path
    assert facts.runner_of(shown, facts.Version.read("0.33.3")) is facts.Runner.LLAMA_SERVER
    first, second = [await ask(ollama.url, name, words) for words in ("Hello", "What is new?")]
    assert first["prompt_eval_cached_count"] == 0
    re_read = second["prompt_eval_count"] - second["prompt_eval_cached_count"]
    assert 0 < re_read <= most
    log = ollama.log_path.read_text(errors="replace")
    selected = re.findall(rf'msg="template selection" model=\S*{name}\S* selected=(\w+)', log)
    assert {facts.selected_path(word) for word in selected} == {path}
    assert "prompt eval time" in log


async def test_a_killed_runner(ollama: RealOllama) -> None:
    """It stays listed until somebody asks; the next question loads it again and reads it all."""
    await ask(ollama.url, "native", "Hello")
    assert ollama.kill_runners() == 1
    assert await loaded(ollama.url) == {"native:latest"}
    again = await ask(ollama.url, "native", "What is new?")
    assert again["prompt_eval_cached_count"] == 0
    await ollama.unload("native")
    assert await loaded(ollama.url) == set()


async def test_an_ollama_without_the_count(ollama: RealOllama) -> None:
    """What stands for an older one drops that one key and nothing else."""
    async with without_the_count(ollama.url) as url:
        answer = await ask(url, "native", "Hello")
    assert "prompt_eval_cached_count" not in answer
    assert {"prompt_eval_count", "prompt_eval_duration", "done"} <= answer.keys()


@pytest.mark.skipif(not _is_there("0.33.2"), reason="needs both: script/bootstrap --ollama")
async def test_an_upgrade(tmp_path: Path) -> None:
    """Another version answers at the same address with the same models."""
    models = [MODELS["native"]]
    async with RealOllama(models, folder=tmp_path, version="0.33.2") as server:
        url = server.url
        await ask(url, "native", "Hello")
        await server.upgrade("0.33.3")
        assert server.url == url
        assert (await ask(url, "native", "Hello"))["prompt_eval_cached_count"] == 0
        async with aiohttp.ClientSession() as session, session.get(f"{url}/api/version") as said:
            assert (await said.json())["version"] == "0.33.3"
