"""Set-up in the user interface: an agent on a server."""

import asyncio
from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigEntryState,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import CONF_LLM_HASS_API, CONF_MODEL, CONF_NAME, CONF_PROMPT
from homeassistant.data_entry_flow import AbortFlow
from homeassistant.helpers import llm

from ..agent.moving import CONF_KEPT_MOVING, moving_key, moving_parts
from ..const import (
    CONF_AUTO_WARM,
    CONF_KEEP_ALIVE,
    CONF_MAX_HISTORY,
    CONF_NUM_CTX,
    CONF_THINK,
    CONF_WARM_INTERVAL,
    DEFAULT_KEEP_ALIVE,
    DEFAULT_MAX_HISTORY,
    DEFAULT_NAME,
    DEFAULT_NUM_CTX,
    DEFAULT_WARM_INTERVAL,
    DOMAIN,
)
from ..coordinator import OllamaWarmConfigEntry
from ..ollama.client import Model, OllamaClient
from ..ollama.download import async_download
from ..ollama.errors import OllamaError, ServerError
from .core_import import async_core_agents
from .flow_schema import (
    CONF_AGENT,
    CONF_KEEP_AS_IS,
    SECTION_BASICS,
    SECTION_PROMPT,
    Findings,
    agent_schema,
    flat,
    has_model,
    in_sections,
    take_over_schema,
    warnings,
)
from .prompt_size import async_prompt_tokens, fills_window

_NEW_AGENT = {
    CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
    CONF_LLM_HASS_API: [llm.LLM_API_ASSIST],
    CONF_NUM_CTX: DEFAULT_NUM_CTX,
    CONF_MAX_HISTORY: DEFAULT_MAX_HISTORY,
    CONF_KEEP_ALIVE: DEFAULT_KEEP_ALIVE,
    CONF_THINK: False,
    CONF_AUTO_WARM: True,
    CONF_WARM_INTERVAL: DEFAULT_WARM_INTERVAL,
}


class AgentFlow(ConfigSubentryFlow):
    """Adds an agent, or changes one.

    The form, then what only the server and Home Assistant know: whether the model is there,
    and how much of its window the prompt takes. Neither makes anyone wait for a model.
    """

    def __init__(self) -> None:
        """Begin with what is sensible for a new agent."""
        self._name = DEFAULT_NAME
        self._data: dict[str, Any] = dict(_NEW_AGENT)
        self._known_prompt = ""
        """Instructions that are in use already, so that no one needs to hear of them again."""
        self._keep_as_is = False
        self._models: list[Model] = []
        self._download: asyncio.Task[bool] | None = None
        self._failure: OllamaError | None = None
        self._tokens: int | None = None

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:  # noqa: ARG002 - its form
        """Offer to take over an agent of Home Assistant's own integration, if there is one."""
        if async_core_agents(self.hass):
            return self.async_show_menu(step_id="user", menu_options=["agent", "take_over"])
        return await self.async_step_agent()

    async def async_step_reconfigure(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002 - its form
    ) -> SubentryFlowResult:
        """Begin with what was chosen before."""
        self._data = dict(self._get_reconfigure_subentry().data)
        self._known_prompt = self._data.get(CONF_PROMPT, "")
        return await self.async_step_agent()

    async def async_step_agent(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask for everything, and point at what moves in the instructions."""
        if user_input is None:
            return await self._async_open()
        kept = {key: self._data[key] for key in (CONF_KEPT_MOVING,) if key in self._data}
        self._data = {**flat(user_input), **kept}
        self._name = self._data.pop(CONF_NAME, self._name)
        prompt = self._data.get(CONF_PROMPT, "")
        self._keep_as_is = user_input[SECTION_PROMPT].get(CONF_KEEP_AS_IS, False)
        if self._keep_as_is and moving_parts(prompt):
            # Or a repair issue would say the same again.
            self._data[CONF_KEPT_MOVING] = moving_key(prompt)
        is_settled = self._keep_as_is or prompt == self._known_prompt
        if not is_settled and (findings := warnings(prompt)):
            return self._form({SECTION_PROMPT: "moving_parts"}, findings=findings)
        return await self._async_find_model()

    async def async_step_take_over(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask which agent of Home Assistant's own integration to take over."""
        agents = async_core_agents(self.hass)
        if not agents:
            return self.async_abort(reason="nothing_to_take_over")
        if user_input is not None and (agent := agents.get(user_input[CONF_AGENT])):
            self._name, self._data = user_input[CONF_NAME], agent.data
            self._known_prompt = agent.data.get(CONF_PROMPT, "")
            return await self._async_find_model()
        await self._async_list_models()
        return self.async_show_form(step_id="take_over", data_schema=take_over_schema(agents))

    async def async_step_missing(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002 - its form
    ) -> SubentryFlowResult:
        """Offer to download a model that the server does not have."""
        return self.async_show_menu(
            step_id="missing",
            menu_options=["download", "agent"],
            description_placeholders={CONF_MODEL: self._data[CONF_MODEL]},
        )

    async def async_step_download(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002 - its form
    ) -> SubentryFlowResult:
        """Wait until the server has downloaded the model; closing the dialog ends it."""
        if self._download is None:
            self._download = self.hass.async_create_background_task(
                self._async_pull(), f"{DOMAIN} download"
            )
        if not self._download.done():
            return self.async_show_progress(
                step_id="download",
                progress_action="download",
                description_placeholders={CONF_MODEL: self._data[CONF_MODEL]},
                progress_task=self._download,
            )
        there = not self._download.cancelled() and self._download.result()
        self._download = None
        return self.async_show_progress_done(next_step_id="measure" if there else "agent")

    async def async_step_measure(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002 - its form
    ) -> SubentryFlowResult:
        """Say when the prompt cannot be built, or leaves the conversation too little room."""
        self._tokens = await async_prompt_tokens(self.hass, self._data)
        if self._tokens is None and not self._keep_as_is:
            return self._form({SECTION_PROMPT: "prompt_not_built"})
        if fills_window(self._tokens or 0, self._num_ctx):
            return await self.async_step_window()
        return await self.async_step_save()

    async def async_step_window(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002 - its form
    ) -> SubentryFlowResult:
        """Let a person with a window that is too small choose another one."""
        return self.async_show_menu(
            step_id="window",
            menu_options=["agent", "save"],
            description_placeholders=self._size(),
        )

    async def async_step_save(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002 - its form
    ) -> SubentryFlowResult:
        """Create the agent, or change it, and say how much of its window the prompt takes."""
        sized = self._tokens is not None
        if self.source != SOURCE_RECONFIGURE:
            return self.async_create_entry(
                title=self._name,
                data=self._data,
                description="sized" if sized else None,
                description_placeholders=self._size(),
            )
        result = self.async_update_and_abort(
            self._get_entry(),
            self._get_reconfigure_subentry(),
            data=self._data,
            reason="reconfigure_sized" if sized else "reconfigure_successful",
        )
        result["description_placeholders"] = self._size()
        return result

    @property
    def _num_ctx(self) -> int:
        """Return the size of the agent's window in tokens."""
        return int(self._data.get(CONF_NUM_CTX, DEFAULT_NUM_CTX))

    @property
    def _client(self) -> OllamaClient:
        """Return the connection to the server. Ends the flow if the server is not set up."""
        entry: OllamaWarmConfigEntry = self._get_entry()
        if entry.state is not ConfigEntryState.LOADED:
            raise AbortFlow("entry_not_loaded")
        return entry.runtime_data.server.client

    async def _async_open(self) -> SubentryFlowResult:
        """Show the form: at first, or again when no model could be downloaded."""
        if failure := self._failure:
            self._failure = None
            key = "download_failed" if isinstance(failure, ServerError) else failure.key
            return self._form({SECTION_BASICS: key}, failure.translation_placeholders)
        await self._async_list_models()
        return self._form()

    async def _async_list_models(self) -> None:
        """Ask the server for its models. Ends the flow if it does not answer."""
        try:
            self._models = await self._client.models()
        except OllamaError as err:
            raise AbortFlow(err.key, err.translation_placeholders) from err

    async def _async_find_model(self) -> SubentryFlowResult:
        """Go on if the server has the model; it may have been fetched in the meantime."""
        model = self._data[CONF_MODEL]
        if not has_model(self._models, model):
            try:
                self._models = await self._client.models()
            except OllamaError as err:
                return self._form({"base": err.key}, err.translation_placeholders)
            if not has_model(self._models, model):
                return await self.async_step_missing()
        return await self.async_step_measure()

    async def _async_pull(self) -> bool:
        """Have the model downloaded, and return whether it is there."""
        try:
            await async_download(self._client, self._data[CONF_MODEL], self.async_update_progress)
        except OllamaError as err:
            self._failure = err
        return self._failure is None

    def _size(self) -> dict[str, str]:
        """Return the sizes of prompt and window as the sentences give them."""
        return {"tokens": str(self._tokens), CONF_NUM_CTX: str(self._num_ctx)}

    def _form(
        self,
        errors: dict[str, str] | None = None,
        placeholders: Mapping[str, str] | None = None,
        findings: Findings | None = None,
    ) -> SubentryFlowResult:
        """Show the form with what was chosen before, and with what is wrong with it."""
        findings = findings or {}
        apis = llm.async_get_apis(self.hass)
        is_new = self.source != SOURCE_RECONFIGURE
        schema = agent_schema(
            self._models,
            apis,
            with_name=is_new,
            findings=findings,
            with_keep=SECTION_PROMPT in (errors or {}),
        )
        values = {**self._data, CONF_NAME: self._name}
        return self.async_show_form(
            step_id="agent",
            data_schema=self.add_suggested_values_to_schema(
                schema, in_sections(values, apis, findings)
            ),
            errors=errors,
            description_placeholders={CONF_MODEL: self._data.get(CONF_MODEL, "")}
            | dict(placeholders or {}),
        )
