"""Leaves a checkpoint at the end of an agent's prefix, where the model needs one.

A recurrent or sliding-window model that Ollama renders itself can go back to a checkpoint only,
and a chat leaves the nearest one a batch in front of the question. `ping.py` says how a raw
prompt leaves it at the end of the prefix; here is kept for which prefix that was done.
"""

from dataclasses import replace
import time

from ..ollama.counts import Counts
from ..ollama.facts import full_name
from ..ollama.server import Server
from ..ollama.ways import ONE_TOKEN, Way, async_choose, async_raw_prompt
from ..prefix.agent_prefix import WirePrefix
from .options import AgentOptions
from .store import PrefixStore, digest


class Planter:
    """Knows one agent's way to be warmed, and which prefix has its checkpoint."""

    def __init__(
        self, subentry_id: str, options: AgentOptions, server: Server, store: PrefixStore
    ) -> None:
        """Go on with what was planted before Home Assistant was restarted."""
        self._subentry_id = subentry_id
        self._options = options
        self._server = server
        self._store = store

    async def _async_way(self, prefix: WirePrefix) -> Way:
        """Return the way for this server and model; chosen again when the version changes.

        Raises OllamaError.
        """
        if (way := self.known_way) is not None:
            return way
        body = self._options.body(prefix, [])
        chosen = await async_choose(self._server.client, body, self._server.state.version)
        self._store.async_save_way(self._options.model, chosen)
        return chosen.way

    @property
    def known_way(self) -> Way | None:
        """Return the way that was chosen for the server's present version, None if none was."""
        chosen = self._store.way(self._options.model)
        if chosen is None or chosen.version != self._server.state.version:
            return None
        return chosen.way

    async def async_plant_if_wanted(
        self, prefix: WirePrefix, *, again: bool = False
    ) -> Counts | None:
        """Have a prefix read bare that needs a checkpoint and has none, or may have lost it.

        Returns what that cost, None if it was not needed. Raises OllamaError.
        """
        if await self._async_way(prefix) is not Way.RAW:
            return None
        has_one = self._store.planted(self._subentry_id) == digest(prefix.system, prefix.tools)
        return None if has_one and not again else await self._async_plant(prefix)

    def forget(self) -> None:
        """Note that the server has lost what was planted."""
        self._store.async_save_planted(self._subentry_id, None)

    async def _async_plant(self, prefix: WirePrefix) -> Counts | None:
        """Have the bare prefix read, and return what that cost. Raises OllamaError.

        None where the server does not, or no longer, show how it renders a prompt; the way is then
        chosen again the next time.
        """
        client, options = self._server.client, self._options
        names = {full_name(str(model.get("name"))) for model in await client.loaded()}
        asked = time.monotonic()
        prompt = await async_raw_prompt(client, options.body(prefix, []))
        rendering_s = time.monotonic() - asked
        if prompt is None:
            self._store.async_forget_way(options.model)
            return None
        body = {**options.runner(), "prompt": prompt}
        body["options"] |= ONE_TOKEN
        counts = await client.read(body)
        self._store.async_save_planted(self._subentry_id, digest(prefix.system, prefix.tools))
        if full_name(options.model) not in names:
            # The model was loaded for the rendering, which reports no times of its own.
            counts = replace(counts, load_s=(counts.load_s or 0) + rendering_s)
        return counts
