"""Home Assistant's chat log as the messages that Ollama is sent."""

import base64
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.json import json_dumps

from ..const import DOMAIN
from ..prefix.layout import tail_without, with_tail
from .names import Unsaid, fold, names_in, texts_in
from .options import WireMessage

_REMEMBERED_CONVERSATIONS = 64
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Replay:
    """What one conversation needs to be replayed as it was sent."""

    tails: dict[int, str] = field(default_factory=dict)
    """Which round of the conversation (0, 1, ...) was asked with which tail."""
    dropped: int = 0
    """How many rounds have been left out so far. Never shrinks, or the prefix would move."""
    unsaid: set[int] = field(default_factory=set)
    """Which rounds are left out for what they name. For good, as each change moves the prefix."""

    def begin(self, number: int, tail: str) -> None:
        """Note what goes with a new user message.

        Whatever is known of it or of later ones belongs to a question that failed, or to a
        conversation that is over and whose id was used again.
        """
        self.tails = {known: text for known, text in self.tails.items() if known < number}
        self.tails[number] = tail
        self.dropped = min(self.dropped, number)
        self.unsaid = {known for known in self.unsaid if known < number}

    def leave_out(
        self, rounds: Sequence[Sequence[conversation.Content]], unsaid: Unsaid, prompt: str
    ) -> None:
        """Leave out the rounds before the newest that name what may no longer be named.

        A word that the prompt still says by itself, such as a room or a kind of device, gives
        nothing away, unless it stands where a call or a result names a device or a tool. Of a
        tail only the pieces go that name one.
        """
        if not unsaid:
            return
        still_said = ""
        newest = rounds[-1][0].created
        for number, items in enumerate(rounds[:-1]):
            # Where the clock was put back, what has gone may have gone since.
            since = created if (created := items[0].created) <= newest else _LONG_AGO
            is_named = partial(unsaid.in_text, since=since)
            tail = self.tails.get(number, "")
            if not any(map(is_named, (*_texts_of(items), tail))):
                continue
            # A prompt is long, and seldom asked for.
            still_said = still_said or fold(prompt)
            is_unsaid = partial(is_named, said=still_said)
            if any(map(is_unsaid, _texts_of(items))) or any(map(is_named, _names_in(items))):
                self.unsaid.add(number)
            elif is_unsaid(tail):
                self.tails[number] = tail_without(tail, is_unsaid)


class Replays:
    """The conversations of an agent, remembered by id and position, never by their words."""

    def __init__(self) -> None:
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
    unsaid: Unsaid,
) -> list[WireMessage]:
    """Return the messages of the rounds that are kept, each user message with its tail.

    The newest round is always kept, as it is the question. What a tool answered in the meantime is
    withheld where it names something that has gone since, unless the person named it.
    Raises HomeAssistantError for an attachment that is not an image, or cannot be read.
    """
    messages: list[WireMessage] = []
    shown: str | None = None
    for number, kept in enumerate(rounds[replay.dropped :], replay.dropped):
        if number in replay.unsaid:
            continue
        is_newest = number == len(rounds) - 1
        withheld = _withholding(kept, unsaid) if is_newest and unsaid else _unchanged
        for item in kept:
            if isinstance(item, conversation.UserContent):
                tail = replay.tails.get(number, "")
                # A tail that the model has just read is not repeated.
                text = with_tail("" if tail == shown else tail, item.content)
                shown = tail or shown
                messages.append(await _user_message(hass, item, text))
            elif isinstance(item, conversation.AssistantContent):
                messages.append(_assistant_message(item, withheld))
            elif isinstance(item, conversation.ToolResultContent):
                messages.append(_tool_message(item, withheld))
    return messages


def _withholding(items: Sequence[conversation.Content], unsaid: Unsaid) -> Callable[[Any], Any]:
    """Return what withholds from a JSON value that which has gone since a question was asked."""
    said = (item.content for item in items if isinstance(item, conversation.UserContent))
    return partial(unsaid.withheld, since=items[0].created, said=fold("\n".join(said)))


def _unchanged(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value as it is."""
    return value


def _texts_of(items: Iterable[conversation.Content]) -> Iterator[str]:
    """Yield all that a round says: words, thoughts, calls and what tools answered."""
    for item in items:
        if isinstance(item, conversation.ToolResultContent):
            yield item.tool_name
            yield from texts_in(item.result.data)
            continue
        yield item.content or ""
        if isinstance(item, conversation.AssistantContent):
            yield item.thinking_content or ""
            for call in item.tool_calls or ():
                yield call.tool_name
                yield from texts_in(call.tool_args)


def _names_in(items: Iterable[conversation.Content]) -> Iterator[str]:
    """Yield what calls and results of a round say where devices and tools are named."""
    for item in items:
        if isinstance(item, conversation.ToolResultContent):
            yield item.tool_name
            yield from names_in(item.result.data)
        elif isinstance(item, conversation.AssistantContent):
            for call in item.tool_calls or ():
                yield call.tool_name
                yield from names_in(call.tool_args)


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


def _assistant_message(
    item: conversation.AssistantContent, withheld: Callable[[Any], Any]
) -> WireMessage:
    """Return an answer, or the tool calls that the model made instead."""
    message: WireMessage = {"role": "assistant", "content": withheld(item.content or "")}
    if item.thinking_content:
        message["thinking"] = withheld(item.thinking_content)
    if item.tool_calls:
        message["tool_calls"] = [
            {
                "function": {
                    "name": withheld(call.tool_name),
                    "arguments": {key: withheld(value) for key, value in call.tool_args.items()},
                }
            }
            for call in item.tool_calls
        ]
    return message


def _tool_message(
    item: conversation.ToolResultContent, withheld: Callable[[Any], Any]
) -> WireMessage:
    """Return what a tool answered."""
    result = withheld(item.result.data)
    data = {"error": result} if item.result.error else result
    return {"role": "tool", "tool_name": withheld(item.tool_name), "content": json_dumps(data)}
