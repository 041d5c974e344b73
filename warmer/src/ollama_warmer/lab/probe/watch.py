"""Watches during a run whether the model server belongs to the probe alone.

What Ollama says of its loaded models (`/api/ps`) and of a single answer's times shows most other
clients; the rest show in the counts.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ollama_warmer.errors import OllamaError, RefusedByOllama, WarmerError
from ollama_warmer.lab.probe.plan import Call, Kind
from ollama_warmer.ollama.client import Answer, Ollama
from ollama_warmer.ollama.facts import full_name
from ollama_warmer.words import listing, printable

KEEP_ALIVE = "10m"
# A model that is there answers within milliseconds, one that is not takes seconds to load.
_LOADED_ANEW = 1.0
# Longer than restoring a large prompt from memory, which no duration of an answer names either.
_WAITED = 2.0
# The server notes when a model expires a moment after its answer, and clocks are read at different
# times.
_CLOCKS = 2.0
_POLL = 0.25
_NODE = "X-Fleet-Node"
_NANO = 1_000_000_000


class DisturbedError(Exception):
    """Something else is in the counts than the cache; the text says what, and what to do.

    Attributes:
        in_use: Whether someone else needs the model now, so that it must not be unloaded.
    """

    def __init__(self, why: str, *, in_use: bool = True) -> None:
        """Keep whether the model is in use, because the run ends differently then."""
        super().__init__(why)
        self.in_use = in_use


class Watch:
    """What was seen of the server since the probe loaded its model."""

    def __init__(self, ollama: Ollama, model: str, *, patience: float) -> None:
        """Look at nothing yet.

        Args:
            ollama: The server.
            model: The model that the probe loads.
            patience: Seconds to wait until models are unloaded.
        """
        self._ollama = ollama
        self._model = model
        self._patience = patience
        self._listed = False
        self._context: int | None = None
        self._node: str | None = None
        self._clock_ahead: float | None = None
        self._expiry: float | None = None
        self._last: tuple[float, float] | None = None

    @property
    def context(self) -> int | None:
        """The window that the model was loaded with; None if the server does not say."""
        return self._context

    async def settle(self) -> None:
        """Wait until no other model is in memory, or on its way out of it, and unload this one.

        Raises:
            WarmerError: Another model stays.
            OllamaError: The server cannot be asked.
        """
        self._listed = False
        self._context = self._node = self._clock_ahead = self._expiry = self._last = None
        # Ours goes last: if another one stays, the house keeps at least its own.
        await self._until_gone(ours_too=False)
        if await self._names():
            await self.unload()
            await self._until_gone(ours_too=True)

    async def _until_gone(self, *, ours_too: bool) -> None:
        clock = asyncio.get_running_loop().time
        until = clock() + self._patience
        while names := [it for it in await self._names() if ours_too or not self._is_ours(it)]:
            if clock() > until:
                raise WarmerError(
                    f"On {self._ollama.url} {listing(names)} stays in memory, and a measurement "
                    "beside another model is none. Unload it with `ollama stop NAME`, or wait "
                    "until it expires"
                )
            await asyncio.sleep(_POLL)

    async def unload(self) -> None:
        """Ask the server to unload the model; it answers before it has done so."""
        await self._ollama.chat({"model": self._model, "keep_alive": 0})

    async def ready(self) -> None:
        """Remember how the model stands, because it was just loaded.

        Raises:
            OllamaError: The server cannot be asked.
        """
        for entry in await self._loaded():
            if self._is_ours(_name(entry)):
                context = entry.get("context_length")
                self._context = context if type(context) is int else None
                self._listed = True

    async def look(self) -> None:
        """Look at the loaded models, before a call and after the last one.

        Raises:
            DisturbedError: Another model is there, or ours was used or loaded by someone else.
            OllamaError: The server cannot be asked.
        """
        entries = await self._loaded()
        names = [_name(entry) for entry in entries]
        if others := [name for name in names if not self._is_ours(name)]:
            raise DisturbedError(
                f"{listing(others)} was loaded meanwhile: someone else uses the server",
                in_use=False,
            )
        if self._listed and not entries:
            raise DisturbedError(
                "the model was unloaded in the middle of the run: someone else uses the server, "
                "or it was restarted"
            )
        for entry in entries:
            self._check_context(entry.get("context_length"))
            self._check_expiry(entry.get("expires_at"))

    def begin(self) -> float:
        """Return the time, because a call is about to be sent."""
        return asyncio.get_running_loop().time()

    def answered(self, call: Call, answer: Answer, since: float) -> None:
        """Take an answer's times and headers.

        Raises:
            DisturbedError: It was not this client's alone.
        """
        self._last = (since, asyncio.get_running_loop().time())
        if answer.load_s is not None and answer.load_s > _LOADED_ANEW:
            raise DisturbedError(
                f"the model was loaded again in the middle of the run ({call.role} waited "
                f"{answer.load_s:.1f} s for it), and its cache was empty then: someone else uses "
                "the server, or it was restarted"
            )
        waited = _waited(answer)
        # A retry waits for the call that was given up: that is what it measures.
        if call.kind is not Kind.RETRY and waited is not None and waited > _WAITED:
            raise DisturbedError(
                f"{call.role} waited {waited:.1f} s for its turn: someone else uses the server"
            )
        node = answer.headers.get(_NODE)
        if node is not None and self._node not in {None, node}:
            raise DisturbedError(
                f"a router sent {call.role} to another machine than the calls before it: probe "
                "each machine by its own address"
            )
        self._node = node or self._node

    def abandoned(self, since: float) -> None:
        """Take it that a call was given up: when it ends, no one is informed."""
        self._last = (since, float("inf"))

    def _check_context(self, context: object) -> None:
        if type(context) is int and self._context is not None and context != self._context:
            raise DisturbedError(
                f"the model was loaded with a window of {context} tokens instead of "
                f"{self._context}: someone else uses it with other options"
            )

    def _check_expiry(self, expires_at: object) -> None:
        """Look whether the model expires when our last call made it expire.

        Every request moves the time, to its own keep_alive from its end.
        """
        try:
            expiry = datetime.fromisoformat(str(expires_at)).timestamp()
        except (ValueError, OverflowError):
            return
        now = asyncio.get_running_loop().time()
        if self._last is None or self._clock_ahead is None or self._expiry is None:
            # From here on the difference of both clocks is known.
            self._clock_ahead, self._expiry = expiry - now, expiry
            return
        start, end = (min(time, now) + self._clock_ahead for time in self._last)
        by_us = start - _CLOCKS <= expiry <= end + _CLOCKS
        if not by_us and abs(expiry - self._expiry) > _CLOCKS:
            raise DisturbedError(
                "the time at which the model expires was moved by another request than the "
                "probe's: someone else uses the model"
            )
        self._expiry = expiry

    async def _loaded(self) -> list[dict[str, Any]]:
        try:
            return await self._ollama.loaded()
        except RefusedByOllama:
            return []  # a router without this list: the other signs have to do

    async def _names(self) -> list[str]:
        return [_name(entry) for entry in await self._loaded()]

    def _is_ours(self, name: str) -> bool:
        return full_name(name) == full_name(self._model)


async def unload_quietly(watch: Watch, *, within: float) -> None:
    """Unload the model at the end of a run; that it fails changes no result.

    Args:
        watch: Has the server and the model.
        within: Seconds after which it is given up.
    """
    try:
        async with asyncio.timeout(within):
            await watch.unload()
    except (OllamaError, TimeoutError):
        # The model then goes by itself, ten minutes after the last call.
        return


def _name(entry: Mapping[str, Any]) -> str:
    return printable(entry.get("name") or entry.get("model") or "a model without a name")


def _waited(answer: Answer) -> float | None:
    """Return the seconds that a call spent behind others; None unless all times are known."""
    written = answer.raw.get("eval_duration")
    if answer.total_s is None or answer.prefill_s is None or type(written) is not int:
        return None
    loading = answer.load_s or 0.0  # Ollama leaves out a duration that is zero
    return answer.total_s - loading - answer.prefill_s - written / _NANO
