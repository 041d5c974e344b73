"""One agent: asks the model with a prefix that is the same for every room.

Home Assistant builds the prompt, and its chat log keeps what it built. This layer acts on the
wire only: what differs between rooms, people and moments travels with the newest question.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
import json
import math
import time

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN, LOGGER, MAX_TOOL_ROUNDS, WARM_UP_PREFIX, WINDOW_SHARE
from ..ollama.counts import Counts
from ..ollama.errors import OllamaError
from ..ollama.server import Server
from ..ollama.ways import ONE_TOKEN
from ..prefix.agent_prefix import WirePrefix
from ..prefix.layout import with_tail
from ..prefix.tool_union import name_of
from ..turns.turn_log import Cause, async_log_turn
from ..turns.turns import FAILED, Turn, Verdict, Wire, judge
from . import contexts
from .answer import Answer
from .checkpoints import Planter
from .messages import Replay, Replays, async_wire_messages, rounds_of, rounds_to_drop
from .options import AgentOptions, WireMessage
from .permits import Permits
from .prompts import Prompts, lend_tools
from .store import PrefixStore

# Until a count says better: English prose and JSON lie between three and four.
_CHARACTERS_PER_TOKEN = 3.0


class Agent:
    """What is known of one conversation subentry, and how it asks the model."""

    def __init__(
        self, hass: HomeAssistant, subentry: ConfigSubentry, server: Server, store: PrefixStore
    ) -> None:
        """Take up the prefix where it was left, if the options are still the same."""
        self.hass = hass
        self.subentry_id = subentry.subentry_id
        self.options = AgentOptions.from_data(subentry.data)
        self.server = server
        self.entity_id = ""
        self.prompts = Prompts(hass, self.options, store.prefix(self.subentry_id, self.options.key))
        self.planter = Planter(self.subentry_id, self.options, server, store)
        self.permits = Permits(hass, self.subentry_id)
        self._store = store
        self._replays = Replays()
        self._characters_per_token = _CHARACTERS_PER_TOKEN
        self._last = store.last_sent(self.subentry_id)

    async def async_converse(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> list[Turn]:
        """Answer into the chat log, and return what each call of the model cost.

        Raises OllamaError, HomeAssistantError, or ConverseError when no prompt can be built.
        """
        turns: list[Turn] = []
        try:
            async with self.server.turnstile.person(self):
                await self._ask(_Question(self, user_input, chat_log), turns)
        except OllamaError, conversation.ConverseError:
            self.note_failure(Cause.FOLLOW_UP if turns else Cause.QUESTION)
            raise
        last = chat_log.content[-1]
        if not isinstance(last, conversation.AssistantContent) or not (last.content or "").strip():
            raise HomeAssistantError(translation_domain=DOMAIN, translation_key="no_answer")
        return turns

    async def _ask(self, question: _Question, turns: list[Turn]) -> None:
        """Ask the model, and again as long as it calls tools; add each turn as it ends."""
        chat_log = question.chat_log
        bare = await question.async_take()
        replay = self._replays.of(chat_log.conversation_id)
        replay.begin(question.number, bare.tail)
        asked = time.monotonic()
        planted = await self._plant(bare)
        for _ in range(MAX_TOOL_ROUNDS):
            prefix, messages = await question.async_messages(replay)
            chunks = self.server.client.chat(self.options.body(prefix, messages))
            answer = Answer(chunks, may_call=chat_log.llm_api is not None, asked=asked)
            await self._hear(chat_log, answer)
            if planted:
                first_token_s, counts, planted = answer.first_token_s, planted, None
                turns.append(self.note(Cause.QUESTION, counts, bare, (), first_token_s))
            cause = Cause.FOLLOW_UP if turns else Cause.QUESTION
            turns.append(self.note(cause, answer.counts, prefix, messages, answer.first_token_s))
            if not chat_log.unresponded_tool_results:
                break

    async def _hear(self, chat_log: conversation.ChatLog, answer: Answer) -> None:
        """Take an answer into the chat log, then what its tools say, with the server free."""
        async with (
            aclosing(answer.deltas()) as deltas,
            aclosing(chat_log.async_add_delta_content_stream(self.entity_id, deltas)) as contents,
        ):
            async for said in contents:
                if isinstance(said, conversation.AssistantContent) and said.tool_calls:
                    async with self.server.turnstile.aside(self):
                        async for _result in contents:
                            pass

    async def async_rebase(self, user_input: conversation.ConversationInput) -> None:
        """Take a new stable prefix from how all contexts look now. Raises ConverseError."""
        await self.prompts.async_rebase(user_input)

    async def async_plant(
        self, user_input: conversation.ConversationInput, *, again: bool = False
    ) -> list[Turn]:
        """Leave a checkpoint at the end of the prefix, if it needs one and has none, or again.

        Returns the turn that this cost, or no turn. Raises OllamaError or ConverseError.
        """
        prefix = await self._async_prefix(user_input)
        counts = await self.planter.async_plant_if_wanted(prefix, again=again)
        return [self.note(Cause.WARM_UP, counts, prefix)] if counts else []

    async def async_ask_once(self, user_input: conversation.ConversationInput, words: str) -> Turn:
        """Ask a question in a conversation of its own, for one token of an answer.

        No tool is run and nothing is remembered. Raises OllamaError or ConverseError.
        """
        prefix = await self._async_prefix(user_input)
        messages: list[WireMessage] = [{"role": "user", "content": with_tail(prefix.tail, words)}]
        body = self.options.body(prefix, messages)
        body["options"] |= ONE_TOKEN
        counts = await self.server.client.chat_counts(body)
        return self.note(Cause.WARM_UP, counts, prefix, messages)

    async def _async_prefix(self, user_input: conversation.ConversationInput) -> WirePrefix:
        """Return the prefix as it is now, without a conversation."""
        return await self.prompts.async_take(
            user_input, conversation.ChatLog(self.hass, WARM_UP_PREFIX)
        )

    async def async_forget_gone(self, language: str) -> None:
        """Keep nothing in the prefix that Home Assistant no longer names, and store that."""
        if not self.prompts.prefix.tools.looked:
            return
        await self.prompts.async_forget_gone(contexts.look(contexts.APP, self.entity_id, language))
        self._store.async_save(self.subentry_id, self.prompts.prefix)

    async def _plant(self, prefix: WirePrefix) -> Counts | None:
        """Read a new prefix bare first, where a chat would leave it without its checkpoint.

        Each question until the next warm-up would re-read a batch. It costs no more than the
        chat alone, and if it fails, the chat is asked all the same.
        """
        try:
            return await self.planter.async_plant_if_wanted(prefix)
        except OllamaError as err:
            LOGGER.debug("%s could not plant its prefix: %s", self.entity_id, err)
        return None

    async def async_messages(
        self, chat_log: conversation.ChatLog, replay: Replay, prefix: WirePrefix
    ) -> list[WireMessage]:
        """Return the messages to send, with old rounds left out where they must be."""
        rounds = rounds_of(chat_log.content)
        unsaid = self.permits.async_unsaid(map(name_of, prefix.tools))
        replay.leave_out(rounds, unsaid, f"{prefix.system}\n{prefix.tail}")
        # The round in progress is not history.
        replay.dropped = max(
            replay.dropped, rounds_to_drop(len(rounds) - 1, self.options.max_history)
        )
        while True:
            messages = await async_wire_messages(self.hass, rounds, replay, unsaid)
            room = self.options.num_ctx * self._characters_per_token * WINDOW_SHARE
            left = len(rounds) - replay.dropped
            if left <= 1 or _wire(prefix, messages).length() <= room:
                return messages
            replay.dropped += left // 2

    def tokens(self, length: int) -> int:
        """Return about how many tokens so many characters of a prompt are, by the last count."""
        return math.ceil(length / self._characters_per_token)

    def note(
        self,
        cause: Cause,
        counts: Counts,
        prefix: WirePrefix,
        messages: Sequence[WireMessage] = (),
        first_token_s: float | None = None,
    ) -> Turn:
        """Return the verdict on a turn, log it, and remember what the server has been sent."""
        wire = _wire(prefix, messages, counts.node)
        if counts.prompt_tokens:
            self._characters_per_token = wire.length() / counts.prompt_tokens
        context_length = self.server.state.context_length(self.options.model)
        other_options = context_length not in (None, 0, self.options.num_ctx)
        turn = replace(
            judge(
                counts,
                wire,
                self._last,
                other_options=other_options,
                riding=self.tokens(prefix.learned) if _tells(messages, prefix.tail) else None,
            ),
            first_token_s=first_token_s,
        )
        if self._store.closed:
            # The entry is gone, or another agent has taken this one's place.
            return turn
        if turn.verdict is Verdict.SERVER_LOST_IT and messages:
            self.planter.forget()
        self._last = wire.remembered()
        async_log_turn(self.hass, self.subentry_id, cause, turn)
        self._store.async_save(self.subentry_id, self.prompts.prefix, wire)
        return turn

    def note_failure(self, cause: Cause) -> None:
        """Log that a question or a warm-up failed, so that nothing older looks like its result."""
        if not self._store.closed:
            async_log_turn(self.hass, self.subentry_id, cause, FAILED)


class _Question:
    """One question and its prompt, which holds only what may be named when it is sent."""

    def __init__(
        self,
        agent: Agent,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
    ) -> None:
        """Take the question; its prompt is taken when it is let through."""
        self.chat_log = chat_log
        self.number = len(rounds_of(chat_log.content)) - 1
        self._agent = agent
        self._user_input = user_input

    async def async_take(self) -> WirePrefix:
        """Have the prompt built as it is now. Raises ConverseError if none can be."""
        self._losses = self._agent.permits.async_losses()
        self._prefix = await self._agent.prompts.async_take(self._user_input, self.chat_log)
        lend_tools(self.chat_log, self._prefix)
        return self._prefix

    async def async_messages(self, replay: Replay) -> tuple[WirePrefix, list[WireMessage]]:
        """Return prefix and messages, once nothing was un-exposed since the prompt was built.

        That may be while the prefix was planted, while a tool ran, or while an image was read.
        """
        while True:
            messages = await self._agent.async_messages(self.chat_log, replay, self._prefix)
            if self._agent.permits.async_losses() == self._losses:
                return self._prefix, messages
            replay.tails[self.number] = (await self.async_take()).tail


def _tells(messages: Sequence[WireMessage], tail: str) -> bool:
    """Return whether the newest message is a question in front of which the tail rides."""
    if not messages or messages[-1]["role"] != "user":
        return False
    return str(messages[-1]["content"]).startswith(tail)


def _wire(prefix: WirePrefix, messages: Sequence[WireMessage], node: str | None = None) -> Wire:
    """Return the text of a turn for comparing it with the last one."""
    texts = tuple(json.dumps({**m, "images": len(m.get("images", ()))}) for m in messages)
    return Wire(prefix.system, prefix.tools, texts, node, prefix.tools_length)
