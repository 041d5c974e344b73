"""Whose rights an agent's prompt is looked at with where no one asks.

Some APIs answer administrators only: Home Assistant's own from 2026.11 on (`requires_admin` in
homeassistant/helpers/llm.py), and others that refuse by themselves. What is seen with a person's
rights is that person's own, and never given to others.
"""

from dataclasses import dataclass, field, replace
from typing import override

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent, llm

from ..const import DOMAIN, LOGGER


class ApiRefusedError(HomeAssistantError):
    """What an agent may use in Home Assistant is not to be had, not even for an administrator."""

    def __init__(self, entity_id: str) -> None:
        super().__init__(
            translation_domain=DOMAIN,
            translation_key="api_refused",
            translation_placeholders={"entity_id": entity_id},
        )


@dataclass(slots=True, kw_only=True)
class _ChosenApis(llm.API):
    """The APIs of an agent as one. Home Assistant logs no error for what such a one raises."""

    chosen: list[str] = field(default_factory=list)

    @property
    def are_there(self) -> bool:
        """Return whether Home Assistant has all of them."""
        return {api.id for api in llm.async_get_apis(self.hass)}.issuperset(self.chosen)

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return them merged, as Home Assistant does for the names. Raises HomeAssistantError."""
        return await llm.async_get_api(self.hass, self.chosen, llm_context)


async def async_administrators(hass: HomeAssistant) -> list[str]:
    """Return the ids of all people who are administrators, the owner's first."""
    users = [
        user
        for user in await hass.auth.async_get_users()
        if user.is_active and user.is_admin and not user.system_generated
    ]
    return [user.id for user in sorted(users, key=lambda user: not user.is_owner)]


class Admission:
    """Has the prompt of one agent built where no one asks, with the rights that it takes."""

    def __init__(self, hass: HomeAssistant, apis: list[str] | None) -> None:
        """Take what the agent may use; nothing is asked of it yet."""
        self.user_id: str | None = None
        """Whose rights it takes, None where it is no one's."""
        self.refused: bool | None = None
        """Whether it was refused to everyone when that was last tried, None before."""
        self._hass = hass
        self._apis = _ChosenApis(hass=hass, id=DOMAIN, name=DOMAIN, chosen=apis) if apis else None

    async def async_provide(
        self,
        chat_log: conversation.ChatLog,
        user_input: conversation.ConversationInput,
        prompt: str | None,
    ) -> None:
        """Have system text and tools built into a chat log.

        Raises ConverseError when the text cannot be built or an API is not there,
        ApiRefusedError when no one's rights are enough for the tools.
        """
        asked = user_input.as_llm_context(DOMAIN)
        own = user_input.context.user_id
        tried: set[str | None] = set()
        for user_id in (own or self.user_id, self.user_id, *await async_administrators(self._hass)):
            if user_id in tried or (tried and user_id is None):
                continue
            tried.add(user_id)
            mine = asked if user_id == own else replace(asked, context=Context(user_id=user_id))
            try:
                await chat_log.async_provide_llm_data(
                    mine, self._apis, prompt, user_input.extra_system_prompt
                )
            except conversation.ConverseError:
                raise
            except HomeAssistantError as err:
                LOGGER.debug("An API of %s refuses: %r", user_input.agent_id, err)
                continue
            self.refused = False
            if user_id != own:
                self.user_id = user_id
            return
        self.refused = True
        if self._apis and not self._apis.are_there:
            raise _not_there(self._apis.chosen, user_input.language, chat_log.conversation_id)
        raise ApiRefusedError(user_input.agent_id)


def _not_there(
    chosen: list[str], language: str, conversation_id: str
) -> conversation.ConverseError:
    """Return the error of Home Assistant's for APIs that it does not have."""
    response = intent.IntentResponse(language=language)
    response.async_set_error(intent.IntentResponseErrorCode.UNKNOWN, "Error preparing LLM API")
    return conversation.ConverseError(f"Error getting LLM API {chosen}", conversation_id, response)
