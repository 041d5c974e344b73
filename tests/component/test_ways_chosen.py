"""How a prefix is read into a server's cache: what is chosen for which server and model."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.ollama_warm.ollama.ways import (
    Chosen,
    Way,
    async_choose,
    async_raw_prompt,
    common_length,
)

BODY: dict[str, Any] = {
    "model": "a model",
    "messages": [{"role": "system", "content": "You are brief."}],
    "tools": [],
}
GO = "{{ .System }}{{ .Prompt }}"
JINJA = "{%- for message in messages %}{{ message.content }}{% endfor %}"


class Server:
    """Says what a test wants to `/api/show`, and renders as it wants."""

    def __init__(self, shown: dict[str, Any], template: str | None = "<{}> {}\n") -> None:
        """Render system text and question with this template; None renders nothing."""
        self._shown = shown
        self._template = template
        self.asked: list[str] = []

    async def show(self, model: str) -> dict[str, Any]:
        """Return what is known of a model."""
        self.asked.append(f"show {model}")
        return self._shown

    async def render(self, body: Mapping[str, Any]) -> str | None:
        """Return the prompt of a chat."""
        system, user = (message["content"] for message in body["messages"])
        assert {**body, "messages": body["messages"][:1]} == BODY
        self.asked.append("render")
        return self._template and self._template.format(system, user)


def shown(
    architecture: str = "llama", form: str = "gguf", info: object = None, **more: object
) -> dict[str, Any]:
    """Return what a server says of a model."""
    known = {"general.architecture": architecture} | (info if isinstance(info, dict) else {})
    return {"details": {"format": form}, "model_info": known, **more}


MAMBA = shown("mamba2", template=GO)
CHOICES = {
    "attention": (shown(template=GO), "0.35.1", Way.CHAT),
    "recurrent": (MAMBA, "0.35.1", Way.RAW),
    "recurrent, first that renders": (MAMBA, "0.11.5", Way.RAW),
    "recurrent, pre-release": (MAMBA, "0.33.0-rc2", Way.RAW),
    "recurrent, too old": (MAMBA, "0.11.4", Way.CHAT),
    "recurrent, built by someone": (MAMBA, "0.0.0", Way.CHAT),
    "recurrent, unknown version": (MAMBA, "", Way.CHAT),
    "recurrent, native": (shown("mamba2"), "0.35.1", Way.CHAT),
    "recurrent, native that shows its template": (
        shown("mamba2", template=JINJA),
        "0.35.1",
        Way.CHAT,
    ),
    "recurrent, built-in renderer": (shown("qwen35", renderer="qwen3.5"), "0.35.1", Way.RAW),
    "recurrent, renderer and Jinja": (
        shown("qwen35", renderer="qwen3.5", template=JINJA),
        "0.35.1",
        Way.RAW,
    ),
    "recurrent, no renderer": (shown("qwen35", renderer=""), "0.35.1", Way.CHAT),
    "sliding": (
        shown("gemma3", info={"gemma3.attention.sliding_window": 512}, template=GO),
        "0.35.1",
        Way.RAW,
    ),
    "MLX": (shown(form="safetensors"), "0.35.1", Way.RAW),
    "MLX, too old": (shown(form="safetensors"), "0.11.4", Way.TWO_QUESTIONS),
    "says nothing": ({}, "0.35.1", Way.CHAT),
    "says nonsense": ({"details": [], "model_info": [], "template": 7}, "0.35.1", Way.CHAT),
}


@pytest.mark.parametrize(("answer", "version", "way"), CHOICES.values(), ids=CHOICES)
async def test_choices(answer: dict[str, Any], version: str, way: Way) -> None:
    """The way follows from the model's memory, who renders, and what the server can do."""
    server: Any = Server(answer)
    assert await async_choose(server, BODY, version) == Chosen(way, version)
    # A render is only asked of a server that does not take it for a question.
    assert server.asked == ["show a model", *["render"] * (2 * (way is Way.RAW))]


@pytest.mark.parametrize(
    ("answer", "way"), [(MAMBA, Way.CHAT), (shown(form="safetensors"), Way.TWO_QUESTIONS)]
)
async def test_it_does_not_render(answer: dict[str, Any], way: Way) -> None:
    """A server that should render and does not is warmed by questions."""
    server: Any = Server(answer, None)
    assert await async_choose(server, BODY, "0.35.1") == Chosen(way, "0.35.1")


PROMPTS = {
    "<sys>{}</sys><user>{}</user>": "<sys>You are brief.</sys><user>a b",
    "{}\nQuestion: {}": "You are brief.\nQuestion:a b",
    "{1}{0}": None,
    "  {1}{0}": None,
    "": None,
}


@pytest.mark.parametrize(("template", "prompt"), PROMPTS.items(), ids=PROMPTS)
async def test_raw_prompt(template: str, prompt: str | None) -> None:
    """It is what all questions share, and a short end; a space stays with the word behind it."""
    server: Any = Server({}, template)
    assert await async_raw_prompt(server, BODY) == prompt


@given(st.text("ab"), st.text("ab"))
def test_common_length(first: str, other: str) -> None:
    """It is the length of the common beginning."""
    length = common_length(first, other)
    assert first[:length] == other[:length]
    assert length == min(len(first), len(other)) or first[length] != other[length]
