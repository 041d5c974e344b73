"""Home Assistant's chat log as the messages that Ollama is sent."""

import base64
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.json import json_dumps

from .const import DOMAIN
from .options import WireMessage
from .prefix.layout import with_tail

_REMEMBERED_CONVERSATIONS = 64


@dataclass(slots=True)
class Replay:
    """What one conversation needs to be replayed as it was sent."""

    tails: dict[int, str] = field(default_factory=dict)
    """Which round of the conversation (0, 1, ...) was asked with which tail."""
    dropped: int = 0
    """How many rounds have been left out so far. Never shrinks, or the prefix would move."""
    named: frozenset[str] = frozenset()
    """The devices and tools that the model was told of with the last question."""

    def begin(self, number: int, tail: str, named: frozenset[str] = frozenset()) -> None:
        """Note what goes with a new user message.

        Whatever is known of it or of later ones belongs to a question that failed, or to a
        conversation that is over and whose id was used again. Once something has been
        un-exposed, earlier rounds are left out: an answer or a tool's result may name it.
        """
        if self.named - named:
            self.dropped = max(self.dropped, number)
        self.named = named
        self.tails = {known: text for known, text in self.tails.items() if known < number}
        self.tails[number] = tail
        self.dropped = min(self.dropped, number)


class Replays:
    """The conversations of an agent, remembered by id and position, never by their words."""

    def __init__(self) -> None:
        """Start with none."""
        self._replays: OrderedDict[str, Replay] = OrderedDict()

    def of(self, conversation_id: str) -> Replay:
        """Return what is known of a conversation."""
        replay = self._replays.setdefault(conversation_id, Replay())
        self._replays.move_to_end(conversation_id)
        if len(self._replays) > _REMEMBERED_CONVERSATIONS:
            self._replays.popitem(last=False)
        return replay


def rounds_of(content: Iterable[conversation.Content]) -> list[list[conversation.Content]]:
    """Return the rounds of a chat log: each a question with all its calls and answers.

    What stands before the first question, such as an announcement, belongs to its round.
    """
    rounds: list[list[conversation.Content]] = []
    asked = True
    for item in content:
        if isinstance(item, conversation.SystemContent):
            continue
        is_question = isinstance(item, conversation.UserContent)
        if not rounds or (is_question and asked):
            rounds.append([])
            asked = False
        asked = asked or is_question
        rounds[-1].append(item)
    return rounds


def rounds_to_drop(count: int, limit: int) -> int:
    """Return how many of `count` rounds are left out when `limit` may be kept, 0 = all.

    Past the limit half of it goes at once, so the prefix moves once in many questions.
    """
    if limit < 1 or count <= limit:
        return 0
    block = max(1, limit // 2)
    return -(-(count - limit) // block) * block


async def async_wire_messages(
    hass: HomeAssistant,
    rounds: Sequence[Sequence[conversation.Content]],
    replay: Replay,
) -> list[WireMessage]:
    """Return the messages of the rounds that are kept, each user message with its tail.

    Raises HomeAssistantError for an attachment that is not an image, or cannot be read.
    """
    messages: list[WireMessage] = []
    shown: str | None = None
    for number, kept in enumerate(rounds[replay.dropped :], replay.dropped):
        for item in kept:
            if isinstance(item, conversation.UserContent):
                tail = replay.tails.get(number, "")
                # A tail that the model has just read is not repeated.
                text = with_tail("" if tail == shown else tail, item.content)
                shown = tail or shown
                messages.append(await _user_message(hass, item, text))
            elif isinstance(item, conversation.AssistantContent):
                messages.append(_assistant_message(item))
            elif isinstance(item, conversation.ToolResultContent):
                messages.append(tool_message(item))
    return messages


async def _user_message(
    hass: HomeAssistant, item: conversation.UserContent, text: str
) -> WireMessage:
    """Return a person's message, its images read and encoded."""
    message: WireMessage = {"role": "user", "content": text}
    if not item.attachments:
        return message
    for attachment in item.attachments:
        if not attachment.mime_type.startswith("image/"):
            raise HomeAssistantError(
                translation_domain=DOMAIN, translation_key="unsupported_attachment"
            )
    paths = [attachment.path for attachment in item.attachments]
    try:
        message["images"] = await hass.async_add_executor_job(_read_images, paths)
    except OSError as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN, translation_key="unreadable_attachment"
        ) from err
    return message


def _read_images(paths: Iterable[Path]) -> list[str]:
    """Return the contents of these files as Ollama wants images."""
    return [base64.b64encode(path.read_bytes()).decode() for path in paths]


def _assistant_message(item: conversation.AssistantContent) -> WireMessage:
    """Return an answer, or the tool calls that the model made instead."""
    message: WireMessage = {"role": "assistant", "content": item.content or ""}
    if item.thinking_content:
        message["thinking"] = item.thinking_content
    if item.tool_calls:
        message["tool_calls"] = [
            {"function": {"name": call.tool_name, "arguments": call.tool_args}}
            for call in item.tool_calls
        ]
    return message


def tool_message(item: conversation.ToolResultContent) -> WireMessage:
    """Return what a tool answered."""
    data = {"error": item.result.data} if item.result.error else item.result.data
    return {"role": "tool", "tool_name": item.tool_name, "content": json_dumps(data)}
