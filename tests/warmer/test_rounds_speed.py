"""What a round over twenty warm targets costs beside the model's own time."""

import asyncio
from collections.abc import Callable
from pathlib import Path
import time

from tests.warmer.conftest import Run, parsed
from tests.warmer.support.house import House, Message, reply
from tests.warmer.support.log_writer import add, file_counts
from tests.warmer.test_lines import request

TARGETS = 20
QUESTIONS = 2 * TARGETS
# Of a model that answers a warm prompt.
MODEL = 0.05
AT_MOST = 1.0

MANY = "\n".join(f'[[targets]]\nname = "room {number}"' for number in range(TARGETS))


async def own_time(house: House, run: Run, targets: str) -> float:
    """Return the seconds of a round, less the model's; all targets have to be warm."""
    began = time.perf_counter()
    result = await run(house.url, "--json", targets=targets)
    seconds = time.perf_counter() - began
    report = parsed(result)
    assert (result.exit_code, len(report["targets"])) == (0, TARGETS)
    assert len(house.questions) == QUESTIONS
    return seconds - QUESTIONS * MODEL


def logs_late(path: Path, late: float) -> Callable[[Message], object]:
    """Return an agent whose model server writes how a request ended some seconds after it."""
    tasks = iter(range(1, 1000))

    def answer(_: Message) -> object:
        new, cached, *rest = request(5104, 5080, task=next(tasks))
        add(path, [new, cached])
        asyncio.get_running_loop().call_later(MODEL + late, add, path, rest)
        return MODEL, reply(None)

    return answer


async def test_counts_from_replies(house: House, run: Run) -> None:
    """The way to Home Assistant and back, forty times."""
    house.answers = [(MODEL, reply()) for _ in range(QUESTIONS)]

    assert await own_time(house, run, MANY) <= AT_MOST


async def test_counts_from_a_log(house: House, run: Run, tmp_path: Path) -> None:
    """The same with a look into a file, though its last lines come after the answer."""
    path = tmp_path / "ollama.log"
    house.overrides["conversation/process"] = logs_late(path, 0.003)

    assert await own_time(house, run, file_counts(path) + MANY) <= AT_MOST
