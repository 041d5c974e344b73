"""Scenarios in which something happens, beside the same questions in a house where it never did."""

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from zoneinfo import ZoneInfo

from tests.rig.hass_settings import AgentOptions
from tests.rig.ollama_shapes import Scripted

from .cells import Asked, Cell, Measured
from .stage import TIMEZONE, Play

SPOTS = 40
RENAMED, NEW_NAME = "light.spot_40", f"Spot {SPOTS + 1}"
TURNS = 5
LIGHTS = ("light.office_desk_lamp", "light.bathroom_mirror_light")
# What comes and goes is known once it went twice, which each of two things has done by then.
LEARNING = 4
MINUTE, HOUR = 60, 3600
ANSWER = "All is well in the house."
LISTS = """\
You are the voice assistant of a family. Be brief.
- Temperature: {{ states('sensor.porch') }} °C
- Time: {{ now().strftime('%H:%M') }}
On at the moment:
{% for light in states.light | selectattr('state', 'eq', 'on') -%}
- {{ light.name }}
{% endfor -%}
To buy:
{% for item in state_attr('sensor.to_buy', 'items') or () -%}
- {{ item }}
{% endfor -%}
Never talk about the weather."""
WITH_LISTS = AgentOptions(prompt=LISTS)
# An agent of its own, as it has to be a new one.
NEW_AGENT = AgentOptions(name="New")


async def _start_warm(cell: Cell) -> None:
    """Begin with a server that knows nothing, the first question, and one warm-up."""
    await cell.start_over()
    await cell.warm_up()


async def _in_rooms(play: Play, cell: Cell) -> list[Asked]:
    """Ask one question in each room."""
    return [await cell.ask(room) for room in play.house.rooms]


async def numbered_rename(play: Play) -> None:
    """Rename one of forty numbered lamps, ask, warm up, and ask in each room."""

    async def at_rest(cell: Cell, measured: Measured) -> None:
        await _start_warm(cell)
        measured.at_rest += await _in_rooms(play, cell)

    async def renamed(cell: Cell, measured: Measured) -> None:
        measured.before.append(await cell.ask(play.house.room("Bathroom")))
        await cell.warm_up()
        measured.asked += await _in_rooms(play, cell)
        if NEW_NAME not in measured.asked[-1].record.raw:
            measured.failures.append("the model is not told of the new name")

    spots = [f"Spot {number}" for number in range(1, SPOTS + 1)]
    for name in spots:
        data = {"name": name, "area": "Kitchen"}
        await play.house.call_action("demo_house", "add_light", data, return_response=True)
    try:
        await play.each(at_rest)
        data = {"entity_id": RENAMED, "name": NEW_NAME}
        await play.house.call_action("demo_house", "rename", data)
        await play.each(renamed)
    finally:
        for number in range(1, SPOTS + 1):
            data = {"entity_id": f"light.spot_{number}"}
            await play.house.call_action("demo_house", "remove", data)


async def set_up_before_exposing(play: Play) -> None:
    """Warm a new agent in a house that exposes nothing, expose all, warm up and ask."""

    async def at_rest(cell: Cell, measured: Measured) -> None:
        await _start_warm(cell)
        measured.at_rest += await _in_rooms(play, cell)
        await cell.move_out()

    async def early(cell: Cell, measured: Measured) -> None:
        await cell.move_in(**NEW_AGENT)
        await _start_warm(cell)
        measured.before.append(await cell.ask(play.house.room("Bathroom")))

    async def late(cell: Cell, measured: Measured) -> None:
        await cell.start_over()
        await cell.warm_up()
        measured.asked += await _in_rooms(play, cell)

    exposed = sorted(await play.house.exposed())
    await play.each(at_rest)
    await play.house.expose_all(exposed, exposed=False)
    try:
        await play.each(early)
    finally:
        await play.house.expose_all(exposed, exposed=True)
    await play.each(late)


class _Lists:
    """The things of the house that the instructions list, each of which changes with every turn."""

    def __init__(self, play: Play) -> None:
        """Know the lights, and what has been bought."""
        self._play = play
        self._turns = count(1)
        # Five minutes past, so that no hour is over while nothing is to change.
        minute = datetime.now(ZoneInfo(TIMEZONE)).minute
        self._offset = (5 - minute) * MINUTE

    async def change(self) -> None:
        """Let the time, the temperature and both lists be others."""
        turn, house = next(self._turns), self._play.house
        await self._play.stage.move_clock(self._offset + turn * HOUR)
        await self._set("porch", f"{10 + turn / 10}")
        await self._set("to_buy", "2", items=["milk", ("eggs", "flour")[turn % 2]])
        for number, light in enumerate(LIGHTS):
            service = "turn_on" if turn % 2 == number else "turn_off"
            await house.call_action("light", service, {"entity_id": light})

    async def end(self) -> None:
        """Have the right time again, and turn all off."""
        await self._play.stage.move_clock(0)
        data = {"entity_id": list(LIGHTS)}
        await self._play.house.call_action("light", "turn_off", data)

    async def _set(self, name: str, state: str, **attributes: Sequence[str]) -> None:
        body = {"state": state, "attributes": attributes}
        await self._play.house.rest("POST", f"/api/states/sensor.{name}", json=body)


class _Conversations:
    """Two conversations with each cell: one while all rests, one while the lists change."""

    def __init__(self, play: Play) -> None:
        """Nobody has said anything yet."""
        self._kitchen, self._bedroom = play.house.room("Kitchen"), play.house.room("Bedroom")
        self._ids: dict[Cell, str | None] = {}

    async def _ask(self, cell: Cell) -> Asked:
        asked = await cell.ask(self._kitchen, conversation_id=self._ids.get(cell))
        self._ids[cell] = asked.reply.conversation_id
        return asked

    async def begin(self, cell: Cell, _: Measured) -> None:
        """Let the model say always the same, as its answers are read again, too."""
        cell.server.script = lambda _: Scripted(content=ANSWER)
        await _start_warm(cell)

    async def learn(self, cell: Cell, measured: Measured) -> None:
        """Ask something else, and warm up."""
        measured.before.append(await cell.ask(self._bedroom))
        await cell.warm_up()

    async def rest(self, cell: Cell, measured: Measured) -> None:
        """Go on with the first one."""
        measured.at_rest.append(await self._ask(cell))

    async def again(self, cell: Cell, _: Measured) -> None:
        """Begin the second one."""
        self._ids.pop(cell, None)
        await cell.warm_up()

    async def move(self, cell: Cell, measured: Measured) -> None:
        """Go on with the second one, and look whether all of it is sent."""
        rest = measured.at_rest[len(measured.asked)]
        asked = await self._ask(cell)
        measured.asked.append(asked)
        measured.changed.append(asked.tail_tokens - rest.tail_tokens)
        rounds = [one["role"] for one in asked.record.body["messages"]].count("user")
        if rounds != len(measured.asked):
            measured.failures.append(f"{len(measured.asked) - rounds} earlier rounds are left out")


async def history_with_lists(play: Play) -> None:
    """Hold two conversations; in the second one, all that the instructions list changes.

    It has changed before: a line or an item that was never seen to move costs a read.
    """
    lists, talk = _Lists(play), _Conversations(play)
    try:
        await lists.change()
        await play.each(talk.begin)
        for _ in range(LEARNING):
            await lists.change()
            await play.each(talk.learn)
        for _ in range(TURNS):
            await play.each(talk.rest)
        await play.each(talk.again)
        for _ in range(TURNS):
            await lists.change()
            await play.each(talk.move)
    finally:
        await lists.end()
        for cell in play.cells:
            cell.server.script = None
