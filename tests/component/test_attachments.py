"""Pictures that are attached to a question."""

import base64
from pathlib import Path

import pytest

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers.chat_session import async_get_chat_session

from .support.house import House, speech
from .support.server import Ollama


async def test_a_picture(house: House, agent: ConfigEntry, ollama: Ollama, tmp_path: Path) -> None:
    """A picture is sent with the question that it belongs to."""
    picture = tmp_path / "door.png"
    picture.write_bytes(b"\x89PNG")
    await ask_with(house, conversation.Attachment("media", "image/png", picture))
    assert ollama.messages[-1]["images"] == [base64.b64encode(b"\x89PNG").decode()]


@pytest.mark.parametrize(
    ("mime_type", "words"),
    [
        ("application/pdf", "The model can only look at images. Please attach nothing else."),
        ("image/png", "The image cannot be read. Please attach it again."),
    ],
)
async def test_what_is_no_picture(
    house: House, agent: ConfigEntry, ollama: Ollama, mime_type: str, words: str
) -> None:
    """Anything else, or one that is gone, is refused in words before the model is asked."""
    result = await ask_with(house, conversation.Attachment("media", mime_type, Path("gone")))
    assert speech(result) == words
    assert not ollama.records
    await house.ask("hello")
    assert "images" not in ollama.messages[-1]


async def ask_with(
    house: House, attachment: conversation.Attachment
) -> conversation.ConversationResult:
    """Ask a question with something attached, as the tasks of Home Assistant do."""
    with (
        async_get_chat_session(house.hass, "talk") as session,
        conversation.async_get_chat_log(house.hass, session) as log,
    ):
        log.async_add_user_content(conversation.UserContent("Look", attachments=[attachment]))
        return await house.ask("Look", conversation_id="talk")
