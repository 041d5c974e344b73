"""Who may use a model server now: people at once, warm-ups one at a time and when it is quiet."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

# A person who has just been answered is likely to say something more.
QUIET_S = 5.0


class Turnstile:
    """One for each model server, as all its agents share its cache and its time."""

    def __init__(self) -> None:
        self._warming = asyncio.Lock()
        self._owner: object | None = None
        self._request: asyncio.Task[object] | None = None
        self._people = 0
        self._no_person = asyncio.Event()
        self._no_person.set()
        self._last_person = float("-inf")

    @property
    def recently_used(self) -> bool:
        """Return whether a person is being answered, or was a moment ago."""
        return bool(self._people) or self._still_waiting() > 0

    @property
    def warming(self) -> bool:
        """Return whether a warm-up is going on or waiting for quiet."""
        return self._warming.locked()

    @asynccontextmanager
    async def person(self, owner: object) -> AsyncIterator[None]:
        """Let a person's turn through to an agent.

        If that agent's own prefix is being read just now, the turn waits for it rather than
        have it read twice. Anyone else's warm-up is broken off.
        """
        self._arrive()
        try:
            await self._let_through(owner)
            yield
        finally:
            self._leave()

    @asynccontextmanager
    async def aside(self, owner: object) -> AsyncIterator[None]:
        """Let others through while a person who was let through waits for a tool.

        A tool may take minutes, and does not use the server. Behind it, the turn goes on like
        any other that comes: at once, or after its own warm-up.
        """
        self._leave()
        try:
            yield
        finally:
            self._arrive()
        await self._let_through(owner)

    @asynccontextmanager
    async def warm_up(self, owner: object) -> AsyncIterator[None]:
        """Let the warm-up of one agent through, after all others."""
        async with self._warming:
            self._owner = owner
            try:
                yield
            finally:
                self._owner = None

    async def request[T](self, send: Callable[[], Awaitable[T]]) -> T:
        """Send one request of the warm-up that is let through, once it is quiet.

        A request that a person broke off is sent again later.
        """
        while True:
            await self._until_quiet()
            request = asyncio.ensure_future(_awaited(send))
            self._request = request
            try:
                return await request
            except asyncio.CancelledError:
                # Whoever cancels this task cancels the request that it waits for, too.
                if cancelled_ourselves():
                    raise
            finally:
                self._request = None

    def _arrive(self) -> None:
        """Count a person who wants to be answered."""
        self._people += 1
        self._no_person.clear()

    def _leave(self) -> None:
        """Count a person no longer, and let it be quiet for a moment."""
        self._people -= 1
        self._last_person = asyncio.get_running_loop().time()
        if not self._people:
            self._no_person.set()

    async def _let_through(self, owner: object) -> None:
        """Wait for the request that reads the own prefix; break anyone else's off."""
        if self._request is None or self._request.done():
            return
        if self._owner is owner:
            await asyncio.wait([self._request])
        else:
            self._request.cancel()

    async def _until_quiet(self) -> None:
        """Wait until no one is being answered and no one was for a moment."""
        while True:
            await self._no_person.wait()
            if (seconds := self._still_waiting()) <= 0:
                return
            await asyncio.sleep(seconds)

    def _still_waiting(self) -> float:
        """Return how many seconds of quiet are missing."""
        return self._last_person + QUIET_S - asyncio.get_running_loop().time()


async def _awaited[T](send: Callable[[], Awaitable[T]]) -> T:
    """Turn an awaitable into a coroutine, so that it can be a task."""
    return await send()


def cancelled_ourselves() -> bool:
    """Return whether it is this very task that was cancelled, not only its request."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
