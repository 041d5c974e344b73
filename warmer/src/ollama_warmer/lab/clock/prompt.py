"""What the clock demonstration asks: a house's prompt with tools, and four places for the time.

The counts depend on the texts alone, so the shown time is moved on between two requests and no one
waits for it: a demonstration that waits keeps the people of the house waiting, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
import json
from pathlib import Path
from typing import Any

from ollama_warmer.errors import ConfigError

QUESTION = "What day is it?"
# Minutes and seconds both move, as between two questions of a person at home.
STEP = timedelta(seconds=67)
TIME_TOOL = "GetDateTime"

_PERSONA = """\
You are the voice of a family's house. People speak to you and hear what you answer.
Answer in the language of the question, in one or two short sentences, without lists, without
symbols and without links. Say numbers and units as words that can be read aloud.
When somebody asks for something to be switched, opened, closed or set, use a tool. Never say that
something was done without having used one. When a device is not in the list below, say so.
When a question is about the state of a device, use the tool that reads it: the list below tells
what there is, not how it stands at the moment. If two devices could be meant, take the one in the
room of the person who speaks, and ask only if that does not help.
The devices and rooms of this house:
"""
_ROOMS = (
    *("Attic", "Bathroom", "Bedroom", "Cellar", "Children's Room", "Dining Room"),
    *("Garage", "Garden", "Guest Room", "Hall", "Kitchen", "Laundry Room"),
    *("Living Room", "Office", "Pantry", "Terrace", "Winter Garden", "Workshop"),
)
_THINGS = (
    ("ceiling light", "light"),
    ("reading lamp", "light"),
    ("blinds", "cover"),
    ("radiator", "climate"),
    ("motion", "binary_sensor"),
    ("window contact", "binary_sensor"),
    ("temperature", "sensor"),
    ("humidity", "sensor"),
    ("wall socket", "switch"),
)


class Placement(StrEnum):
    """Where the time stands, from the dearest place to the cheapest."""

    TOP = "top"
    END = "end"
    QUESTION = "question"
    TOOL = "tool"

    @property
    def words(self) -> str:
        """The place in words."""
        return _PLACES[self]

    @property
    def warm_ups(self) -> int:
        """How many requests go before the first sample.

        The first one pays the switch from the placement before. A second one is for MLX's runner,
        which keeps a recurrent model's state at a branch only once two prompts have branched there
        (Ollama 0.34 and 0.35.1); at the top there is nothing in front of the branch to keep.
        """
        return 1 if self is Placement.TOP else 2


_PLACES = {
    Placement.TOP: "at the top of the system text",
    Placement.END: "at the end of the system text",
    Placement.QUESTION: "in the question",
    Placement.TOOL: "in a tool's answer",
}


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What every request has in common.

    Attributes:
        name: What reports call it.
        system: The system text, without a time.
        tools: The tools in Ollama's form; none for a model that takes none.
    """

    name: str
    system: str
    tools: tuple[Mapping[str, Any], ...]

    @property
    def characters(self) -> int:
        """Characters of system text and tools."""
        return len(self.system) + (len(json.dumps(self.tools)) if self.tools else 0)

    def messages(self, placement: Placement, shown: datetime) -> list[dict[str, Any]]:
        """Return the messages of a request that shows this time in this place."""
        sentence = f"It is {shown:%H:%M:%S}."
        system, question = self.system, QUESTION
        match placement:
            case Placement.TOP:
                system = f"{sentence}\n\n{system}"
            case Placement.END:
                system = f"{system}\n{sentence}"
            case Placement.QUESTION:
                question = f"{sentence} {question}"
        asked = [
            {"role": "system", "content": system},
            {"role": "user", "content": question},
        ]
        return asked + (_tool_round(shown) if placement is Placement.TOOL else [])


def times(start: datetime) -> Iterator[datetime]:
    """Yield the times that the requests show, each a little later than the one before."""
    while True:
        yield start
        start += STEP


def moving_words(placement: Placement, shown: datetime) -> str:
    """Return all that stands between the shared prefix and the template's last marks."""
    sentence = f"It is {shown:%H:%M:%S}."
    if placement is Placement.TOOL:
        return QUESTION + json.dumps(_tool_round(shown))
    return f"{sentence} {QUESTION}"


def _tool_round(shown: datetime) -> list[dict[str, Any]]:
    """Return a call of the time's tool and its answer, written down here: nothing is executed."""
    call = {"function": {"name": TIME_TOOL, "arguments": {}}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {
            "role": "tool",
            "tool_name": TIME_TOOL,
            "content": json.dumps({"time": f"{shown:%H:%M:%S}"}),
        },
    ]


def demonstration() -> Prompt:
    """Return the prompt of a house that no one lives in: 162 devices and six tools."""
    devices = [
        f"- names: {room} {thing}\n  domain: {domain}\n  areas: {room}"
        for room in _ROOMS
        for thing, domain in _THINGS
    ]
    return Prompt(
        name="the demonstration house", system=_PERSONA + "\n".join(devices), tools=_TOOLS
    )


def from_file(path: Path) -> Prompt:
    """Return a prompt with a file's text in place of the demonstration house's.

    Raises:
        ConfigError: The file cannot be read, is not text, or is empty.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as err:
        raise ConfigError(
            f"{path}: cannot be read: {err.strerror}. Name the file with the system text with "
            "--prompt-file"
        ) from err
    except UnicodeDecodeError as err:
        raise ConfigError(f"{path}: is not text in UTF-8: save it as UTF-8") from err
    if not text.strip():
        raise ConfigError(f"{path}: is empty: write the system text into it")
    return Prompt(name=path.name, system=text.strip(), tools=_TOOLS)


def _tool(
    name: str, description: str, required: Sequence[str] = (), /, **fields: str
) -> dict[str, Any]:
    properties = {
        field: {"type": "string", "description": words} for field, words in fields.items()
    }
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(required),
            },
        },
    }


_NAME, _AREA = "Name of the device as the list has it", "Name of the room"
# Together shorter than a batch of 1,024 tokens: where a template puts the tools behind the system
# text, longer ones would move the end of the system text out of the last batch.
_TOOLS = (
    _tool(TIME_TOOL, "Tells the date and the time of day."),
    _tool("TurnOn", "Switches a device on or opens it.", name=_NAME, area=_AREA),
    _tool("TurnOff", "Switches a device off or closes it.", name=_NAME, area=_AREA),
    _tool("ReadState", "Tells how a device stands at the moment.", name=_NAME, area=_AREA),
    _tool(
        "SetTemperature",
        "Sets the temperature that a room is heated to.",
        ("degrees",),
        area=_AREA,
        degrees="Degrees Celsius, such as 20.5",
    ),
    _tool(
        "SetTimer",
        "Starts a timer that rings when its time is over.",
        ("minutes",),
        minutes="How many minutes it runs",
        label="What the timer is for, if it was said",
    ),
)
