"""Fix flows: what an administrator can do about an issue without looking for it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, override

import probatio

from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow, RepairsFlowResult
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import CONF_PROMPT
from homeassistant.core import HomeAssistant, callback

from .agent import contexts
from .agent.failing import parts_of
from .agent.moving import CONF_KEPT_MOVING, moving_key, moving_parts
from .agent.options import AgentOptions
from .const import CONF_NUM_CTX
from .coordinator import OllamaWarmConfigEntry
from .ollama.errors import OllamaError
from .problems.problem import Problem
from .problems.windows import longest


class AgentFixFlow(RepairsFlow, ABC):
    """Asks for a confirmation, then changes one option of an agent."""

    entry: OllamaWarmConfigEntry
    subentry: ConfigSubentry

    async def async_step_init(
        self,
        user_input: dict[str, str] | None = None,  # noqa: ARG002 - its form
    ) -> RepairsFlowResult:
        """Find the agent, and begin."""
        return await self.async_step_confirm()

    async def async_step_confirm(
        self, user_input: dict[str, str] | None = None
    ) -> RepairsFlowResult:
        """Say what will be done, and do it when that was read."""
        if (reason := self._find()) or (reason := await self.async_prepare()):
            return self.async_abort(reason=reason)
        if user_input is None:
            return self.async_show_form(
                step_id="confirm",
                data_schema=probatio.Schema({}),
                description_placeholders={"agent": self.subentry.title, **self.placeholders()},
            )
        if reason := await self.async_fix():
            return self.async_abort(reason=reason)
        return self.async_create_entry(data={})

    async def async_fix(self) -> str | None:
        """Change the agent, or return why that did not help."""
        self.hass.config_entries.async_update_subentry(
            self.entry, self.subentry, data={**self.subentry.data, **self.change()}
        )
        return None

    @callback
    def _find(self) -> str | None:
        """Find the agent as it is now, or return why the flow ends."""
        data = self.data or {}
        entry = self.hass.config_entries.async_get_entry(str(data.get("entry_id")))
        if entry is None:
            return "agent_gone"
        subentry = entry.subentries.get(str(data.get("subentry_id")))
        if subentry is None:
            return "agent_gone"
        self.entry, self.subentry = entry, subentry
        return None

    async def async_prepare(self) -> str | None:
        """Find out what to do, or return why there is nothing to do."""
        return None

    @abstractmethod
    def placeholders(self) -> dict[str, str]:
        """Return the values for the sentences of the form."""

    def change(self) -> dict[str, Any]:
        """Return the options to change."""
        return {}


class KeepMovingFlow(AgentFixFlow):
    """Shows what moves in the instructions, and remembers that it is to stay so."""

    @property
    def _prompt(self) -> str:
        return str(self.subentry.data.get(CONF_PROMPT) or "")

    @override
    def placeholders(self) -> dict[str, str]:
        """Return the places as a list; only administrators come here, so they see the text."""
        places = [
            f"- {found.line}:{found.column} `{found.expression}`"
            for found in moving_parts(self._prompt)
        ]
        return {"places": "\n".join(places)}

    @override
    def change(self) -> dict[str, Any]:
        """Return the memory of what was seen."""
        return {CONF_KEPT_MOVING: moving_key(self._prompt)}


class ContextLengthFlow(AgentFixFlow):
    """Gives the agent another context length."""

    _num_ctx = 0

    @property
    def _own(self) -> int:
        return AgentOptions.from_data(self.subentry.data).num_ctx

    @override
    async def async_prepare(self) -> str | None:
        """Take the length that the issue names."""
        self._num_ctx = int((self.data or {}).get("num_ctx") or self._own)
        return None

    @override
    def placeholders(self) -> dict[str, str]:
        """Return the lengths before and after."""
        return {
            "model": AgentOptions.from_data(self.subentry.data).model,
            "num_ctx": str(self._own),
            "new_num_ctx": str(self._num_ctx),
        }

    @override
    def change(self) -> dict[str, Any]:
        """Return the new length."""
        return {CONF_NUM_CTX: self._num_ctx}


class LargerContextFlow(ContextLengthFlow):
    """Gives the agent a larger context length, as far as its model was made for it."""

    @override
    async def async_prepare(self) -> str | None:
        """Ask the server for the model's limit."""
        await super().async_prepare()
        if self.entry.state is not ConfigEntryState.LOADED:
            return "entry_not_loaded"
        client = self.entry.runtime_data.server.client
        try:
            shown = await client.show(AgentOptions.from_data(self.subentry.data).model)
        except OllamaError:
            return "server_does_not_answer"
        self._num_ctx = min(self._num_ctx, longest(shown) or self._num_ctx)
        return "longest_already" if self._num_ctx <= self._own else None


class FailingPromptFlow(AgentFixFlow):
    """Shows what fails in the instructions, and tries them again."""

    @override
    async def async_prepare(self) -> str | None:
        """Find the line that fails now."""
        if self.entry.state is not ConfigEntryState.LOADED:
            return "entry_not_loaded"
        self._agent = self.entry.runtime_data.agents[self.subentry.subentry_id]
        return None

    @override
    def placeholders(self) -> dict[str, str]:
        """Return the places as a list; only administrators come here, so they see the text."""
        prompt = self._agent.options.prompt or ""
        line = self._agent.prompts.failing.line or 0
        parts = parts_of(prompt, line)
        places = "\n".join(f"- {line}: `{part}`" for part in parts)
        return {"line": str(line), "places": places}

    @override
    async def async_fix(self) -> str | None:
        """Have the prompt built for all devices, as it will be for the next question."""
        language = self.hass.config.language
        no_one = contexts.look(contexts.APP, self._agent.entity_id, language)
        await self._agent.prompts.async_rebase(no_one)
        return "still_fails" if self._agent.prompts.failing.line else None


_FLOWS: dict[str, Callable[[], RepairsFlow]] = {
    Problem.MOVING.value: KeepMovingFlow,
    Problem.FAILING.value: FailingPromptFlow,
    Problem.WINDOW.value: LargerContextFlow,
    Problem.OTHER_WINDOW.value: ContextLengthFlow,
    Problem.SEEN_WINDOW.value: ContextLengthFlow,
}


async def async_create_fix_flow(
    hass: HomeAssistant,  # noqa: ARG001 - the platform's signature
    issue_id: str,
    data: dict[str, str | int | float | None] | None,  # noqa: ARG001 - the flow is given it
) -> RepairsFlow:
    """Return the flow for an issue."""
    flow = _FLOWS.get(issue_id.partition(".")[0], ConfirmRepairFlow)
    return flow()
