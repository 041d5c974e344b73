"""One agent: asks the model with a prefix that is the same for every room.

Home Assistant builds the prompt, and its chat log keeps what it built. This layer acts on the
wire only: what differs between rooms, people and moments travels with the newest question.
"""

from collections.abc import Iterable
import hashlib
import json
from typing import Any

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import (
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_PROMPT,
    MAJOR_VERSION,
    MINOR_VERSION,
)
from homeassistant.core import HomeAssistant

from . import contexts
from .api import OllamaClient
from .const import (
    CONF_KEEP_ALIVE,
    CONF_MAX_HISTORY,
    CONF_NUM_CTX,
    CONF_THINK,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_MAX_HISTORY,
    DEFAULT_NUM_CTX,
    DOMAIN,
    KEEP_ALIVE_FOREVER,
    LOGGER,
    MAX_TOOL_ROUNDS,
    WARM_UP_PREFIX,
)
from .messages import (
    Replay,
    Replays,
    WireMessage,
    async_wire_messages,
    newest_user,
    rounds_of,
    rounds_to_drop,
)
from .prefix.agent_prefix import Render, WirePrefix
from .store import PrefixStore
from .turns import Turn, Wire, judge
from .wire import Answer, ElsewhereTool, render

# A window that is full to the brim makes Ollama drop messages in silence.
_WINDOW_SHARE = 0.9
# Until a count says better: English prose and JSON lie between three and four.
_CHARACTERS_PER_TOKEN = 3.0


class Agent:
    """What is known of one conversation subentry, and how it asks the model."""

    def __init__(
        self,
        hass: HomeAssistant,
        subentry: ConfigSubentry,
        client: OllamaClient,
        store: PrefixStore,
    ) -> None:
        """Take up the prefix where it was left, if the options are still the same."""
        self.hass = hass
        self.subentry = subentry
        self.client = client
        self.entity_id = ""
        self._store = store
        self._replays = Replays()
        self._characters_per_token = _CHARACTERS_PER_TOKEN
        self._prefix = store.prefix(subentry.subentry_id, self._key())
        self._last: Wire | None = None
        self._sent = store.sent(subentry.subentry_id)

    def _key(self) -> str:
        """Return a name for what the prefix was learned under; another one starts anew."""
        options = self.subentry.data
        release = [MAJOR_VERSION, MINOR_VERSION]
        learned_under = [options.get(CONF_PROMPT), options.get(CONF_LLM_HASS_API), release]
        return hashlib.sha256(json.dumps(learned_under).encode()).hexdigest()[:16]

    async def async_converse(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> list[Turn]:
        """Answer into the chat log, and return what each call of the model cost.

        Raises OllamaError, HomeAssistantError, or ConverseError when no prompt can be built.
        """
        # Home Assistant 2026.11 freezes the prompt of a conversation. It is built anew here,
        # as somebody may have un-exposed something in between; the wire stays stable anyway.
        chat_log.llm_api = None
        await self._provide(chat_log, user_input)
        prefix = await self._take(user_input, chat_log)
        self._lend_tools(chat_log, prefix)
        rounds = rounds_of(chat_log.content)
        replay = self._replays.of(chat_log.conversation_id)
        replay.tails.setdefault(newest_user(rounds), prefix.tail)
        turns: list[Turn] = []
        for _ in range(MAX_TOOL_ROUNDS):
            messages = await self._messages(chat_log, replay, prefix)
            answer = Answer(self.client.chat(self._body(prefix, messages)))
            async for _content in chat_log.async_add_delta_content_stream(
                self.entity_id, answer.deltas()
            ):
                pass
            turns.append(self._note(answer, prefix, messages))
            if not chat_log.unresponded_tool_results:
                break
        return turns

    async def async_warm_up(self, user_input: conversation.ConversationInput) -> list[Turn]:
        """Read the prefix into the server's cache with these words, and return the cost.

        The body is that of a real turn, but for one token of an answer that nobody hears.
        No tool is run and nothing is remembered of it. Raises as `async_converse` does.
        """
        await self.async_rebase(user_input.language, user_input.device_id)
        chat_log = conversation.ChatLog(self.hass, user_input.conversation_id or DOMAIN)
        await self._provide(chat_log, user_input)
        prefix = await self._take(user_input, chat_log)
        text = f"{prefix.tail}\n\n{user_input.text}" if prefix.tail else user_input.text
        messages: list[WireMessage] = [{"role": "user", "content": text}]
        body = self._body(prefix, messages)
        # 0 would be left out on Ollama's rendered path, and the model would talk on and on.
        body["options"]["num_predict"] = 1
        answer = Answer(self.client.chat(body))
        async for _delta in answer.deltas():
            pass
        return [self._note(answer, prefix, messages)]

    async def async_rebase(self, language: str, device_id: str | None = None) -> None:
        """Take a new stable prefix from how every context looks now."""
        spoke = {*self._prefix.contexts(), *([device_id] if device_id else [])}
        renders: dict[str, Render] = {}
        for context in contexts.async_contexts(self.hass, spoke):
            await self._look(renders, context, language)
        if person := await self.hass.auth.async_get_owner():
            # To see what the instructions say to somebody with a name.
            await self._look(renders, contexts.person_context(person.id), language)
        if renders and self._prefix.rebase(renders):
            LOGGER.debug("%s has a new stable prefix", self.entity_id)
        self._save()

    async def _look(self, renders: dict[str, Render], context: str, language: str) -> None:
        """Add how the prompt looks in one context, if Home Assistant builds one there."""
        chat_log = conversation.ChatLog(self.hass, WARM_UP_PREFIX)
        look = contexts.look(context, self.entity_id, language)
        try:
            await self._provide(chat_log, look)
        except conversation.ConverseError as err:
            LOGGER.debug("No prompt for one context of %s: %s", self.entity_id, err)
            return
        renders[context] = render(chat_log)

    async def _provide(
        self, chat_log: conversation.ChatLog, user_input: conversation.ConversationInput
    ) -> None:
        """Let Home Assistant build system text and tools into the chat log."""
        await chat_log.async_provide_llm_data(
            user_input.as_llm_context(DOMAIN),
            self.subentry.data.get(CONF_LLM_HASS_API),
            self.subentry.data.get(CONF_PROMPT),
            user_input.extra_system_prompt,
        )

    async def _take(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> WirePrefix:
        """Tell this turn's prompt apart, after a look at all contexts if this one is new."""
        context = user_input.device_id or contexts.APP
        if not self._prefix.knows(context):
            await self.async_rebase(user_input.language, user_input.device_id)
        prefix = self._prefix.take(context, render(chat_log))
        if prefix.lost or prefix.changed_tools:
            self._save()
        return prefix

    def _lend_tools(self, chat_log: conversation.ChatLog, prefix: WirePrefix) -> None:
        """Give the chat log an answer for each tool that only other devices have."""
        if chat_log.llm_api is None:
            return
        own = {tool.name for tool in chat_log.llm_api.tools}
        missing = [tool["function"] for tool in prefix.tools if tool["function"]["name"] not in own]
        chat_log.llm_api.tools = [*chat_log.llm_api.tools, *map(ElsewhereTool, missing)]

    async def _messages(
        self, chat_log: conversation.ChatLog, replay: Replay, prefix: WirePrefix
    ) -> list[WireMessage]:
        """Return the messages to send, with old rounds left out where they must be."""
        rounds = rounds_of(chat_log.content)
        limit = int(self.subentry.data.get(CONF_MAX_HISTORY, DEFAULT_MAX_HISTORY))
        # The round in progress is not history.
        replay.dropped = max(replay.dropped, rounds_to_drop(len(rounds) - 1, limit))
        while True:
            messages = await async_wire_messages(self.hass, rounds, replay)
            room = self._window() * self._characters_per_token * _WINDOW_SHARE
            left = len(rounds) - replay.dropped
            if left <= 1 or _wire(prefix, messages).length <= room:
                return messages
            replay.dropped += left // 2

    def _window(self) -> int:
        """Return the size of the context window in tokens."""
        return int(self.subentry.data.get(CONF_NUM_CTX, DEFAULT_NUM_CTX))

    def _body(self, prefix: WirePrefix, messages: list[WireMessage]) -> dict[str, Any]:
        """Return the body of a request; its keys and bytes are the same for everybody."""
        keep_alive = int(self.subentry.data.get(CONF_KEEP_ALIVE, DEFAULT_KEEP_ALIVE))
        return {
            "model": self.subentry.data[CONF_MODEL],
            "messages": [{"role": "system", "content": prefix.system}, *messages],
            "tools": list(prefix.tools),
            "stream": True,
            "think": bool(self.subentry.data.get(CONF_THINK, False)),
            # As a duration string -1 would be refused.
            "keep_alive": keep_alive if keep_alive == KEEP_ALIVE_FOREVER else f"{keep_alive}s",
            "options": {"num_ctx": self._window()},
        }

    def _note(self, answer: Answer, prefix: WirePrefix, messages: list[WireMessage]) -> Turn:
        """Return the verdict on a turn, and remember what the server has been sent."""
        wire = _wire(prefix, messages)
        last = self._last
        if last is None and self._sent == _digest(wire):
            # Sent before Home Assistant was restarted: the server may well still have it.
            last = Wire(wire.parts[:2])
        turn = judge(answer.counts, wire, last, prefix)
        if turn.prompt_tokens:
            self._characters_per_token = wire.length / turn.prompt_tokens
        self._last = wire
        if self._sent != _digest(wire):
            self._sent = _digest(wire)
            self._save()
        return turn

    def _save(self) -> None:
        """Have the prefix written to disk soon."""
        self._store.async_save(self.subentry.subentry_id, self._prefix, self._sent)


def _wire(prefix: WirePrefix, messages: Iterable[WireMessage]) -> Wire:
    """Return the text of a turn for comparing it with the last one."""
    return Wire(
        (
            prefix.system,
            json.dumps(prefix.tools),
            *(json.dumps({**m, "images": len(m.get("images", ()))}) for m in messages),
        )
    )


def _digest(wire: Wire) -> str:
    """Return a short name for the prefix of a turn."""
    return hashlib.sha256("\0".join(wire.parts[:2]).encode()).hexdigest()
