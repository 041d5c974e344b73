"""A warm-up: the prefix is read into the server's cache, and a new question confirms it.

The body is that of a real turn but for one token of an answer that nobody hears: no tool is
run, nothing enters a chat session. Everything here raises OllamaError, or ConverseError when
Home Assistant cannot build a prompt.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import random

from homeassistant.components import conversation
from homeassistant.exceptions import HomeAssistantError

from ..agent import contexts
from ..agent.agent import Agent
from ..agent.options import WireMessage
from ..const import WARM_UP_PREFIX
from ..ollama.ways import ONE_TOKEN, Way
from ..prefix.agent_prefix import WirePrefix
from ..prefix.layout import with_tail
from ..turns.turn_log import Occasion
from ..turns.turns import Turn, Verdict

_TRIES = {Way.CHAT: 2, Way.RAW: 2, Way.TWO_QUESTIONS: 3}


class WarmUp:
    """Warms one agent.

    Each request takes its prompt only when it is let through: while it waited, people may have
    spoken, and what they said may have changed the prefix, or something may have been hidden.
    """

    def __init__(self, agent: Agent) -> None:
        """Take the agent; nothing is sent yet."""
        self.agent = agent

    async def async_ask(self, user_input: conversation.ConversationInput) -> list[Turn]:
        """Ask one question of somebody outside, who confirms for themselves."""
        turnstile = self.agent.server.turnstile
        with self._noting_failure():
            async with turnstile.warm_up(self.agent):
                return await turnstile.request(lambda: self._asked(user_input))

    async def async_warm(self, language: str) -> Turn:
        """Warm the prefix, and return the turn that confirms it, or that shows it is not warm."""
        turnstile = self.agent.server.turnstile
        user_input = self._nobody_asks(language)
        with self._noting_failure():
            async with turnstile.warm_up(self.agent):
                await turnstile.request(lambda: self.agent.prompts.async_rebase(user_input))
                way = await turnstile.request(lambda: self._way(user_input))
                for _ in range(_TRIES[way]):
                    turn = await turnstile.request(lambda: self._tried(user_input))
                    if turn.verdict in (Verdict.WARM, Verdict.UNKNOWN):
                        break
                if way is Way.RAW:
                    # The question may have driven the checkpoint out.
                    await turnstile.request(lambda: self._planted_again(user_input))
        return turn

    async def async_wake(self, language: str) -> None:
        """Read the prefix once, while somebody who said the wake word still talks."""
        turnstile = self.agent.server.turnstile
        with self._noting_failure():
            async with turnstile.warm_up(self.agent):
                await turnstile.request(lambda: self._woken(self._nobody_asks(language)))

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Have it logged if a warm-up comes to no result."""
        try:
            yield
        except HomeAssistantError:
            self.agent.note_failure(Occasion.WARM_UP)
            raise

    async def _asked(self, user_input: conversation.ConversationInput) -> list[Turn]:
        """Look at all contexts, then ask; where checkpoints are needed, plant before and after."""
        await self.agent.prompts.async_rebase(user_input)
        prefix = await self._take(user_input)
        turns: list[Turn] = []
        way = await self.agent.planter.async_way(prefix)
        if self.agent.planter.is_wanted(prefix):
            turns += await self._plant(prefix)
            prefix = await self._take(user_input)
        turns.append(await self._ping(prefix, user_input.text))
        if way is Way.RAW:
            turns += await self._plant(await self._take(user_input))
        return turns

    async def _tried(self, user_input: conversation.ConversationInput) -> Turn:
        """Ask a question that the server has not seen, after planting where that is needed."""
        prefix = await self._take(user_input)
        if self.agent.planter.is_wanted(prefix):
            await self._plant(prefix)
            prefix = await self._take(user_input)
        return await self._ping(prefix, _words())

    async def _woken(self, user_input: conversation.ConversationInput) -> None:
        """Read the prefix in the way that is best here, without confirmation."""
        prefix = await self._take(user_input)
        if await self.agent.planter.async_way(prefix) is not Way.RAW:
            await self._ping(prefix, _words())
        else:
            await self._plant(prefix)

    async def _planted_again(self, user_input: conversation.ConversationInput) -> None:
        """Leave the checkpoint once more."""
        await self._plant(await self._take(user_input))

    async def _way(self, user_input: conversation.ConversationInput) -> Way:
        """Return the way for this server and model."""
        return await self.agent.planter.async_way(await self._take(user_input))

    async def _take(self, user_input: conversation.ConversationInput) -> WirePrefix:
        """Return the prefix as it is now."""
        chat_log = conversation.ChatLog(self.agent.hass, WARM_UP_PREFIX)
        return await self.agent.prompts.async_take(user_input, chat_log)

    def _nobody_asks(self, language: str) -> conversation.ConversationInput:
        """Return what nobody said in the app."""
        return contexts.look(contexts.APP, self.agent.entity_id, language)

    async def _plant(self, prefix: WirePrefix) -> list[Turn]:
        """Have the bare prefix read, so that a checkpoint lies at its end."""
        counts = await self.agent.planter.async_plant(prefix)
        return [self.agent.note(Occasion.WARM_UP, counts, prefix)] if counts else []

    async def _ping(self, prefix: WirePrefix, words: str) -> Turn:
        """Ask a question in a conversation of its own, for one token."""
        text = with_tail(prefix.tail, words)
        messages: list[WireMessage] = [{"role": "user", "content": text}]
        body = self.agent.options.body(prefix, messages)
        body["options"] |= ONE_TOKEN
        counts = await self.agent.server.client.chat_counts(body)
        return self.agent.note(Occasion.WARM_UP, counts, prefix, messages)


def _words() -> str:
    """Return a question that the server has not seen."""
    return f"{random.randrange(100, 1000)} + {random.randrange(100, 1000)} = ?"  # noqa: S311
