"""The conversation platform: wiring between Home Assistant and an agent."""

from typing import Literal, override

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_LLM_HASS_API, MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.chat_session import current_session
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .agent.replies import async_add_turns, async_error_reply, empty_reply
from .const import DOMAIN, WARM_UP_PREFIX
from .coordinator import OllamaWarmConfigEntry, OllamaWarmCoordinator
from .entity import AgentEntity

# Turns of different conversations may run at once; the model server queues them.
PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001 - the platform's signature
    entry: OllamaWarmConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up one conversation entity for each agent."""
    for subentry in entry.runtime_data.subentries:
        async_add_entities(
            [OllamaWarmConversation(entry.runtime_data, subentry)],
            config_subentry_id=subentry.subentry_id,
        )


class OllamaWarmConversation(AgentEntity, conversation.ConversationEntity):
    """An agent that people talk to."""

    _attr_name = None
    _attr_translation_key = "conversation"
    _attr_supports_streaming = True

    def __init__(self, coordinator: OllamaWarmCoordinator, subentry: ConfigSubentry) -> None:
        super().__init__(coordinator, subentry)
        self._attr_unique_id = subentry.subentry_id
        if subentry.data.get(CONF_LLM_HASS_API):
            self._attr_supported_features = conversation.ConversationEntityFeature.CONTROL

    @override
    async def async_added_to_hass(self) -> None:
        """Give the agent its name in Home Assistant."""
        await super().async_added_to_hass()
        self.agent.entity_id = self.entity_id

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return that the model decides."""
        return MATCH_ALL

    @override
    async def async_prepare(self, language: str | None = None) -> None:
        """Read the prefix while the person who has said the wake word still talks."""
        warmth, hass = self.coordinator.warmth, self.hass
        self.coordinator.config_entry.async_create_background_task(
            hass,
            warmth.async_wake(self.subentry.subentry_id, language or hass.config.language),
            f"{DOMAIN} wake word",
        )

    @override
    async def async_process(
        self, user_input: conversation.ConversationInput
    ) -> conversation.ConversationResult:
        """Answer a person, or warm up without a chat session to remember it."""
        if not (user_input.conversation_id or "").startswith(WARM_UP_PREFIX):
            return await super().async_process(user_input)
        session = current_session.get()
        if session and session.conversation_id == user_input.conversation_id:
            return await async_error_reply(
                self.hass, user_input, _not_here(), user_input.conversation_id
            )
        try:
            warmth = self.coordinator.warmth
            turns = await warmth.async_ask(self.subentry.subentry_id, user_input)
        except conversation.ConverseError as err:
            return err.as_conversation_result()
        except HomeAssistantError as err:
            return await async_error_reply(self.hass, user_input, err, user_input.conversation_id)
        return await async_add_turns(self.hass, user_input, empty_reply(user_input), turns)

    @override
    async def _async_handle_message(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> conversation.ConversationResult:
        """Answer a person."""
        try:
            turns = await self.agent.async_converse(user_input, chat_log)
        except conversation.ConverseError as err:
            return err.as_conversation_result()
        except HomeAssistantError as err:
            return await async_error_reply(self.hass, user_input, err, chat_log.conversation_id)
        result = conversation.async_get_result_from_chat_log(user_input, chat_log)
        return await async_add_turns(self.hass, user_input, result, turns)


def _not_here() -> HomeAssistantError:
    """Return the error of a warm-up that comes through a voice assistant's pipeline.

    A pipeline opens a session, and lets Home Assistant's own agent and sentence triggers have
    the words before any agent, so what is asked in it is never a warm-up.
    """
    return HomeAssistantError(translation_domain=DOMAIN, translation_key="no_warm_up_in_pipeline")
