"""A plain client for the stand-in, so that its tests see what is on the wire."""

from dataclasses import dataclass
import json
from typing import Any, cast

import aiohttp

from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, ServedModel

type Json = dict[str, Any]

OPTIONS: Json = {"num_ctx": 16_384}
HOUSE = "".join(
    f"- names: Lamp {number}\n  domain: light\n  areas: Room {number % 7}\n"
    for number in range(150)
)
TOOLS: list[Json] = [
    {
        "type": "function",
        "function": {
            "name": "HassTurnOn",
            "description": "Turns on a device",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "area": {"type": "string"}},
            },
        },
    }
]
ALL_MODELS = [
    ServedModel(f"{memory}-{path}", memory, tiny_model(memory), path)
    for memory in Memory
    for path in ("native", "rendered")
]


@dataclass
class Client:
    """Asks the stand-in, and keeps its records at hand."""

    ollama: OllamaStandIn
    session: aiohttp.ClientSession

    async def post(self, path: str, body: Json, **headers: str) -> tuple[int, list[Json]]:
        """Return the status and every object of an answer."""
        async with self.session.post(self.ollama.url + path, json=body, headers=headers) as answer:
            return answer.status, [json.loads(line) async for line in answer.content]

    async def last(self, path: str, body: Json) -> Json:
        """Return the last object of a good answer."""
        status, objects = await self.post(path, body)
        assert status == 200, objects
        return objects[-1]

    async def ask(self, model: str, question: str, system: str = HOUSE, **more: object) -> Json:
        """Ask with the house in the prompt, and return the last chunk."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        body = {"model": model, "messages": messages, "tools": TOOLS, "options": OPTIONS}
        return await self.last("/api/chat", body | {"stream": False} | more)

    async def re_read(self, model: str, question: str, system: str = HOUSE) -> int:
        """Ask, and return how many tokens were read for it."""
        await self.ask(model, question, system)
        return self.ollama.records[-1].re_read_tokens

    async def running(self) -> list[Json]:
        """Return what /api/ps lists."""
        async with self.session.get(f"{self.ollama.url}/api/ps") as answer:
            return cast("list[Json]", (await answer.json())["models"])
