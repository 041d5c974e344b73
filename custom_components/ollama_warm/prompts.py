"""From the prompt that Home Assistant builds to the prefix that is sent."""

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

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
        render = self._forms.render(chat_log)
        context = contexts.async_context(self._hass, user_input.device_id)
        if context != contexts.APP and not contexts.async_is_satellite(self._hass, context):
            self.prefix.heard(context)
        if not self.prefix.tools.looked:
            await self.async_rebase(user_input)
        if not self.prefix.tools.looked:
            # No context can be looked at without this person.
            self.prefix.rebase({}, [render], _now())
        await self._update(context, user_input, render)
        return self.prefix.take(render, _now())

    async def _update(
        self, context: str, user_input: conversation.ConversationInput, render: Render
    ) -> None:
        """Learn which of the shared tools are gone or changed, from this render or another look.

        What a person is not offered is nobody else's loss, so it is looked for without them.
        """
        tools = self.prefix.tools
        place = context if context in tools.contexts else contexts.APP
        is_of_place = place == context and user_input.context.user_id is None
        if not is_of_place and tools.fits(place, render.tools):
            return
        if not is_of_place:
            render = await self._look(place, user_input) or render
        tools.update(place, render.tools)

    async def async_rebase(self, user_input: conversation.ConversationInput) -> None:
        """Take a new stable prefix from how every context looks now."""
        spoke = self.prefix.spoke
        looks = contexts.async_contexts(self._hass, spoke)
        self.prefix.spoke = [device for device in spoke if device in looks]
        renders = {context: await self._look(context, user_input) for context in looks}
        # To see what the instructions say to somebody with a name.
        owner = await self._hass.auth.async_get_owner()
        of_owner = owner and await self._look(contexts.person_context(owner.id), user_input)
        found = {context: render for context, render in renders.items() if render}
        people = [of_owner] if of_owner else []
        if (found or people) and self.prefix.rebase(found, people, _now()):
            LOGGER.debug("%s has a new stable prefix", user_input.agent_id)

    async def _look(
        self, context: str, user_input: conversation.ConversationInput
    ) -> Render | None:
        """Return what Home Assistant builds in a context, None where it cannot."""
        chat_log = conversation.ChatLog(self._hass, WARM_UP_PREFIX)
        look = contexts.look(context, user_input.agent_id, user_input.language)
        try:
            await self._provide(chat_log, look)
        except conversation.ConverseError as err:
            LOGGER.debug("No prompt for one context of %s: %s", user_input.agent_id, err)
            return None
        return self._forms.render(chat_log)

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


def _now() -> float:
    """Return the time in seconds, as what is learned of a prompt is kept for a while."""
    return dt_util.utcnow().timestamp()


def lend_tools(chat_log: conversation.ChatLog, prefix: WirePrefix) -> None:
    """Give a chat log an answer for each tool that only others have."""
    if chat_log.llm_api is None:
        return
    own = {tool.name for tool in chat_log.llm_api.tools}
    missing = [tool["function"] for tool in prefix.tools if tool["function"]["name"] not in own]
    chat_log.llm_api.tools = [*chat_log.llm_api.tools, *map(ElsewhereTool, missing)]
