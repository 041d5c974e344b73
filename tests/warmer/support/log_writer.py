"""A model server's log, written while questions are asked."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.warmer.support.house import Message, reply
from tests.warmer.test_lines import fixture

APP = '[[targets]]\nname = "app"\n'
# A cold prompt, the first new conversation and the second one, as MLX wrote them.
MLX = [line for line in fixture("mlx_branches") if 'msg="cache' in line]


def add(path: Path, lines: Sequence[str]) -> None:
    """Write lines as a server does."""
    with path.open("a") as log:
        log.writelines(f"{line}\n" for line in lines)


def file_counts(path: Path) -> str:
    """Return the configuration's table for counts from a file."""
    return f'[counts]\nsource = "file"\npath = "{path}"\n'


def writes(path: Path, *lists: Sequence[str], block: object = None) -> Callable[[Message], Message]:
    """Return an agent whose model server writes these lines, a list for each question."""
    waiting = list(lists)

    def answer(_: Message) -> Message:
        add(path, waiting.pop(0))
        return reply(block)

    return answer


def mlx_request(total: int, matched: int, cached: int) -> str:
    """Return the line of a request to MLX."""
    return (
        f'level=INFO source=prefix_cache.go:125 msg="cache hit" total={total} matched={matched} '
        f"cached={cached} left={total - cached}"
    )
