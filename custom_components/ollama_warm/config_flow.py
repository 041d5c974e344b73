"""Set-up in the user interface: a server. Its agents have a flow of their own."""

from collections.abc import Mapping
from typing import Any, override

import probatio

from homeassistant.config_entries import (
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryData,
    ConfigSubentryFlow,
    OptionsFlow,
)
from homeassistant.const import CONF_NAME, CONF_PASSWORD, CONF_URL, CONF_USERNAME
from homeassistant.core import callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .const import DOMAIN, SUBENTRY_CONVERSATION
from .flow.agent_flow import AgentFlow
from .flow.core_import import CoreAgent, async_core_agents
from .flow.flow_schema import (
    CONF_AGENT,
    OPTIONS_SCHEMA,
    SERVER_SCHEMA,
    has_model,
    reauth_schema,
    take_over_schema,
)
from .flow.migration import MINOR_VERSION
from .flow.server_form import read_server_form
from .ollama.address import is_same_server
from .ollama.client import Model, OllamaClient
from .ollama.errors import ModelNotFoundError, OllamaError


class OllamaWarmConfigFlow(ConfigFlow, domain=DOMAIN):
    """Adds a server, or changes one, after asking it whether it is one."""

    VERSION = 1
    MINOR_VERSION = MINOR_VERSION

    def __init__(self) -> None:
        self._errors: dict[str, str] = {}
        self._placeholders: dict[str, str] = {}
        self._shown: Mapping[str, Any] = {}

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Return that a server has agents."""
        return {SUBENTRY_CONVERSATION: AgentFlow}

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return the flow for what all agents of a server share."""
        return OllamaWarmOptionsFlow()

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Offer to take over an agent of Home Assistant's own integration, if there is one."""
        if self._core_agents():
            return self.async_show_menu(step_id="user", menu_options=["server", "take_over"])
        return await self.async_step_server()

    async def async_step_server(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the address, and create the entry once the server answers."""
        if user_input is not None and (data := await self._async_check(user_input)):
            return self.async_create_entry(title=data[CONF_URL], data=data)
        return self._form("server", SERVER_SCHEMA, self._shown)

    async def async_step_take_over(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Create the entry of a server that is known already, and an agent like the one there."""
        agents = self._core_agents()
        if not agents:
            return self.async_abort(reason="nothing_to_take_over")
        if (
            user_input is not None
            and (agent := agents.get(user_input[CONF_AGENT]))
            and (data := await self._async_check(agent.server, agent.model))
        ):
            subentry = ConfigSubentryData(
                data=agent.data,
                subentry_type=SUBENTRY_CONVERSATION,
                title=user_input[CONF_NAME],
                unique_id=None,
            )
            return self.async_create_entry(title=data[CONF_URL], data=data, subentries=[subentry])
        return self._form("take_over", take_over_schema(agents), user_input)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the address and the key again."""
        entry = self._get_reconfigure_entry()
        if user_input is not None and (data := await self._async_check(user_input)):
            return self._changed(entry, data, "reconfigure_successful")
        values = self._shown or read_server_form(entry.data).values
        return self._form("reconfigure", SERVER_SCHEMA, values)

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:  # noqa: ARG002 - its form
        """Begin when the server does not take the credential, or wants one."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for another credential of the same kind."""
        entry = self._get_reauth_entry()
        url = {CONF_URL: entry.data[CONF_URL]}
        if user_input is not None and (data := await self._async_check(url | user_input)):
            return self._changed(entry, data, "reauth_successful")
        self._placeholders = url | self._placeholders
        # Without a password the user name is all that can be wrong.
        known = {CONF_USERNAME} if CONF_PASSWORD in entry.data else set()
        values = {key: value for key, value in entry.data.items() if key in known}
        return self._form("reauth_confirm", reauth_schema(entry.data), values)

    def _core_agents(self) -> dict[str, CoreAgent]:
        """Return the agents that can be taken over together with their servers."""
        ours = [entry.data[CONF_URL] for entry in self._async_current_entries()]
        return {
            key: agent
            for key, agent in async_core_agents(self.hass).items()
            if not any(is_same_server(url, agent.server[CONF_URL]) for url in ours)
        }

    async def _async_check(
        self, user_input: Mapping[str, str], model: str | None = None
    ) -> dict[str, str] | None:
        """Return what is to be stored, None if something is wrong with it.

        Ends the flow if another entry has this server already.
        """
        form = read_server_form(user_input)
        data = self._shown = form.values
        self._errors, self._placeholders = dict(form.errors), {}
        if self._errors:
            return None
        for entry in self._async_current_entries():
            if is_same_server(url := entry.data[CONF_URL], data[CONF_URL]):
                self._async_abort_entries_match({CONF_URL: url})
        try:
            models = await self._async_ask(data)
            if model and not has_model(models, model):
                raise ModelNotFoundError(model=model)
        except OllamaError as err:
            self._errors["base"] = err.key
            self._placeholders = err.translation_placeholders or {}
            return None
        return data

    async def _async_ask(self, data: Mapping[str, str]) -> list[Model]:
        """Return a server's models. Raises OllamaError if it is none, or does not answer."""
        session = async_get_clientsession(self.hass)
        client = OllamaClient.of(session, data)
        await client.version()
        return await client.models()

    def _form(
        self, step_id: str, schema: probatio.Schema, values: Mapping[str, Any] | None
    ) -> ConfigFlowResult:
        """Show a form with what was filled in before, and with what is wrong with it."""
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, values),
            errors=self._errors,
            description_placeholders=self._placeholders,
        )

    @callback
    def _changed(
        self, entry: ConfigEntry, data: Mapping[str, str], reason: str
    ) -> ConfigFlowResult:
        """Store another address or key, and set the server up again."""
        # Its update listener does that, but only if something changed, and only if the entry
        # was set up: one whose key was refused may not have got that far.
        listens = bool(entry.update_listeners) and data != dict(entry.data)
        named = is_same_server(entry.title, entry.data[CONF_URL])
        title = data[CONF_URL] if named else entry.title
        result = self.async_update_and_abort(entry, title=title, data=data, reason=reason)
        if not listens:
            self.hass.config_entries.async_schedule_reload(entry.entry_id)
        return result


class OllamaWarmOptionsFlow(OptionsFlow):
    """Asks for what all agents of a server share."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask which weather entity agents report from, and which agents do."""
        if user_input is not None:
            return self.async_create_entry(data=user_input)
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(
                OPTIONS_SCHEMA, self.config_entry.options
            ),
        )
