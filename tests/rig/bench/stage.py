"""The house of the bench, its cells, and who lives there."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
import os
from pathlib import Path
import time

import aiohttp

from tests.rig.hass_accounts import log_in
from tests.rig.hass_api import Api
from tests.rig.home_assistant import DEMO_HOUSE, OURS as COMPONENT, HomeAssistant

from .cells import Cell, Kind, Measured

TOOLS = Path(__file__).parents[1] / "custom_components" / "bench_tools"
TIMEZONE = "Europe/Paris"
SECONDS_FOR_ONE = 180
LONGEST_ERROR = 100
SEED = "PYTHONHASHSEED"

type Act = Callable[[Cell, Measured], Awaitable[None]]


class Stage:
    """A house in which everything is played."""

    def __init__(self, house: HomeAssistant, cells: Sequence[Cell]) -> None:
        """Take a house that runs, and cells whose servers run."""
        self.house = house
        self.cells = list(cells)
        self._tokens: dict[str, str] = {}

    async def token_of(self, person: str) -> str:
        """Return the token of a person who lives here; whoever does not, moves in."""
        if person not in self._tokens:
            self._tokens[person] = await self._move_in(person)
        return self._tokens[person]

    async def _move_in(self, person: str) -> str:
        created = await self.house.command(
            "config/auth/create", name=person, group_ids=["system-users"]
        )
        username = person.lower()
        await self.house.command(
            "config/auth_provider/homeassistant/create",
            user_id=created["user"]["id"],
            username=username,
            password=username,
        )
        api = Api(self.house.url)
        try:
            return await log_in(api, username, username)
        finally:
            await api.close()

    async def move_clock(self, seconds: float) -> None:
        """Let Home Assistant believe that it is later; 0 tells the right time again."""
        await self.house.call_action("bench_tools", "set_clock", {"seconds": seconds})


class Play:
    """One scenario while it is played: who takes part, and what was measured so far."""

    def __init__(self, stage: Stage, scenario: str, cells: Sequence[Cell]) -> None:
        """Start with nothing measured."""
        self.stage = stage
        self.house = stage.house
        self._measured = {cell: Measured(scenario=scenario, kind=cell.kind) for cell in cells}

    @property
    def measured(self) -> list[Measured]:
        """What was measured."""
        return list(self._measured.values())

    @property
    def cells(self) -> list[Cell]:
        """Who takes part."""
        return list(self._measured)

    async def each(self, act: Act) -> None:
        """Let all cells do something at once; one that fails takes no further part."""
        await asyncio.gather(
            *(
                self._guarded(act, cell, measured)
                for cell, measured in self._measured.items()
                if not measured.failures
            )
        )

    async def _guarded(self, act: Act, cell: Cell, measured: Measured) -> None:
        start = time.perf_counter()
        try:
            async with asyncio.timeout(SECONDS_FOR_ONE):
                await act(cell, measured)
        except Exception as error:  # noqa: BLE001 - the others are measured all the same
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            measured.failures.append(what[:LONGEST_ERROR])
        measured.seconds += time.perf_counter() - start


@contextmanager
def hash_seed(number: int) -> Iterator[None]:
    """Let what is started meanwhile have its sets in an order that is always the same."""
    before = os.environ.get(SEED)
    os.environ[SEED] = str(number)
    try:
        yield
    finally:
        os.environ.pop(SEED)
        if before is not None:
            os.environ[SEED] = before


@asynccontextmanager
async def stage(
    folder: Path, kinds: Sequence[Kind], *, extra_entities: int = 0
) -> AsyncIterator[Stage]:
    """Start a house and a model server for each cell."""
    async with AsyncExitStack() as stack:
        house = HomeAssistant(
            folder / "house",
            components=(COMPONENT, DEMO_HOUSE, TOOLS),
            extra_entities=extra_entities,
            timezone=TIMEZONE,
        )
        with hash_seed(1):
            await stack.enter_async_context(house)
        await house.config_flow("bench_tools")
        cells = [Cell(kind, house, folder / "logs") for kind in kinds]
        for cell in cells:
            await stack.enter_async_context(cell.server)
        yield Stage(house, cells)


async def foreign_prompt(url: str, model: str, text: str, num_ctx: int) -> None:
    """Let someone else use the model."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "options": {"num_ctx": num_ctx},
        "keep_alive": -1,
        "stream": False,
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/api/chat", json=body) as answer,
    ):
        answer.raise_for_status()
