"""The scenarios. Each is played in all cells at once, because the house changes only once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
import time
from zoneinfo import ZoneInfo

from tests.rig.hass_settings import AgentOptions
from tests.rig.ollama import Record

from .cells import NUM_CTX, Cell, Measured, prefix_hash
from .stage import TIMEZONE, Play, Stage, foreign_prompt, hash_seed
from .undisturbed import (
    NEW_AGENT,
    WITH_LISTS,
    history_with_lists,
    numbered_rename,
    set_up_before_exposing,
)

CLOCK = "It is {{ now().strftime('%H:%M:%S') }}.\nYou are a voice assistant. Be brief."
DATE = (
    "You are a voice assistant.\nToday is {{ now().strftime('%A, %-d %B %Y') }}.\n"
    "Answer in one sentence."
)
GREETING = "You are the voice assistant of a family.\nYou talk to {{ user_name }}.\nBe brief."
PEOPLE = ("Anna", "Benedikt", "Charlotte")
SHORT_HISTORY = 4
TURNS_BEYOND = 20
HIDDEN, HIDDEN_NAME = "light.living_room_shelf_lights", "Living Room Shelf Lights"
FOREIGN_LINES = 600
# A prompt that is read from its beginning; everything else is far below it.
FULL_PREFILL = 4000
BEFORE_MIDNIGHT = 3


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is played, and with which options of the agent."""

    name: str
    play: Callable[[Play], Awaitable[None]]
    options: AgentOptions = field(default_factory=AgentOptions)


async def start_warm(cell: Cell, _: Measured) -> None:
    """Begin with a server that knows nothing, and one warm-up."""
    await cell.start_over()
    await cell.warm_up()


async def rooms(play: Play) -> None:
    """Ask one question in each of six rooms after one warm-up."""

    async def everywhere(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        for room in play.house.rooms:
            measured.asked.append(await cell.ask(room))

    await play.each(everywhere)


async def app(play: Play) -> None:
    """Ask one question without a device after one warm-up."""

    async def once(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        measured.asked.append(await cell.ask())

    await play.each(once)


async def clock(play: Play) -> None:
    """Ask five questions, a second and more apart, with a clock in the prompt's first line."""

    async def five(cell: Cell, measured: Measured) -> None:
        await cell.start_over()
        for number, room in enumerate(play.house.rooms[:5]):
            asked = await cell.ask(room)
            (measured.before if number < 2 else measured.asked).append(asked)
            await asyncio.sleep(1.1)

    await play.each(five)


async def new_entity(play: Play) -> None:
    """Carry a new light in, which is exposed, and ask at once."""
    name = "Kitchen Novelty"

    async def question(cell: Cell, measured: Measured) -> None:
        asked = await cell.ask(play.house.room("Bedroom"))
        measured.asked.append(asked)
        if name not in asked.record.raw:
            measured.failures.append("the model is not told of the new light")

    await play.each(start_warm)
    data = {"name": name, "area": "Kitchen"}
    added = await play.house.call_action("demo_house", "add_light", data, return_response=True)
    try:
        await play.each(question)
    finally:
        data = {"entity_id": added["entity_id"]}
        await play.house.call_action("demo_house", "remove", data)


async def unexposed(play: Play) -> None:
    """Hide a light, warm up once and ask; its name is never sent again."""

    async def question(cell: Cell, measured: Measured) -> None:
        await cell.warm_up()
        measured.asked.append(await cell.ask(play.house.room("Bedroom")))
        later = [record for record in cell.server.records if record.started > hidden]
        if any(HIDDEN_NAME in record.raw for record in later):
            measured.failures.append("the name of the hidden light was sent afterwards")

    await play.each(start_warm)
    await play.house.expose(HIDDEN, exposed=False)
    hidden = time.monotonic()
    try:
        await play.each(question)
    finally:
        await play.house.expose(HIDDEN, exposed=True)


async def midnight(play: Play) -> None:
    """Ask, let midnight pass, warm up once and ask again, with the date in the prompt."""

    async def evening(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        measured.before.append(await cell.ask(play.house.room("Kitchen")))

    async def morning(cell: Cell, measured: Measured) -> None:
        await cell.warm_up()
        asked = await cell.ask(play.house.room("Bedroom"))
        measured.asked.append(asked)
        day = f"{tomorrow:%A, %-d %B %Y}"
        if day not in asked.record.raw:
            measured.failures.append(f"the model is not told that it is {day}")

    await play.each(evening)
    now = datetime.now(ZoneInfo(TIMEZONE))
    tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    left = (tomorrow.astimezone(UTC) - now.astimezone(UTC)).total_seconds()
    await play.stage.move_clock(left - BEFORE_MIDNIGHT)
    try:
        await asyncio.sleep(BEFORE_MIDNIGHT + 1)
        await play.each(morning)
    finally:
        await play.stage.move_clock(0)


async def beyond_history(play: Play) -> None:
    """Ask twenty more questions in one conversation than are kept."""

    async def talk(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        conversation: str | None = None
        for number in range(1 + SHORT_HISTORY + TURNS_BEYOND):
            asked = await cell.ask(play.house.room("Kitchen"), conversation_id=conversation)
            conversation = asked.reply.conversation_id
            (measured.asked if number > SHORT_HISTORY else measured.before).append(asked)

    await play.each(talk)


async def home_assistant_restart(play: Play) -> None:
    """Restart Home Assistant and ask, without a warm-up of ours."""
    prefixes: dict[Cell, Record] = {}
    marks: dict[Cell, int] = {}

    async def before(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        asked = await cell.ask(play.house.room("Kitchen"))
        measured.before.append(asked)
        prefixes[cell] = asked.record

    async def after(cell: Cell, measured: Measured) -> None:
        await cell.until_available()
        asked = await cell.ask(play.house.room("Bedroom"))
        measured.asked.append(asked)
        if cell.ours and prefix_hash(asked.record) != prefix_hash(prefixes[cell]):
            measured.failures.append(difference(prefixes[cell], asked.record))
        # The component's own warm-up must not hide that something was lost.
        worst = max(record.re_read_tokens for record in cell.since(marks[cell]))
        if cell.ours and worst >= FULL_PREFILL:
            measured.failures.append(f"{worst} tokens were read since the restart")

    await play.each(before)
    marks |= {cell: cell.mark() for cell in play.cells}
    # Python puts sets in another order in another process, and some schemas are made from sets.
    with hash_seed(2):
        await play.house.restart()
    await play.each(after)


async def backend_restart(play: Play) -> None:
    """Let the model server lose everything, warm up once and ask."""

    async def question(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        measured.before.append(await cell.ask(play.house.room("Kitchen")))
        await cell.server.restart_backend(cell.model.name)
        await cell.warm_up()
        measured.asked.append(await cell.ask(play.house.room("Bedroom")))

    await play.each(question)


async def two_rooms(play: Play) -> None:
    """Hold two conversations in two rooms at the same time, four turns each."""

    async def talk(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        conversations: dict[str, str | None] = {}
        for name in islice(cycle(("Kitchen", "Bedroom")), 8):
            asked = await cell.ask(play.house.room(name), conversation_id=conversations.get(name))
            conversations[name] = asked.reply.conversation_id
            measured.asked.append(asked)

    await play.each(talk)


async def other_prompt(play: Play) -> None:
    """Let someone else use the model for something long in between."""
    text = "\n".join(f"Item {number} of a list of other things." for number in range(FOREIGN_LINES))

    async def question(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        measured.before.append(await cell.ask(play.house.room("Kitchen")))
        mark = cell.mark()
        await foreign_prompt(cell.server.url, cell.model.full_name, text, NUM_CTX)
        foreign = max(record.re_read_tokens for record in cell.since(mark))
        measured.notes.append(f"foreign prompt of {foreign} tokens")
        measured.asked.append(await cell.ask(play.house.room("Bedroom")))

    await play.each(question)


async def user_names(play: Play) -> None:
    """Ask as three people and from a satellite, with the name of who asks in the prompt."""
    tokens = {person: await play.stage.token_of(person) for person in PEOPLE}

    async def all_of_them(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        for person, token in tokens.items():
            asked = await cell.ask(token=token)
            measured.asked.append(asked)
            if f"You talk to {person}." not in asked.record.raw:
                measured.failures.append(f"the model is not told that {person} asks")
        measured.asked.append(await cell.ask_as_nobody(play.house.room("Kitchen")))

    await play.each(all_of_them)


async def wake_word(play: Play) -> None:
    """Let the wake word fall just after the server lost everything, and ask two seconds later."""

    async def question(cell: Cell, measured: Measured) -> None:
        await start_warm(cell, measured)
        await cell.server.restart_backend(cell.model.name)
        mark = cell.mark()
        prepare = asyncio.create_task(
            play.house.command("conversation/prepare", agent_id=cell.entity, language="en")
        )
        await asyncio.sleep(2)
        measured.asked.append(await cell.ask(play.house.room("Kitchen")))
        await prepare
        records = cell.since(mark)
        measured.full_prefills = sum(map(is_full_prefill, records))
        measured.notes.append(f"read {[record.re_read_tokens for record in records]}")

    await play.each(question)


def difference(before: Record, after: Record) -> str:
    """Return how system text and tools differ; the house is ours, so its names may be shown."""
    lines = [set(str(one.body["messages"][0]["content"]).split("\n")) for one in (before, after)]
    tools = [{str(tool) for tool in one.body.get("tools") or ()} for one in (before, after)]
    names = [
        sorted(tool.partition("'name': '")[2].partition("'")[0] for tool in changed)
        for changed in (tools[0] - tools[1], tools[1] - tools[0])
    ]
    return (
        f"other prefix than before: lines gone {sorted(lines[0] - lines[1])[:3]}, "
        f"new {sorted(lines[1] - lines[0])[:3]}; tools gone {names[0]}, new {names[1]}"
    )


def is_full_prefill(record: Record) -> bool:
    """Return whether the whole prompt was read."""
    return record.re_read_tokens >= FULL_PREFILL


PLAIN = AgentOptions()
SCENARIOS = (
    Scenario("rooms", rooms, PLAIN),
    Scenario("app", app, PLAIN),
    Scenario("clock", clock, AgentOptions(prompt=CLOCK)),
    Scenario("new_entity", new_entity, PLAIN),
    Scenario("unexposed", unexposed, PLAIN),
    Scenario("midnight", midnight, AgentOptions(prompt=DATE)),
    Scenario("beyond_history", beyond_history, AgentOptions(max_history=SHORT_HISTORY)),
    Scenario("home_assistant_restart", home_assistant_restart, PLAIN),
    Scenario("backend_restart", backend_restart, PLAIN),
    Scenario("two_rooms", two_rooms, PLAIN),
    Scenario("foreign_prompt", other_prompt, PLAIN),
    Scenario("two_apis", rooms, AgentOptions(apis=("assist", "town_hall"))),
    Scenario("user_names", user_names, AgentOptions(prompt=GREETING)),
    Scenario("wake_word", wake_word, PLAIN),
    Scenario("numbered_rename", numbered_rename, PLAIN),
    Scenario("set_up_before_exposing", set_up_before_exposing, NEW_AGENT),
    Scenario("history_with_lists", history_with_lists, WITH_LISTS),
)
NAMES = tuple(scenario.name for scenario in SCENARIOS)


async def played(stage: Stage, names: tuple[str, ...] = NAMES) -> AsyncIterator[Measured]:
    """Play scenarios, and yield what each cost in each cell.

    Those that need the same options of the agent follow each other, so that it is set up once.
    """
    wanted = [scenario for scenario in SCENARIOS if scenario.name in names]
    while wanted:
        options = wanted[0].options
        group = [scenario for scenario in wanted if scenario.options == options]
        wanted = [scenario for scenario in wanted if scenario.options != options]
        async with lived_in(stage, group):
            for scenario in group:
                cells = [cell for cell in stage.cells if plays(cell, scenario)]
                play = Play(stage, scenario.name, cells)
                await scenario.play(play)
                for measured in play.measured:
                    yield measured


def plays(cell: Cell, scenario: Scenario) -> bool:
    """Return whether a cell takes part: more slots than one only matter for the wake word."""
    if cell.kind.by_chat:
        return scenario.name == "rooms"
    return cell.kind.slots == 1 or scenario.name == "wake_word"


@asynccontextmanager
async def lived_in(stage: Stage, group: list[Scenario]) -> AsyncIterator[None]:
    """Have the agents of all cells set up that take part in one of these scenarios."""
    cells = [cell for cell in stage.cells if any(plays(cell, one) for one in group)]
    for cell in cells:
        await cell.move_in(**group[0].options)
    yield
    for cell in cells:
        await cell.move_out()
