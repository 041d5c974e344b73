"""The demonstration: one warm-up, then a new question in every room, with core's agent and ours.

Everything in it is real: Home Assistant, llama.cpp, the warmer. `run` is also what the
end-to-end test of the promised numbers calls.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
import json
from pathlib import Path
import signal
import sys
import tempfile
from typing import Any

from rich.console import Console
from rich.table import Table

from .home_assistant import HomeAssistant, Room
from .models import CHAT_TEMPLATE, Memory, smollm2_model, tiny_model
from .ollama import OllamaStandIn, Record, ServedModel
from .warmer import run_warmer

CORE, OURS = "core", "ollama_warm"
WARM_UP, APP = "warm-up", "app"
SMOLLM2 = "smollm2"
PIPELINE = "Ollama Warm"
# A question re-reads its own words, the sentences for its room and the template's ends.
WARM_AT_MOST = 80
QUESTIONS = {
    "Living Room": "Is anything still on?",
    "Kitchen": "How warm is it?",
    "Dining Room": "Which lights are here?",
    "Bedroom": "Is the shutter open?",
    "Office": "Is the lamp on?",
    "Bathroom": "How humid is it?",
    APP: "Is the front door locked?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question, or the warm-up, with llama.cpp's counts of its first model call."""

    agent: str
    memory: str
    path: str
    step: str
    prompt: int
    cached: int
    re_read: int
    seconds: float
    verdict: str


def row(agent: str, model: ServedModel, step: str, record: Record, verdict: str | None) -> Row:
    """Return the row of a question; core's agent has no verdict of its own."""
    if record.prompt_tokens is None or record.cached_tokens is None or record.ended is None:
        raise ValueError(f"{step}: llama.cpp counted nothing: {record.error}")
    own = "warm" if record.re_read_tokens <= WARM_AT_MOST else "cold"
    return Row(
        agent=agent,
        memory=model.memory.value,
        path=model.path,
        step=step,
        prompt=record.prompt_tokens,
        cached=record.cached_tokens,
        re_read=record.re_read_tokens,
        seconds=round(record.ended - record.started, 2),
        verdict=verdict or own,
    )


async def ask_everywhere(
    house: HomeAssistant, server: OllamaStandIn, agent: str, entity: str, model: ServedModel
) -> AsyncIterator[Row]:
    """Warm an agent up once, without a device, then ask it a new question in every room."""
    await server.restart_backend(model.name)
    start = len(server.records)
    await run_warmer(house, entity)
    yield row(agent, model, WARM_UP, first_answer(server, start), None)
    for place in [*_rooms(house, model), APP]:
        name, device = (place.name, place) if isinstance(place, Room) else (APP, None)
        start = len(server.records)
        reply = await house.ask(QUESTIONS[name], agent=entity, device=device)
        if reply.error_code:
            raise ValueError(f"{agent}, {name}: {reply.speech}")
        turns = ((reply.extra_data or {}).get(OURS) or {}).get("turns") or [{}]
        yield row(agent, model, name, first_answer(server, start), turns[0].get("verdict"))


def _rooms(house: HomeAssistant, model: ServedModel) -> list[Room]:
    """Return the rooms to ask in: with a real model only one of each kind, as it takes minutes."""
    if model.name == SMOLLM2:
        return [house.room("Kitchen"), house.room("Office")]
    return house.rooms


def first_answer(server: OllamaStandIn, start: int) -> Record:
    """Return the first request from a place on that read a prompt; renders read none."""
    return next(record for record in server.records[start:] if record.kind == "answer")


def served_models(which: str) -> list[ServedModel]:
    """Return the models of a demonstration: a tiny one of each memory, or the real small one."""
    if which == SMOLLM2:
        real = ServedModel(
            SMOLLM2,
            Memory.ATTENTION,
            smollm2_model(),
            # Its own template leaves the tools out, and they are most of the prompt.
            chat_template=CHAT_TEMPLATE,
            context_length=8192,
            threads=2,
        )
        return [real]
    return [
        ServedModel(f"tiny-{memory}", memory, tiny_model(memory))
        for memory in (Memory.ATTENTION, Memory.RECURRENT)
    ]


@asynccontextmanager
async def demonstration(
    folder: Path, models: list[ServedModel]
) -> AsyncIterator[tuple[HomeAssistant, OllamaStandIn]]:
    """Start a house and a model server."""
    for part in ("house", "logs"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    async with (
        OllamaStandIn(models, log_dir=folder / "logs") as server,
        HomeAssistant(folder / "house") as house,
    ):
        yield house, server


async def rows(
    house: HomeAssistant, server: OllamaStandIn, models: list[ServedModel]
) -> AsyncIterator[Row]:
    """Add both agents for each model, and yield what everything costs."""
    for model in models:
        options: dict[str, Any] = {
            "model": model.full_name,
            "num_ctx": min(16384, model.context_length),
        }
        core = await house.add_core_ollama(server.url, name=f"Core {model.name}", **options)
        ours = await house.add_ollama_warm(server.url, name=f"Warm {model.name}", **options)
        for agent, entity in ((CORE, core), (OURS, ours)):
            async for one in ask_everywhere(house, server, agent, entity, model):
                yield one


def table(found: list[Row]) -> Table:
    """Return the rows for a screen."""
    result = Table(title="First model call of each question", padding=(0, 0))
    for heading in ("agent", "memory", "room"):
        result.add_column(heading, no_wrap=True)
    for heading in ("prompt", "cached", "re-read", "seconds"):
        result.add_column(heading, justify="right", no_wrap=True)
    result.add_column("verdict", no_wrap=True)
    previous: tuple[str, str] | None = None
    for one in found:
        if previous and previous != (one.agent, one.memory):
            result.add_section()
        previous = (one.agent, one.memory)
        color = "green" if one.verdict == "warm" else "red"
        result.add_row(
            one.agent,
            one.memory,
            one.step,
            f"{one.prompt:,}",
            f"{one.cached:,}",
            f"[{color}]{one.re_read:,}[/]",
            f"{one.seconds:.2f}",
            f"[{color}]{one.verdict}[/]" if one.step != WARM_UP else "",
        )
    return result


async def show(options: argparse.Namespace, folder: Path) -> None:
    """Run the demonstration and show it."""
    console = Console(stderr=True)
    models = served_models(options.model)
    console.print("Starting Home Assistant and the model server ...")
    async with demonstration(folder, models) as (house, server):
        found: list[Row] = []
        async for one in rows(house, server, models):
            found.append(one)
            console.print(f"{one.agent}, {one.memory}, {one.step}: {one.re_read:,} re-read")
        Console().print(table(found))
        if options.json:
            options.json.write_text(json.dumps({"rows": [asdict(one) for one in found]}, indent=2))
        if options.keep:
            name, password = house.admin_login
            console.print(f"Home Assistant runs at {house.url}, login {name} / {password}")
            console.print("Ctrl-C or SIGTERM ends it.")
            await asyncio.Event().wait()


async def until_told(work: Coroutine[Any, Any, None]) -> int:
    """Do the work until a signal ends it, and whatever it started with it.

    Returns the exit code: 0 for work that is done, or that somebody at the terminal ended; else
    that of a program which the signal has ended.
    """
    task = asyncio.ensure_future(work)
    told: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        # What is being ended must not be kept from it by a second signal.
        if not told:
            task.cancel()
        told.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        await task
    except asyncio.CancelledError:
        if not told:
            raise
    return 128 + told[0] if told and told[0] is not signal.SIGINT else 0


def main() -> int:
    """Read the command line and run the demonstration."""
    parser = argparse.ArgumentParser(prog="script/demo", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here, too")
    parser.add_argument("--keep", action="store_true", help="leave Home Assistant running")
    parser.add_argument("--model", choices=["tiny", SMOLLM2], default="tiny")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ollama-warm-demo-") as folder:
        return asyncio.run(until_told(show(options, Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
