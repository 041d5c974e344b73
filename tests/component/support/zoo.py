"""A server with a model of every kind: what it can remember, and who makes its prompt."""

from pathlib import Path
from typing import Any, Literal

from homeassistant.config_entries import ConfigEntry
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import Record, ServedModel

from .house import House, add_server
from .server import Ollama

type Path_ = Literal["native", "rendered"]

KINDS: list[tuple[Memory, Path_]] = [
    (memory, path) for memory in Memory for path in ("native", "rendered")
]
RECURRENT = "recurrent-rendered"
NATIVE = "attention-native"
JINJA = "jinja"
"""Recurrent, its prompt made by llama.cpp, and its own template is shown."""


class Zoo(Ollama):
    """The stand-in with models of every kind."""

    def __init__(self, log_dir: Path) -> None:
        """Prepare; a model is loaded when it is asked for."""
        super().__init__(log_dir)
        for memory, path in KINDS:
            gguf = tiny_model(memory)
            self.stand_in.serve(ServedModel(f"{memory}-{path}", memory, gguf, path))
        gguf = tiny_model(Memory.RECURRENT)
        self.stand_in.serve(ServedModel(JINJA, Memory.RECURRENT, gguf, shows_chat_template=True))

    def read(self) -> list[Record]:
        """Return the requests for which the model had to read."""
        return [record for record in self.records if record.kind == "answer"]

    def steps(self) -> str:
        """Return what was sent, in short: r a render, p a raw prompt, c a chat."""
        return "".join(
            "r" if record.kind == "render" else "c" if record.endpoint == "/api/chat" else "p"
            for record in self.records
        )


async def set_up(house: House, ollama: Ollama, model: str, **options: Any) -> ConfigEntry:  # noqa: ANN401 (as add_server takes them)
    """Set up a server whose agent uses one of these models."""
    return await house.set_up(add_server(house.hass, ollama.url, model=model, **options))
