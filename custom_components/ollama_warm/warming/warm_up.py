"""A warm-up: the prefix is read into the server's cache, and a new question confirms it.

The body is that of a real turn but for one token of an answer that no one hears: no tool is
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
from ..ollama.ways import Way
from ..turns.turn_log import Cause
from ..turns.turns import Turn, Verdict


class WarmUp:
    """Warms one agent.

    Each request takes its prompt only when it is let through: while it waited, people may have
    spoken, and what they said may have changed the prefix, or something may have been hidden.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    async def async_ask(self, user_input: conversation.ConversationInput) -> list[Turn]:
        """Ask one question from outside, whose asker confirms by counts."""
        turnstile = self.agent.server.turnstile
        with self._noting_failure():
            async with turnstile.warm_up(self.agent):
                return await turnstile.request(lambda: self._asked(user_input))

    async def async_warm(self, language: str) -> Turn:
        """Warm the prefix, and return the turn that confirms it, or that shows it is not warm."""
        agent, user_input = self.agent, self._no_one_asks(language)
        turnstile = agent.server.turnstile
        with self._noting_failure():
            async with turnstile.warm_up(agent):
                await turnstile.request(lambda: agent.async_rebase(user_input))
                tries = 0
                while True:
                    turn = await turnstile.request(lambda: self._tried(user_input))
                    tries += 1
                    if turn.verdict in (Verdict.WARM, Verdict.UNKNOWN) or tries >= self._tries:
                        break
                # The question may have driven the checkpoint out.
                await turnstile.request(lambda: agent.async_plant(user_input, again=True))
        return turn

    async def async_wake(self, language: str) -> None:
        """Read the prefix once, while the person who said the wake word still talks."""
        turnstile = self.agent.server.turnstile
        with self._noting_failure():
            async with turnstile.warm_up(self.agent):
                await turnstile.request(lambda: self._woken(self._no_one_asks(language)))

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Have it logged if a warm-up reaches no result."""
        try:
            yield
        except HomeAssistantError:
            self.agent.note_failure(Cause.WARM_UP)
            raise

    async def _asked(self, user_input: conversation.ConversationInput) -> list[Turn]:
        """Look at all contexts, then ask; where checkpoints are needed, plant before and after."""
        await self.agent.async_rebase(user_input)
        turns = await self.agent.async_plant(user_input)
        turns.append(await self.agent.async_ask_once(user_input, user_input.text))
        return turns + await self.agent.async_plant(user_input, again=True)

    async def _tried(self, user_input: conversation.ConversationInput) -> Turn:
        """Ask a question that the server has not seen, after planting where that is needed."""
        await self.agent.async_plant(user_input)
        return await self.agent.async_ask_once(user_input, _words())

    async def _woken(self, user_input: conversation.ConversationInput) -> None:
        """Read the prefix in the way that is best here, without confirmation."""
        if not await self.agent.async_plant(user_input, again=True):
            await self.agent.async_ask_once(user_input, _words())

    @property
    def _tries(self) -> int:
        """Return how often a question may fail to confirm a warm-up."""
        return 3 if self.agent.planter.known_way is Way.TWO_QUESTIONS else 2

    def _no_one_asks(self, language: str) -> conversation.ConversationInput:
        """Return an input that no one spoke, in the app."""
        return contexts.look(contexts.APP, self.agent.entity_id, language)


def _words() -> str:
    """Return a question that the server has not seen."""
    return f"{random.randrange(100, 1000)} + {random.randrange(100, 1000)} = ?"  # noqa: S311
