"""A house with canaries in it: names, words and secrets that are found nowhere else.

Everything is played once: what is there is shown to the model, people talk, something fails, and
then all that has a name here is hidden, deleted or renamed.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any

from tests.rig.bench.stage import TOOLS, Stage
from tests.rig.hass_api import CommandError, Json, Reply
from tests.rig.hass_settings import AgentOptions
from tests.rig.home_assistant import DEMO_HOUSE, OURS, HomeAssistant
from tests.rig.house_scripts import SCRIPTS
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import Fault, FaultKind, OllamaStandIn, ServedModel
from tests.rig.ollama_engine import BackendError
from tests.rig.ollama_shapes import Scripted

from .canary_search import Bus, basic

AGENT = "Beaconvoice"
"""The name of the agent: it is there on purpose, wherever agents are named."""
MODEL = "beaconmodel"
"""The name of its model, likewise."""
STAYS = "Beaconlamp"
"""A light that stays exposed."""

# Each of these is named to the model, and hidden, deleted or renamed afterwards.
HIDDEN = {
    "an entity that is un-exposed": "Zanderlamp",
    "its alias": "Ombrelight",
    "its area": "Vexleyroom",
    "a device that is deleted": "Krumholtz",
    "the old name of an entity": "Brontide",
    "the old name of an area": "Fipplegate",
    "a script that is un-exposed": "Galligaskin",
    "what that script does": "Snollygoster",
    "what it is told": "Wamblecropt",
    "the tool of one person": "Mumpsimus",
    "what that tool does": "Quockerwodger",
}
# This one is never named to anybody.
NEVER = {"an entity that was never exposed": "Ultracrepid"}
WORDS = {
    "the words of a person": "Gobemouche",
    "words at a satellite": "Nudiustertian",
    "what an automation adds to the instructions": "Tatterdemal",
    "an argument of a tool": "Absquatulate",
    "the answer of a tool": "Collywobble",
    "the answer of the model": "Widdershins",
    "the thoughts of the model": "Callipygia",
    "a tool that the model made up": "Lickspittle",
    "what the server quotes in its error": "Pettifogger",
    "the name of a person": "Taradiddle",
}
KEY, USER, PASSWORD = "Bumfuzzlekey", "Codswallopuser", "Flibbertigib"
SECRETS = {
    "the API key": KEY,
    "the user in the address": USER,
    "the password in the address": PASSWORD,
    "both, as they are sent": basic(USER, PASSWORD),
}
PROMPT = "You are a voice assistant. Be brief.\nYou talk to {{ user_name }}."
GALLIGASKIN = {
    "galligaskin": {
        "alias": HIDDEN["a script that is un-exposed"],
        "description": f"Does a {HIDDEN['what that script does']}",
        "fields": {
            "what": {
                "name": "What",
                "description": f"Which {HIDDEN['what it is told']}",
                "selector": {"text": {}},
            }
        },
        "sequence": [],
    }
}
CONFIGURATION: Json = {
    "logger": {
        "default": "warning",
        "logs": {"custom_components.ollama_warm": "debug"},
    },
    "script": SCRIPTS | GALLIGASKIN,
    "diagnostics": None,
    "system_health": None,
    # So that what is on the bus is in the logbook at once.
    "recorder": {"commit_interval": 0},
    "logbook": None,
}


@dataclass
class Scene:
    """The house and what came of it."""

    house: HomeAssistant
    server: OllamaStandIn
    away: OllamaStandIn
    """Another server, whose address has a user and a password."""
    folder: Path
    agent: str = ""
    other: str = ""
    """The agent on the other server."""
    bus: Bus = field(default_factory=Bus)
    said: list[str] = field(default_factory=list)
    """Each answer to somebody without an administrator's rights, but for the model's words."""
    told: list[str] = field(default_factory=list)
    """What administrators are told: their replies, and the prefix, before anything is hidden."""
    first: str | None = None
    """The conversation in which the model names everything that is there."""
    hidden_at: int = 0
    """How many requests there were when everything was hidden."""
    script: dict[str, Scripted | str] = field(default_factory=dict)
    """Question -> what the model answers, or the error that the server answers."""

    @property
    def secrets(self) -> dict[str, str]:
        """What no one but the stored data may know."""
        tokens = {
            "an administrator's token": self.house.admin_token,
            "the token of an ordinary user": self.house.warmer_token,
        }
        return SECRETS | tokens

    @property
    def canaries(self) -> dict[str, str]:
        """Everything that is looked for."""
        return HIDDEN | NEVER | WORDS | self.secrets

    def named(self) -> str:
        """Return what the model was told of the house until everything was hidden."""
        bodies = [record.body for record in self.server.records[: self.hidden_at]]
        return json.dumps(
            [[body["messages"][:1], body.get("tools")] for body in bodies if "messages" in body]
        )

    def sent(self, start: int = 0, end: int | None = None) -> str:
        """Return all that went to the model servers, from one request on to another."""
        records = [*self.server.records[start:end], *self.away.records]
        return "\n".join(record.raw for record in records)

    def answer(self, body: Json) -> Scripted | None:
        """Return what the model answers to a question of the scene, or fail as the server would."""
        message: Json = body["messages"][-1]
        if message["role"] == "tool":
            return Scripted(content="Done.")
        for question, answer in self.script.items():
            if message["content"].endswith(question):
                if isinstance(answer, str):
                    raise BackendError(500, answer)
                return answer
        return Scripted(content="Very well.")

    async def ask(self, text: str, answer: Scripted | str = "", **how: Any) -> Reply:  # noqa: ANN401
        """Ask as somebody without an administrator's rights, unless it is said who asks."""
        self.script[text] = answer or Scripted(content="Very well.")
        token = how.pop("token", self.house.warmer_token)
        agent = how.pop("agent", self.agent)
        reply = await self.house.ask(text, agent=agent, token=token, **how)
        keep = self.told if token == self.house.admin_token else self.said
        told = beside_speech(reply)
        # Whoever asked hears what the server says of it.
        keep.append(told.replace(answer, "") if isinstance(answer, str) and answer else told)
        return reply

    async def command(self, command: str, **data: Any) -> None:  # noqa: ANN401
        """Send a command as somebody without an administrator's rights, and keep what comes."""
        try:
            answer = await self.house.command(command, token=self.house.warmer_token, **data)
        except CommandError as err:
            answer = str(err)
        self.said.append(json.dumps(answer))


def beside_speech(reply: Reply) -> str:
    """Return a reply without the model's words, which are for whoever asked; errors are ours."""
    if reply.error_code:
        return json.dumps(reply.raw)
    return json.dumps(reply.raw).replace(json.dumps(reply.speech), "")


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    """Play everything, and hand the house over while it still runs."""
    model = ServedModel(MODEL, Memory.ATTENTION, tiny_model(Memory.ATTENTION))
    async with AsyncExitStack() as stack:
        server, away = [
            await stack.enter_async_context(OllamaStandIn([model], log_dir=folder / name))
            for name in ("server", "away")
        ]
        server.api_key = KEY
        house = await stack.enter_async_context(
            HomeAssistant(
                folder / "house",
                components=(OURS, DEMO_HOUSE, TOOLS),
                configuration=CONFIGURATION,
            )
        )
        played = Scene(house, server, away, folder / "house")
        server.script = away.script = played.answer
        await stack.enter_async_context(played.bus.listen(house))
        await _move_in(played)
        await _talk(played)
        await _hide(played)
        await _talk_on(played)
        await _fail(played)
        yield played


async def _move_in(played: Scene) -> None:
    """Put everything in its place, and set the agents up."""
    house = played.house
    await house.config_flow("bench_tools")
    for name, area in (
        (HIDDEN["an entity that is un-exposed"], HIDDEN["its area"]),
        (HIDDEN["a device that is deleted"], "Kitchen"),
        (HIDDEN["the old name of an entity"], HIDDEN["the old name of an area"]),
        (STAYS, "Kitchen"),
    ):
        data = {"name": name, "area": area}
        await house.call_action("demo_house", "add_light", data, return_response=True)
    await house.command(
        "config/entity_registry/update",
        entity_id="light.zanderlamp",
        # None stands for the name itself.
        aliases=[None, HIDDEN["its alias"]],
    )
    data = {"entity_id": "sensor.kitchen_power", "name": NEVER["an entity that was never exposed"]}
    await house.call_action("demo_house", "rename", data)
    await house.expose("script.galligaskin", exposed=True)
    options = AgentOptions(name=AGENT, prompt=PROMPT, apis=("assist", "diary"), auto_warm=True)
    url, model = played.server.url, f"{MODEL}:latest"
    played.agent = await house.add_ollama_warm(url, model=model, api_key=KEY, **options)
    url = played.away.url.replace("//", f"//{USER}:{PASSWORD}@")
    played.other = await house.add_ollama_warm(url, model=model, name="Other", apis=[])


async def _talk(played: Scene) -> None:
    """Say every word that there is, with everything in sight."""
    house = played.house
    warm = {"domain": "ollama_warm", "service": "warm", "return_response": True}
    await played.command("call_service", **warm, target={"entity_id": played.agent})
    person = await Stage(house, []).token_of(WORDS["the name of a person"])
    users = {user["name"]: user["id"] for user in await house.command("config/auth/list")}
    diary = {
        "user_id": users[WORDS["the name of a person"]],
        "tool": HIDDEN["the tool of one person"],
        "description": f"Reads a {HIDDEN['what that tool does']}",
        "answer": f"It says {WORDS['the answer of a tool']}",
    }
    await house.call_action("bench_tools", "lend_diary", diary)
    names = ", ".join(HIDDEN.values())
    said = Scripted(
        content=f"{WORDS['the answer of the model']}: {names}.",
        thinking=f"They want {WORDS['the thoughts of the model']}.",
    )
    first = await played.ask(f"Where is my {WORDS['the words of a person']}?", said)
    played.first = first.conversation_id
    call = Scripted(tool_calls=[_call("script__announce", WORDS["an argument of a tool"])])
    await played.ask("Announce it.", call, conversation_id=played.first)
    made_up = Scripted(tool_calls=[_call(WORDS["a tool that the model made up"], "x")])
    await played.ask("Do what you cannot do.", made_up)
    reading = Scripted(
        tool_calls=[{"function": {"name": HIDDEN["the tool of one person"], "arguments": {}}}]
    )
    await played.ask("What does my diary say?", reading, token=person)
    await played.ask("Break.", f"cannot parse {WORDS['what the server quotes in its error']}")
    await house.make_pipeline(AGENT, played.agent)
    await house.select_pipeline(house.room("Kitchen"), AGENT)
    await house.say(house.room("Kitchen"), f"Is it {WORDS['words at a satellite']}?")
    adds = {
        "agent_id": played.agent,
        "text": "Well?",
        "device_id": house.room("Bedroom").device_id,
        "extra_system_prompt": f"Ask for {WORDS['what an automation adds to the instructions']}.",
    }
    await house.call_action("bench_tools", "ask_as_nobody", adds, return_response=True)
    prefix = await house.command("ollama_warm/prefix", entity_id=played.agent)
    played.told.append(json.dumps(prefix))


def _call(tool: str, message: str) -> Json:
    return {"function": {"name": tool, "arguments": {"message": message}}}


async def _hide(played: Scene) -> None:
    """Hide, delete and rename everything that has a name here."""
    house = played.house
    await house.expose("light.zanderlamp", exposed=False)
    await house.expose("script.galligaskin", exposed=False)
    await house.call_action("demo_house", "remove", {"entity_id": "light.krumholtz"})
    data = {"entity_id": "light.brontide", "name": "Reading Lamp"}
    await house.call_action("demo_house", "rename", data)
    await house.command("config/area_registry/update", area_id="fipplegate", name="Study")
    await house.call_action("bench_tools", "close_diary")
    played.hidden_at = len(played.server.records)


async def _talk_on(played: Scene) -> None:
    """Go on with what was talked about before, in the same conversation and in others."""
    house = played.house
    await played.ask("And now?", conversation_id=played.first)
    await played.ask("And in here?", device=house.room("Office"))
    await played.ask("And you?", token=house.admin_token)
    await played.ask("warm up", conversation_id="ollama_warm.canary")
    await house.call_action(
        "ollama_warm", "warm", {"entity_id": played.agent}, return_response=True
    )


async def _fail(played: Scene) -> None:
    """Let the servers fail, in front of people and of warm-ups."""
    house = played.house
    await played.ask("Are you there?", agent=played.other)
    await played.away.stop()
    await played.ask("Are you still there?", agent=played.other)
    warm = {"domain": "ollama_warm", "service": "warm", "return_response": True}
    await played.command("call_service", **warm, target={"entity_id": played.other})
    played.server.fault = Fault(FaultKind.STATUS_401)
    await played.ask("May I?")
    await played.command("call_service", **warm, target={"entity_id": played.agent})
    button = next(
        entity for entity in await house.states() if entity.startswith(f"button.{AGENT.lower()}")
    )
    press = {"domain": "button", "service": "press"}
    await played.command("call_service", **press, target={"entity_id": button})
    played.server.fault = None
