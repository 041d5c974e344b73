"""Opens and closes the address for metrics and health, as the configuration wants it."""

from contextlib import AsyncExitStack

from ollama_warmer.config.run import Address
from ollama_warmer.daemon.board import Board


class Serving:
    """The address that is answered on, if any."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._address: Address | None = None
        self._open = AsyncExitStack()

    async def change(self, address: Address | None) -> None:
        """Answer on this address, or nowhere; raises ConfigError and stays where it was."""
        if address == self._address:
            return
        new = AsyncExitStack()
        if address is not None:
            # A web server takes memory, and most people ask for none.
            from ollama_warmer.daemon.listener import listening  # noqa: PLC0415 - see above

            await new.enter_async_context(listening(address, self._board))
        await self._open.aclose()
        self._open, self._address = new, address
