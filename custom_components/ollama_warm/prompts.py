"""From the prompt that Home Assistant builds to the prefix that is sent."""

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant

from . import contexts
from .const import DOMAIN, LOGGER, WARM_UP_PREFIX
from .options import AgentOptions
from .prefix.agent_prefix import AgentPrefix, Render, WirePrefix
from .wire import ElsewhereTool, ToolForms


class Prompts:
    """The prompts of one agent: lets Home Assistant build them, and tells them apart."""

    def __init__(self, hass: HomeAssistant, options: AgentOptions, prefix: AgentPrefix) -> None:
        """Go on with a prefix as it was stored."""
        self.prefix = prefix
        self._hass = hass
        self._options = options
        self._forms = ToolForms()

    async def async_take(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> WirePrefix:
        """Have the prompt of a turn built into its chat log, and return how it is sent.

        Raises ConverseError when no prompt can be built.
        """
        # Home Assistant 2026.11 freezes the prompt of a conversation. It is built anew here,
        # as somebody may have un-exposed something in between; the wire stays stable anyway.
        chat_log.llm_api = None
        await self._provide(chat_log, user_input)
        context = user_input.device_id or contexts.APP
        if not self.prefix.knows(context):
            await self.async_rebase(user_input)
        return self.prefix.take(context, self._forms.render(chat_log))

    async def async_rebase(self, user_input: conversation.ConversationInput) -> None:
        """Take a new stable prefix from how every context looks now."""
        spoke = {*self.prefix.contexts(), user_input.device_id or contexts.APP}
        looks = contexts.async_contexts(self._hass, spoke)
        if person := await self._hass.auth.async_get_owner():
            # To see what the instructions say to somebody with a name.
            looks.append(contexts.person_context(person.id))
        renders: dict[str, Render] = {}
        for context in looks:
            chat_log = conversation.ChatLog(self._hass, WARM_UP_PREFIX)
            look = contexts.look(context, user_input.agent_id, user_input.language)
            try:
                await self._provide(chat_log, look)
            except conversation.ConverseError as err:
                LOGGER.debug("No prompt for one context of %s: %s", user_input.agent_id, err)
            else:
                renders[context] = self._forms.render(chat_log)
        if renders and self.prefix.rebase(renders):
            LOGGER.debug("%s has a new stable prefix", user_input.agent_id)

    async def _provide(
        self, chat_log: conversation.ChatLog, user_input: conversation.ConversationInput
    ) -> None:
        """Let Home Assistant build system text and tools into a chat log."""
        await chat_log.async_provide_llm_data(
            user_input.as_llm_context(DOMAIN),
            self._options.apis,
            self._options.prompt,
            user_input.extra_system_prompt,
        )


def lend_tools(chat_log: conversation.ChatLog, prefix: WirePrefix) -> None:
    """Give a chat log an answer for each tool that only other devices have."""
    if chat_log.llm_api is None:
        return
    own = {tool.name for tool in chat_log.llm_api.tools}
    missing = [tool["function"] for tool in prefix.tools if tool["function"]["name"] not in own]
    chat_log.llm_api.tools = [*chat_log.llm_api.tools, *map(ElsewhereTool, missing)]
