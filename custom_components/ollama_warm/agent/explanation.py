"""How an agent's prompt looks now, and which pieces of it are sent where."""

from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from homeassistant.components import conversation
from homeassistant.exceptions import HomeAssistantError
from homeassistant.util import dt as dt_util

from ..const import DOMAIN, WARM_UP_PREFIX
from ..prefix import segments
from ..prefix.layout import PrefixLayout
from . import contexts
from .agent import Agent


class Mark(StrEnum):
    """Where a piece of the prompt is sent."""

    STABLE = "stable"
    """In front, the same for everyone."""
    MOVING = "moving"
    """With the question, as it is known to change."""
    TAIL = "tail"
    """With the question, as it is new, or not the same for every device and person."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Segments of the prompt that follow each other and are sent to the same place."""

    mark: Mark
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The prompt in one context, and the names of the tools there."""

    pieces: list[Piece]
    tools: list[str]
    moving_tokens: int
    """About how many tokens of it are known to move, an estimate from their length."""

    @property
    def moving(self) -> list[str]:
        """Return the lines that are known to move, as they are now."""
        return [piece.text for piece in self.pieces if piece.mark is Mark.MOVING]


async def async_explain(agent: Agent, context: str) -> Explanation:
    """Have Home Assistant build the prompt for a context, and mark it; nothing is learned of it.

    Raises HomeAssistantError when no prompt can be built.
    """
    look = contexts.look(context, agent.entity_id, agent.hass.config.language)
    chat_log = conversation.ChatLog(agent.hass, WARM_UP_PREFIX)
    try:
        await agent.prompts.admission.async_provide(chat_log, look, agent.options.prompt)
    except conversation.ConverseError as err:
        raise no_prompt(agent, err) from err
    first = chat_log.content[0]
    system = first.content if isinstance(first, conversation.SystemContent) else ""
    tools = sorted(tool.name for tool in chat_log.llm_api.tools) if chat_log.llm_api else []
    pieces = marked(agent.prompts.prefix.layout, system, dt_util.utcnow().timestamp())
    moving = sum(len(piece.text) + 1 for piece in pieces if piece.mark is Mark.MOVING)
    return Explanation(pieces, tools, agent.tokens(moving))


def no_prompt(agent: Agent, err: conversation.ConverseError) -> HomeAssistantError:
    """Return the error that says that Home Assistant cannot build an agent's prompt."""
    return HomeAssistantError(
        translation_domain=DOMAIN,
        translation_key="prompt_cannot_be_built",
        translation_placeholders={"entity_id": agent.entity_id, "message": str(err)},
    )


def marked(layout: PrefixLayout, system: str, now: float = 0.0) -> list[Piece]:
    """Return the pieces of a system text, in its own order, with their marks.

    `now` is the time in seconds, as the layout was given it.
    """
    found = segments.split(system)
    # What a rebase would leave out of this very text is what is known to move.
    resting = deepcopy(layout)
    resting.rebase([found], now)
    at_rest = set(segments.places(resting.stable, found) or ())
    # An agent that was never asked takes its stable part with the first question.
    stable = deepcopy(layout).split(found, now).stable if layout.stable else resting.stable
    in_front = set(segments.places(stable, found) or ())

    def mark(index: int) -> Mark:
        if index in in_front:
            return Mark.STABLE
        return Mark.TAIL if index in at_rest else Mark.MOVING

    return [
        Piece(of_pieces, segments.join(found[index] for index in indexes))
        for of_pieces, indexes in groupby(range(len(found)), mark)
    ]
