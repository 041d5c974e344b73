"""A cell of the bench: one agent, one model server, one kind of memory, one path to the prompt."""

from dataclasses import dataclass, field
import hashlib
import json
from pathlib import Path
from typing import Any, Literal, Unpack, override

from tests.rig.hass_api import Json, Reply, until
from tests.rig.hass_settings import AgentOptions
from tests.rig.home_assistant import HassError, HomeAssistant, Room
from tests.rig.models import Memory, tiny_model
from tests.rig.ollama import OllamaStandIn, Record, ServedModel
from tests.rig.warmer import run_warmer

from .questions import QUESTIONS

CORE, OURS = "core", "ollama_warm"
NUM_CTX = 16384
# The ends that the template puts around the newest user message, and the end of any message.
USER_START = "<|im_start|>user\n"
MESSAGE_END = "<|im_end|>\n"
ANSWER_START = "<|im_start|>assistant\n"

type PromptPath = Literal["native", "rendered"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is measured."""

    agent: str
    memory: Memory
    path: PromptPath
    slots: int = 1
    """How many prompts the model server reads at once."""
    by_chat: bool = False
    """An older server that does not show how it renders, so that only a chat can warm it."""

    @override
    def __str__(self) -> str:
        """Return a name for a person."""
        return f"{self.agent}, {self.setting}"

    @property
    def setting(self) -> str:
        """What the agent is set in front of."""
        slots = f", {self.slots} slots" if self.slots > 1 else ""
        by_chat = ", chat warm-up" if self.by_chat else ""
        return f"{self.memory}, {self.path}{slots}{by_chat}"

    @property
    def file_name(self) -> str:
        """A name for files."""
        by_chat = "-chat" if self.by_chat else ""
        return f"{self.agent}-{self.memory}-{self.path}-{self.slots}{by_chat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, what llama.cpp counted for its first model call, and what our agent said."""

    text: str
    record: Record
    reply: Reply
    own: int
    """Tokens of the newest user message, with the template's ends around it."""
    words: int
    """Tokens of what was asked."""
    tail_tokens: int
    """Tokens of what was put in front of that."""
    conversation: int
    """Tokens of the whole conversation, which is everything behind system text and tools."""

    @property
    def re_read(self) -> int:
        """Tokens that were not in memory."""
        return self.record.re_read_tokens

    @property
    def waste(self) -> int:
        """Tokens that were read again beside the newest user message."""
        return self.re_read - self.own

    @property
    def beside_words(self) -> int:
        """Tokens that were read again beside what was asked."""
        return self.re_read - self.words

    @property
    def tail(self) -> str:
        """What our agent, or Home Assistant, put in front of what was asked."""
        return _newest(self.record).removesuffix(self.text)

    @property
    def turn(self) -> Json:
        """What our agent says of the turn; empty with others."""
        turns = (self.reply.extra_data.get(OURS) or {}).get("turns") or [{}]
        return dict(turns[0])

    @property
    def verdict(self) -> str:
        """Our agent's verdict, and the kind of its reason where it has one."""
        reason = (self.turn.get("reason") or "").partition(":")[0]
        return ": ".join(filter(None, (self.turn.get("verdict"), reason)))


class Cell:
    """An agent in the house, and the server that it alone talks to."""

    def __init__(self, kind: Kind, house: HomeAssistant, logs: Path) -> None:
        """Describe the cell; its server is started by the one who has it."""
        self.kind = kind
        self.house = house
        self.entity = ""
        name = f"tiny-{kind.memory}"
        self.model = ServedModel(name, kind.memory, tiny_model(kind.memory), kind.path)
        folder = logs / kind.file_name
        self.server = OllamaStandIn([self.model], log_dir=folder, n_parallel=kind.slots)
        if kind.by_chat:
            # The last Ollama that cannot be asked for its prompt; counts stay told.
            self.server.version, self.server.reports_cached = "0.11.4", True
        self._questions = iter(QUESTIONS)

    @property
    def ours(self) -> bool:
        """Whether it is our agent."""
        return self.kind.agent == OURS

    async def move_in(self, **options: Unpack[AgentOptions]) -> None:
        """Set the agent up."""
        chosen = AgentOptions(num_ctx=NUM_CTX) | options
        add = self.house.add_ollama_warm if self.ours else self.house.add_core_ollama
        self.entity = await add(self.server.url, model=self.model.full_name, **chosen)

    async def move_out(self) -> None:
        """Remove the agent, so that nothing of it warms up while another is measured."""
        entity = await self.house.command("config/entity_registry/get", entity_id=self.entity)
        await self.house.command(
            "config_entries/subentries/delete",
            entry_id=entity["config_entry_id"],
            subentry_id=entity["config_subentry_id"],
        )
        await self.house.wait_loaded(entity["config_entry_id"])

    async def until_available(self) -> None:
        """Wait until the agent can be asked."""

        async def available() -> bool:
            state = (await self.house.states()).get(self.entity, {"state": "unavailable"})
            return bool(state["state"] != "unavailable")

        await until(available)

    async def start_over(self) -> None:
        """Let the server lose everything, and begin with the first question again."""
        self._questions = iter(QUESTIONS)
        await self.server.restart_backend(self.model.name)

    async def warm_up(self) -> str:
        """Run the warmer for the app, and return its verdict."""
        return (await run_warmer(self.house, self.entity)).verdict

    def question(self) -> str:
        """Return the next question."""
        return next(self._questions)

    async def ask(
        self,
        device: Room | None = None,
        *,
        conversation_id: str | None = None,
        token: str | None = None,
    ) -> Asked:
        """Ask the next question."""
        text, mark = self.question(), self.mark()
        reply = await self.house.ask(
            text, agent=self.entity, device=device, conversation_id=conversation_id, token=token
        )
        return await self.measured(text, reply, mark)

    async def ask_as_nobody(self, device: Room) -> Asked:
        """Ask from a satellite that does not know who speaks."""
        text, mark = self.question(), self.mark()
        data = {"agent_id": self.entity, "text": text, "device_id": device.device_id}
        answer = await self.house.call_action(
            "bench_tools", "ask_as_nobody", data, return_response=True
        )
        return await self.measured(text, Reply(answer["reply"], 0), mark)

    def mark(self) -> int:
        """Return a place in the records, for `since`."""
        return len(self.server.records)

    def since(self, mark: int) -> list[Record]:
        """Return the prompts that llama.cpp read since then, of people and of warm-ups."""
        records = self.server.records[mark:]
        return [record for record in records if record.prompt_tokens is not None]

    async def measured(self, text: str, reply: Reply, mark: int) -> Asked:
        """Find the first model call of a question among what the server was sent since."""
        if reply.error_code:
            raise HassError(f"{text} {reply.speech}")
        record = next(one for one in self.since(mark) if _newest(one).endswith(text))
        end = f"{MESSAGE_END}{ANSWER_START}"
        return Asked(
            text=text,
            record=record,
            reply=reply,
            own=await self._count(f"{USER_START}{_newest(record)}{end}"),
            words=await self._count(text),
            tail_tokens=await self._count(_newest(record).removesuffix(text)),
            conversation=await self._count((record.prompt or "").partition(MESSAGE_END)[2]),
        )

    async def _count(self, text: str) -> int:
        return await self.server.count_tokens(self.model.name, text)


def _newest(record: Record) -> str:
    """Return the newest message of a chat, empty if it is no one's question."""
    messages: list[Json] = record.body.get("messages") or [{}]
    return str(messages[-1].get("content") or "") if messages[-1].get("role") == "user" else ""


def prefix_hash(record: Record) -> str:
    """Return a name for the system text and the tools, byte for byte as they were sent."""
    prefix: list[Any] = [record.body["messages"][0], record.body.get("tools")]
    return hashlib.sha256(json.dumps(prefix).encode()).hexdigest()[:16]


@dataclass(kw_only=True)
class Measured:
    """What one scenario costs in one cell."""

    scenario: str
    kind: Kind
    asked: list[Asked] = field(default_factory=list)
    """The questions that count."""
    before: list[Asked] = field(default_factory=list)
    """Questions on the way there, for their verdicts."""
    at_rest: list[Asked] = field(default_factory=list)
    """As many questions, in the same rooms, where what the scenario does never happened."""
    changed: list[int] = field(default_factory=list)
    """Tokens that each question has to read more than at rest, as the house is another one."""
    failures: list[str] = field(default_factory=list)
    """What must not happen and did, whatever the numbers say."""
    notes: list[str] = field(default_factory=list)
    full_prefills: int | None = None
    seconds: float = 0
