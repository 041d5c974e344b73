"""Set-up in the user interface: a server, and the agents on it."""

from collections.abc import Mapping
import sys
from typing import Any, override

import probatio

from homeassistant.config_entries import (
    ConfigEntry,
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import (
    CONF_API_KEY,
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_NAME,
    CONF_PROMPT,
    CONF_URL,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)

from .api import Model, OllamaClient, OllamaError
from .const import (
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
    DEFAULT_URL,
    DEFAULT_WARM_INTERVAL,
    DOMAIN,
    MIN_NUM_CTX,
    SUBENTRY_CONVERSATION,
)
from .coordinator import OllamaWarmConfigEntry

SERVER_SCHEMA = probatio.Schema(
    {
        probatio.Required(CONF_URL, default=DEFAULT_URL): TextSelector(
            TextSelectorConfig(type=TextSelectorType.URL)
        ),
        probatio.Optional(CONF_API_KEY): TextSelector(
            TextSelectorConfig(type=TextSelectorType.PASSWORD)
        ),
    }
)
_WHOLE_NUMBERS = (CONF_NUM_CTX, CONF_MAX_HISTORY, CONF_KEEP_ALIVE, CONF_WARM_INTERVAL)
_TOKENS = "tokens"


class OllamaWarmConfigFlow(ConfigFlow, domain=DOMAIN):
    """Adds a server, after asking it whether it is one."""

    VERSION = 1

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the address, and create the entry once the server answers."""
        errors: dict[str, str] = {}
        placeholders: dict[str, str] = {}
        if user_input is not None:
            data = {key: value.strip() for key, value in user_input.items() if value.strip()}
            try:
                data[CONF_URL] = cv.url(data.get(CONF_URL)).rstrip("/")
                self._async_abort_entries_match({CONF_URL: data[CONF_URL]})
                await async_check_server(self.hass, data)
            except probatio.Invalid:
                errors[CONF_URL] = "invalid_url"
            except OllamaError as err:
                errors["base"] = err.key
                placeholders = err.translation_placeholders or {}
            else:
                return self.async_create_entry(title=data[CONF_URL], data=data)
        return self.async_show_form(
            step_id="user",
            data_schema=self.add_suggested_values_to_schema(SERVER_SCHEMA, user_input or {}),
            errors=errors,
            description_placeholders=placeholders,
        )

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Return that a server has agents."""
        return {SUBENTRY_CONVERSATION: AgentFlow}


class AgentFlow(ConfigSubentryFlow):
    """Adds an agent, or changes one."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for everything about a new agent."""
        return await self._async_step("user", user_input)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask again, with what was chosen before."""
        return await self._async_step("reconfigure", user_input)

    async def _async_step(
        self, step_id: str, user_input: dict[str, Any] | None
    ) -> SubentryFlowResult:
        """Show the form until the server has the chosen model, then save."""
        entry: OllamaWarmConfigEntry = self._get_entry()
        if entry.state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        try:
            models = await entry.runtime_data.server.client.models()
        except OllamaError as err:
            return self.async_abort(
                reason=err.key, description_placeholders=err.translation_placeholders
            )
        errors: dict[str, str] = {}
        if user_input is not None:
            if full_name(user_input[CONF_MODEL]) in {full_name(model.name) for model in models}:
                return self._save(user_input)
            errors[CONF_MODEL] = "model_not_found"
        values = user_input or self._chosen_before()
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(
                self._schema(models, with_name=step_id == "user"), values
            ),
            errors=errors,
            description_placeholders={"model": str(values.get(CONF_MODEL, ""))},
        )

    def _chosen_before(self) -> Mapping[str, Any]:
        """Return the agent's options, or what is sensible for a new one."""
        if self.source == "reconfigure":
            return self._get_reconfigure_subentry().data
        return {
            CONF_PROMPT: llm.DEFAULT_INSTRUCTIONS_PROMPT,
            CONF_LLM_HASS_API: [llm.LLM_API_ASSIST],
            CONF_NUM_CTX: DEFAULT_NUM_CTX,
            CONF_MAX_HISTORY: DEFAULT_MAX_HISTORY,
            CONF_KEEP_ALIVE: DEFAULT_KEEP_ALIVE,
            CONF_THINK: False,
            CONF_AUTO_WARM: True,
            CONF_WARM_INTERVAL: DEFAULT_WARM_INTERVAL,
        }

    def _save(self, user_input: dict[str, Any]) -> SubentryFlowResult:
        """Create the agent, or change it."""
        data = {
            key: int(value) if key in _WHOLE_NUMBERS else value for key, value in user_input.items()
        }
        if self.source == "reconfigure":
            return self.async_update_and_abort(
                self._get_entry(), self._get_reconfigure_subentry(), data=data
            )
        return self.async_create_entry(title=str(data.pop(CONF_NAME)), data=data)

    def _schema(self, models: list[Model], *, with_name: bool) -> probatio.Schema:
        """Return the form of an agent."""
        name = {probatio.Required(CONF_NAME, default=DEFAULT_NAME): TextSelector()}
        return probatio.Schema(
            {
                **(name if with_name else {}),
                probatio.Required(CONF_MODEL): SelectSelector(
                    SelectSelectorConfig(
                        options=[
                            SelectOptionDict(value=model.name, label=label(model))
                            for model in models
                        ],
                        mode=SelectSelectorMode.DROPDOWN,
                        custom_value=True,
                    )
                ),
                probatio.Optional(CONF_PROMPT): TemplateSelector(),
                probatio.Optional(CONF_LLM_HASS_API): SelectSelector(
                    SelectSelectorConfig(
                        options=[
                            SelectOptionDict(value=api.id, label=api.name)
                            for api in llm.async_get_apis(self.hass)
                        ],
                        multiple=True,
                        mode=SelectSelectorMode.LIST,
                    )
                ),
                probatio.Optional(CONF_NUM_CTX): _number(MIN_NUM_CTX, _TOKENS),
                probatio.Optional(CONF_MAX_HISTORY): _number(0),
                probatio.Optional(CONF_KEEP_ALIVE): _number(-1, "s"),
                probatio.Optional(CONF_THINK): BooleanSelector(),
                probatio.Optional(CONF_AUTO_WARM): BooleanSelector(),
                probatio.Optional(CONF_WARM_INTERVAL): _number(0, "min"),
            }
        )


async def async_check_server(hass: HomeAssistant, data: Mapping[str, str]) -> None:
    """Ask a server for its version and its models. Raises OllamaError if it does not answer."""
    client = OllamaClient(async_get_clientsession(hass), data[CONF_URL], data.get(CONF_API_KEY))
    await client.version()
    await client.models()


def full_name(model: str) -> str:
    """Return a model's name with its tag, as the server lists it."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def label(model: Model) -> str:
    """Return a model's name with its size on disk."""
    return f"{model.name} ({model.size / 1e9:.1f} GB)" if model.size else model.name


def _number(least: int, unit: str | None = None) -> NumberSelector:
    """Return a field for a whole number."""
    return NumberSelector(
        NumberSelectorConfig(
            min=least,
            max=sys.maxsize,
            step=1,
            mode=NumberSelectorMode.BOX,
            **({"unit_of_measurement": unit} if unit else {}),
        )
    )
