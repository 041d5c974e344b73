"""From the prompt that Home Assistant builds to the prefix that is sent."""

import asyncio
from collections.abc import Hashable, Iterable

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util

from ..const import DOMAIN, LOGGER, WARM_UP_PREFIX
from ..prefix.agent_prefix import AgentPrefix, Render, WirePrefix
from . import contexts
from .admission import Admission, ApiRefusedError, async_administrators
from .bounded_tool import BoundedTool
from .elsewhere import ElsewhereTool
from .failing import Failing
from .looks import Looks, difference, without_stale_tools
from .options import AgentOptions
from .tool_forms import ToolForms


class Prompts:
    """The prompts of one agent: lets Home Assistant build them, and splits them."""

    def __init__(self, hass: HomeAssistant, options: AgentOptions, prefix: AgentPrefix) -> None:
        """Go on with a prefix as it was stored."""
        self.prefix = prefix
        self.failing = Failing()
        self.admission = Admission(hass, options.apis)
        self._hass = hass
        self._options = options
        self._forms = ToolForms()
        self._looks = Looks()

    async def async_take(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> WirePrefix:
        """Have the prompt of a turn built into its chat log, and return how it is sent.

        Raises ConverseError when no prompt can be built.
        """
        context = contexts.async_context(self._hass, user_input.device_id)
        if context != contexts.APP and not contexts.async_is_satellite(self._hass, context):
            self.prefix.heard(context)
        if not self.prefix.tools.looked:
            await self.async_rebase(user_input)
        render = await self._build(user_input, chat_log)
        if not self.prefix.tools.looked:
            # No context can be looked at without this person.
            self.prefix.rebase({}, [render], _now())
        if await self._update(context, user_input, render):
            # Something may have been un-exposed while another context was looked at.
            render = await self._build(user_input, chat_log)
        return self.prefix.take(render, _now())

    async def _build(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> Render:
        """Have a prompt built into a chat log, with the loop given back before.

        Home Assistant 2026.11 freezes the prompt of a conversation. It is built again here, as
        something may have been un-exposed in between; the wire stays stable anyway.
        """
        await asyncio.sleep(0)
        chat_log.llm_api = None
        await self._provide(chat_log, user_input)
        return self._forms.render(chat_log)

    async def _update(
        self, context: str, user_input: conversation.ConversationInput, render: Render
    ) -> bool:
        """Learn which of the shared tools are gone or changed, from this render or another look.

        What a person is not offered is no one else's loss, so it is looked for without them.
        Returns whether it was, which takes time.
        """
        tools = self.prefix.tools
        place = context if context in tools.contexts else contexts.APP
        is_of_place = place == context and user_input.context.user_id is None
        if not is_of_place and tools.fits(place, render.tools):
            return False
        if not is_of_place:
            render = await self._look(place, user_input) or render
        tools.update(place, render.tools)
        return not is_of_place

    async def async_rebase(self, user_input: conversation.ConversationInput) -> None:
        """Take a new stable prefix from how every context looks now.

        The loop is given back between any two prompts, so things may change and people may ask
        in the meantime. That is why the first look is the last one, too: what is taken is
        contained in it, and it is taken at once.
        """
        spoke = self.prefix.spoke
        wanted = contexts.async_contexts(self._hass, spoke)
        self.prefix.spoke = [device for device in spoke if device in wanted]
        self.failing.forget(wanted)
        # To see what the instructions say to a person with a name.
        owner = await self._hass.auth.async_get_owner()
        person = [contexts.person_context(owner.id)] if owner else []
        left = iter([*wanted, *person])
        for first in left:
            if base := await self._look(first, user_input):
                break
        else:
            return
        if as_user := self.admission.user_id:
            # What is seen with one administrator's rights is not taken for what all are given.
            others = [one for one in await async_administrators(self._hass) if one != as_user]
            person = [contexts.person_context(one) for one in others[:1]]
            left = iter([*(context for context in left if context in wanted), *person])
        renders = {first: base} | await self._others(left, base, user_input)
        if (now := await self._look(first, user_input)) is None:
            return
        renders = {c: without_stale_tools(r, base, now) for c, r in renders.items()}
        renders[first] = now
        for context in renders:
            # One that looks like another works like it.
            self.failing.works(context)
        personal = [*renders] if as_user else person
        of_people = [renders.pop(name) for name in personal if name in renders]
        if self.prefix.rebase(renders, of_people, _now()):
            LOGGER.debug("%s has a new stable prefix", user_input.agent_id)

    async def _others(
        self, wanted: Iterable[str], base: Render, user_input: conversation.ConversationInput
    ) -> dict[str, Render]:
        """Return how these contexts look, each of its own or as another one that looks alike."""
        kinds = {context: self._kind(context) for context in wanted}
        self._looks.keep_only(kinds)
        renders: dict[str, Render] = {}
        alike = {difference(base, base): base}
        for group in self._looks.groups(kinds):
            for number, context in enumerate(group):
                render = await self._look(context, user_input)
                if render is None:
                    continue
                seen = difference(base, render)
                render = alike.setdefault(seen, render)
                as_before = not self._looks.is_changed(context, kinds[context], seen)
                for other in group[number:] if as_before else [context]:
                    self._looks.note(other, kinds[other], seen, itself=other == context)
                    renders[other] = render
                if as_before:
                    break
        return renders

    async def async_forget_gone(self, user_input: conversation.ConversationInput) -> None:
        """Drop what is gone from the prefix at once, as a question does, and add nothing to it.

        The text that all contexts share is in each of them. A tool is looked for in a context
        that offered it.
        """
        if (render := await self._look(contexts.APP, user_input)) is None:
            return
        self.prefix.tools.update(contexts.APP, render.tools)
        self.prefix.take(render, _now())
        for context in self.prefix.tools.without(contexts.APP):
            if render := await self._look(context, user_input):
                self.prefix.tools.update(context, render.tools)

    async def _look(
        self, context: str, user_input: conversation.ConversationInput
    ) -> Render | None:
        """Return how one context looks now, None if no prompt can be built for it."""
        await asyncio.sleep(0)
        chat_log = conversation.ChatLog(self._hass, WARM_UP_PREFIX)
        look = contexts.look(context, user_input.agent_id, user_input.language)
        try:
            await self._provide(chat_log, look)
        except (conversation.ConverseError, ApiRefusedError) as err:
            LOGGER.debug("No prompt for one context of %s: %s", user_input.agent_id, err)
            return None
        return self._forms.render(chat_log)

    def _kind(self, context: str) -> Hashable:
        """Return what is known of a context before it was seen: those of one kind look alike.

        Home Assistant's Assist asks of a device only its room and its timers. Where instructions
        or another API may ask for more, a context is only like itself.
        """
        if self._options.apis != [llm.LLM_API_ASSIST] or _may_ask(self._options.prompt or ""):
            return context
        return contexts.traits(self._hass, context) or context

    async def _provide(
        self, chat_log: conversation.ChatLog, user_input: conversation.ConversationInput
    ) -> None:
        """Let Home Assistant build system text and tools into a chat log."""
        context = contexts.async_context(self._hass, user_input.device_id)
        prompt = self._options.prompt
        try:
            if chat_log.conversation_id == WARM_UP_PREFIX:
                await self.admission.async_provide(chat_log, user_input, prompt)
            else:
                await chat_log.async_provide_llm_data(
                    user_input.as_llm_context(DOMAIN),
                    self._options.apis,
                    prompt,
                    user_input.extra_system_prompt,
                )
        except conversation.ConverseError as err:
            self.failing.fails(context, err, prompt or "")
            raise
        self.failing.works(context)


def _now() -> float:
    """Return the time in seconds, as what is learned of a prompt is kept for a while."""
    return dt_util.utcnow().timestamp()


def lend_tools(chat_log: conversation.ChatLog, prefix: WirePrefix) -> None:
    """Bound the tools of a chat log, and give it an answer for each that only others have."""
    if chat_log.llm_api is None:
        return
    tools = chat_log.llm_api.tools
    own = {tool.name for tool in tools}
    missing = [tool["function"] for tool in prefix.tools if tool["function"]["name"] not in own]
    chat_log.llm_api.tools = [*map(BoundedTool, tools), *map(ElsewhereTool, missing)]


def _may_ask(prompt: str) -> bool:
    """Return whether instructions may ask which device or person they are for."""
    return any(word in prompt for word in ("llm_context", "import", "include"))
