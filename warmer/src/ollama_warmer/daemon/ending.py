"""Ends within two seconds, whatever hangs."""

import asyncio
from collections.abc import Collection
import contextlib
import os
from pathlib import Path
import signal
import threading
from typing import NoReturn

from ollama_warmer.daemon.journal import flush

# The first is for closing handshakes and for programs that read a log to end by themselves.
_PATIENCE = (0.8, 0.3, 0.3)


async def cancel(tasks: Collection[asyncio.Task[object]]) -> None:
    """Cancel tasks; what cleans up for too long is cancelled again, and left behind at last."""
    left = {task for task in tasks if not task.done()}
    for seconds in _PATIENCE:
        for task in left:
            task.cancel()
        if left:
            _, left = await asyncio.wait(left, timeout=seconds)


def leave(code: int) -> NoReturn:
    """End this process at once, and every program that it still has running.

    A plain return would wait for threads: one that resolves a name can take minutes.
    """
    for process in _children():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
    flush()
    os._exit(code)


def _children() -> list[int]:
    """Return the programs that this process started; each leads a group of its own."""
    path = Path(f"/proc/self/task/{threading.main_thread().native_id}/children")
    try:
        return [int(number) for number in path.read_text().split()]
    except OSError:
        return []  # a system without Linux's /proc, where nothing can be said
