"""Replies of an agent: with the counts of its turns, or with what went wrong, in words."""

from collections.abc import Sequence

from homeassistant.components.conversation import ConversationInput, ConversationResult
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent
from homeassistant.helpers.translation import async_get_translations

from ..const import CONTRACT_VERSION, DOMAIN
from ..turns.shown import async_may_read_prompt, turn_as_dict
from ..turns.turns import Turn


async def async_add_turns(
    hass: HomeAssistant,
    user_input: ConversationInput,
    result: ConversationResult,
    turns: Sequence[Turn],
) -> ConversationResult:
    """Add what the turns cost to a reply, as the contract with the warmer has it."""
    speech = result.response.speech.get("plain", {}).get("speech", "")
    quote = await async_may_read_prompt(hass, user_input.context)
    as_dicts = [turn_as_dict(turn, quote=quote) for turn in turns]
    data = {DOMAIN: {"version": CONTRACT_VERSION, "turns": as_dicts}}
    result.response.async_set_speech(speech, extra_data=data)
    return result


def empty_reply(user_input: ConversationInput) -> ConversationResult:
    """Return the reply to a warm-up: nothing to say."""
    response = intent.IntentResponse(language=user_input.language)
    return ConversationResult(response=response, conversation_id=user_input.conversation_id)


async def async_error_reply(
    hass: HomeAssistant,
    user_input: ConversationInput,
    error: HomeAssistantError,
    conversation_id: str | None,
) -> ConversationResult:
    """Return a reply that says in the person's language what went wrong."""
    response = intent.IntentResponse(language=user_input.language)
    response.async_set_error(
        intent.IntentResponseErrorCode.UNKNOWN,
        await _async_sentence(hass, user_input.language, error),
    )
    return ConversationResult(response=response, conversation_id=conversation_id)


async def _async_sentence(hass: HomeAssistant, language: str, error: HomeAssistantError) -> str:
    """Return the message of an error in a language, or in English where it has no other."""
    if error.translation_domain != DOMAIN:
        return str(error)
    # A region's own words are nowhere among ours: "fr-CA" is answered in "fr".
    language = language.partition("-")[0]
    translations = await async_get_translations(hass, language, "exceptions", [DOMAIN])
    key = f"component.{DOMAIN}.exceptions.{error.translation_key}.message"
    if not (sentence := translations.get(key)):
        return str(error)
    return sentence.format(**(error.translation_placeholders or {}))
