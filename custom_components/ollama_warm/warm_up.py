"""A warm-up: the prefix is read into the server's cache, and a new question confirms it.

The body is that of a real turn but for one token of an answer that nobody hears: no tool is
run, nothing enters a chat session. Everything here raises OllamaError, or ConverseError when
Home Assistant cannot build a prompt.
"""

import random

from homeassistant.components import conversation
from homeassistant.exceptions import HomeAssistantError

from . import contexts
from .agent import Agent
from .const import DOMAIN, WARM_UP_PREFIX
from .options import WireMessage
from .ping import Way, async_choose, async_raw_prompt
from .prefix.agent_prefix import WirePrefix
from .store import PrefixStore
from .turn_log import Occasion
from .turns import Turn, Verdict

# 0 would be left out on Ollama's rendered path, and the model would talk on and on.
_ONE_TOKEN = {"num_predict": 1}
_TRIES = {Way.CHAT: 2, Way.RAW: 2, Way.TWO_QUESTIONS: 3}


class WarmUp:
    """Warms one agent."""

    def __init__(self, agent: Agent, store: PrefixStore) -> None:
        """Take the agent; nothing is sent yet."""
        self.agent = agent
        self._store = store
        self._planted: tuple[object, ...] | None = None

    async def async_ask(self, user_input: conversation.ConversationInput) -> list[Turn]:
        """Ask one question of somebody outside, who confirms for themselves."""
        async with self.agent.server.turnstile.warm_up(self.agent):
            prefix = await self._look(user_input)
            way = await self._way(prefix)
            turns = []
            if way is Way.RAW and not self._is_planted(prefix):
                turns.append(await self._plant(prefix))
            turns.append(await self._ping(prefix, user_input.text))
            if way is Way.RAW:
                # A conversation may have driven the checkpoint out.
                turns.append(await self._plant(prefix))
        return turns

    async def async_warm(self, language: str) -> Turn:
        """Warm the prefix, and return the turn that confirms it, or that shows it is not warm."""
        async with self.agent.server.turnstile.warm_up(self.agent):
            prefix = await self._look(self._input(language))
            way = await self._way(prefix)
            for _ in range(_TRIES[way]):
                if way is Way.RAW and not self._is_planted(prefix):
                    await self._plant(prefix)
                turn = await self._ping(prefix, _words())
                if turn.verdict in (Verdict.WARM, Verdict.UNKNOWN):
                    break
            if way is Way.RAW:
                await self._plant(prefix)
        return turn

    async def async_wake(self, language: str) -> None:
        """Read the prefix once, while somebody who said the wake word still talks."""
        async with self.agent.server.turnstile.warm_up(self.agent):
            user_input = self._input(language)
            chat_log = conversation.ChatLog(self.agent.hass, WARM_UP_PREFIX)
            prefix = await self.agent.prompts.async_take(user_input, chat_log)
            if await self._way(prefix) is Way.RAW:
                await self._plant(prefix)
            else:
                await self._ping(prefix, _words())

    def _input(self, language: str) -> conversation.ConversationInput:
        """Return what nobody said in the app."""
        return contexts.look(contexts.APP, self.agent.entity_id, language)

    async def _look(self, user_input: conversation.ConversationInput) -> WirePrefix:
        """Take a new stable prefix from all contexts, and tell this one's prompt apart."""
        await self.agent.prompts.async_rebase(user_input)
        chat_log = conversation.ChatLog(self.agent.hass, WARM_UP_PREFIX)
        return await self.agent.prompts.async_take(user_input, chat_log)

    async def _way(self, prefix: WirePrefix) -> Way:
        """Return the way for this server and model; chosen anew when the version changes."""
        server, model = self.agent.server, self.agent.options.model
        chosen = self._store.way(model)
        if chosen is None or chosen.version != server.state.version:
            body = self.agent.options.body(prefix, [])
            chosen = await server.turnstile.request(
                lambda: async_choose(server.client, body, server.state.version)
            )
            self._store.async_save_way(model, chosen)
        return chosen.way

    async def _ping(self, prefix: WirePrefix, words: str) -> Turn:
        """Ask a question in a conversation of its own, for one token."""
        text = f"{prefix.tail}\n\n{words}" if prefix.tail else words
        messages: list[WireMessage] = [{"role": "user", "content": text}]
        body = self.agent.options.body(prefix, messages)
        body["options"] |= _ONE_TOKEN
        server = self.agent.server
        counts = await server.turnstile.request(lambda: server.client.chat_counts(body))
        turn = self.agent.note(Occasion.WARM_UP, counts, prefix, messages)
        if turn.verdict is Verdict.SERVER_LOST_IT:
            self._planted = None
        return turn

    async def _plant(self, prefix: WirePrefix) -> Turn:
        """Have the bare prefix read, so that a checkpoint lies at its end."""
        server, options = self.agent.server, self.agent.options
        body = options.body(prefix, [])
        prompt = await server.turnstile.request(lambda: async_raw_prompt(server.client, body))
        if prompt is None:
            self._store.async_forget_way(options.model)
            raise HomeAssistantError(translation_domain=DOMAIN, translation_key="not_rendered")
        raw = {**options.runner(), "prompt": prompt}
        raw["options"] |= _ONE_TOKEN
        counts = await server.turnstile.request(lambda: server.client.read(raw))
        self._planted = (prefix.system, prefix.tools)
        return self.agent.note(Occasion.WARM_UP, counts, prefix)

    def _is_planted(self, prefix: WirePrefix) -> bool:
        """Return whether this very prefix was planted, and the server has not lost it since."""
        return self._planted == (prefix.system, prefix.tools)


def _words() -> str:
    """Return a question that the server has not seen."""
    return f"{random.randrange(100, 1000)} + {random.randrange(100, 1000)} = ?"  # noqa: S311
