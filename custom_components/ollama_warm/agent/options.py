"""The options of an agent, and the part of a request that follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import hashlib
import json
from typing import Any, Self

from homeassistant.const import (
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_PROMPT,
    MAJOR_VERSION,
    MINOR_VERSION,
)

from ..const import (
    CONF_AUTO_WARM,
    CONF_KEEP_ALIVE,
    CONF_MAX_HISTORY,
    CONF_NUM_CTX,
    CONF_THINK,
    CONF_WARM_INTERVAL,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_MAX_HISTORY,
    DEFAULT_NUM_CTX,
    DEFAULT_WARM_INTERVAL,
    KEEP_ALIVE_FOREVER,
)
from ..prefix.agent_prefix import WirePrefix
from ..tools.offer import without_duplicates

type WireMessage = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """An agent's options, with their units.

    `num_ctx` is in tokens, `keep_alive` in seconds, `warm_interval` in minutes (0 = not
    regularly), `max_history` in rounds (0 = all).
    """

    model: str
    prompt: str | None
    apis: list[str] | None
    num_ctx: int
    max_history: int
    keep_alive: int
    think: bool
    auto_warm: bool
    warm_interval: int

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read the data of a subentry, with what is usual where nothing was chosen."""
        return cls(
            model=data[CONF_MODEL],
            prompt=data.get(CONF_PROMPT),
            apis=without_duplicates(data.get(CONF_LLM_HASS_API)),
            num_ctx=int(data.get(CONF_NUM_CTX, DEFAULT_NUM_CTX)),
            max_history=int(data.get(CONF_MAX_HISTORY, DEFAULT_MAX_HISTORY)),
            keep_alive=int(data.get(CONF_KEEP_ALIVE, DEFAULT_KEEP_ALIVE)),
            think=bool(data.get(CONF_THINK, False)),
            auto_warm=bool(data.get(CONF_AUTO_WARM, True)),
            warm_interval=int(data.get(CONF_WARM_INTERVAL, DEFAULT_WARM_INTERVAL)),
        )

    @property
    def key(self) -> str:
        """Return a name for what a prefix is learned under; under another one it starts again."""
        learned_under = [self.prompt, self.apis, MAJOR_VERSION, MINOR_VERSION]
        return hashlib.sha256(json.dumps(learned_under).encode()).hexdigest()[:16]

    def runner(self) -> dict[str, Any]:
        """Return what decides which model is loaded, how, and for how long.

        The same in every request: Ollama reloads a model when `num_ctx` differs, and each
        request's `keep_alive` takes the place of the last one's.
        """
        return {
            "model": self.model,
            # As a duration string -1 would be refused.
            "keep_alive": self.keep_alive
            if self.keep_alive == KEEP_ALIVE_FOREVER
            else f"{self.keep_alive}s",
            "options": {"num_ctx": self.num_ctx},
        }

    def body(self, prefix: WirePrefix, messages: Sequence[WireMessage]) -> dict[str, Any]:
        """Return the body of a chat request; its keys and bytes are the same for everyone."""
        return {
            **self.runner(),
            "messages": [{"role": "system", "content": prefix.system}, *messages],
            "tools": list(prefix.tools),
            "stream": True,
            "think": self.think,
        }
