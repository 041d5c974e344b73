"""The forms of the flows, and how an agent's options are laid out in them.

An agent's options are stored flat; the form shows them in sections.
"""

from collections.abc import Iterable, Mapping
import sys
from typing import Any, Final

import probatio

from homeassistant.const import (
    CONF_API_KEY,
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_NAME,
    CONF_PASSWORD,
    CONF_PROMPT,
    CONF_URL,
    CONF_USERNAME,
)
from homeassistant.data_entry_flow import section
from homeassistant.helpers.llm import API
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
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

from ..const import (
    CONF_AUTO_WARM,
    CONF_KEEP_ALIVE,
    CONF_MAX_HISTORY,
    CONF_NUM_CTX,
    CONF_THINK,
    CONF_WARM_INTERVAL,
    CONF_WEATHER_ENTITY,
    CONF_WEATHER_FOR_OTHERS,
    DEFAULT_NAME,
    DEFAULT_URL,
    MIN_NUM_CTX,
)
from ..ollama.address import has_login
from ..ollama.client import Model
from ..ollama.facts import full_name
from ..prefix.lint import Finding, Severity, lint
from .core_import import CoreAgent

CONF_AGENT: Final = "agent"
CONF_KEEP_AS_IS: Final = "keep_as_is"
SECTION_BASICS: Final = "basics"
SECTION_PROMPT: Final = "prompt"
SECTION_PERFORMANCE: Final = "performance"

_SECTIONS = {
    SECTION_BASICS: (CONF_NAME, CONF_MODEL, CONF_LLM_HASS_API),
    SECTION_PROMPT: (CONF_PROMPT,),
    SECTION_PERFORMANCE: (
        CONF_NUM_CTX,
        CONF_MAX_HISTORY,
        CONF_KEEP_ALIVE,
        CONF_THINK,
        CONF_AUTO_WARM,
        CONF_WARM_INTERVAL,
    ),
}
_WHOLE_NUMBERS = (CONF_NUM_CTX, CONF_MAX_HISTORY, CONF_KEEP_ALIVE, CONF_WARM_INTERVAL)
_TOKENS = "tokens"
_PASSWORD = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD))
_PLACES = TextSelector(TextSelectorConfig(multiline=True, read_only=True))
_KEY = {probatio.Optional(probatio.Secret(CONF_API_KEY)): _PASSWORD}
# A user name may be a token, so it is not shown to whoever looks over a shoulder.
_LOGIN = {
    probatio.Optional(probatio.Secret(key)): _PASSWORD for key in (CONF_USERNAME, CONF_PASSWORD)
}
_CREDENTIALS = {**_KEY, **_LOGIN}

SERVER_SCHEMA = probatio.Schema(
    {
        probatio.Required(CONF_URL, default=DEFAULT_URL): TextSelector(
            TextSelectorConfig(type=TextSelectorType.URL)
        ),
        **_CREDENTIALS,
    }
)
CREDENTIALS_SCHEMA = probatio.Schema(_CREDENTIALS)
OPTIONS_SCHEMA = probatio.Schema(
    {
        probatio.Optional(CONF_WEATHER_ENTITY): EntitySelector(
            EntitySelectorConfig(domain="weather")
        ),
        probatio.Optional(CONF_WEATHER_FOR_OTHERS, default=False): BooleanSelector(),
    }
)

type Findings = Mapping[str, list[Finding]]
"""What moves in the instructions, by its kind."""

_GIGABYTE = 1e9


def agent_schema(
    models: Iterable[Model],
    apis: Iterable[API],
    *,
    with_name: bool,
    findings: Findings,
    with_keep: bool,
) -> probatio.Schema:
    """Return the form of an agent, with the linter's findings beside the instructions."""
    prompt: dict[probatio.Marker, Any] = {probatio.Optional(CONF_PROMPT): TemplateSelector()}
    prompt |= {probatio.Optional(kind): _PLACES for kind in findings}
    if with_keep:
        prompt[probatio.Optional(CONF_KEEP_AS_IS, default=False)] = BooleanSelector()
    return probatio.Schema(
        {
            probatio.Required(SECTION_BASICS): section(_basics(models, apis, with_name=with_name)),
            probatio.Required(SECTION_PROMPT): section(probatio.Schema(prompt)),
            probatio.Required(SECTION_PERFORMANCE): section(_PERFORMANCE, {"collapsed": True}),
        }
    )


def warnings(prompt: str) -> Findings:
    """Return what moves in instructions so often that it is worth a change."""
    found: dict[str, list[Finding]] = {}
    for finding in lint(prompt):
        if finding.severity is Severity.WARNING:
            found.setdefault(finding.mover.value, []).append(finding)
    return found


def take_over_schema(agents: Mapping[str, CoreAgent]) -> probatio.Schema:
    """Return the form that asks which agent of Home Assistant's own integration is meant."""
    return probatio.Schema(
        {
            probatio.Required(CONF_AGENT, default=next(iter(agents))): _select(
                {key: f"{agent.title} ({agent.model})" for key, agent in agents.items()},
                SelectSelectorMode.LIST,
            ),
            probatio.Required(CONF_NAME, default=DEFAULT_NAME): TextSelector(),
        }
    )


def reauth_schema(data: Mapping[str, Any]) -> probatio.Schema:
    """Return the form that asks for what a server refuses, for anything if it was sent nothing."""
    if CONF_API_KEY in data:
        return probatio.Schema(_KEY)
    return probatio.Schema(_LOGIN) if has_login(data) else CREDENTIALS_SCHEMA


def flat(user_input: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the options of an agent from the sections of its form."""
    values = {
        key: user_input[name][key]
        for name, keys in _SECTIONS.items()
        for key in keys
        if key in user_input[name]
    }
    return values | {key: int(values[key]) for key in _WHOLE_NUMBERS if key in values}


def in_sections(
    values: Mapping[str, Any], apis: Iterable[API], findings: Findings
) -> dict[str, dict[str, Any]]:
    """Return what the form of an agent suggests for each field."""
    there = {api.id for api in apis}
    chosen = [api for api in values.get(CONF_LLM_HASS_API, ()) if api in there]
    values = {**values, CONF_LLM_HASS_API: chosen}
    suggested = {
        name: {key: values[key] for key in keys if key in values}
        for name, keys in _SECTIONS.items()
    }
    for kind, places in findings.items():
        lines = (f"{one.line}:{one.column}  {one.expression}" for one in places)
        suggested[SECTION_PROMPT][kind] = "\n".join(lines)
    return suggested


def has_model(models: Iterable[Model], name: str) -> bool:
    """Return whether a model is among those of a server, by any of its names."""
    return full_name(name) in {full_name(model.name) for model in models}


def label(model: Model) -> str:
    """Return a model's name with its size on disk."""
    if not model.size:
        return model.name
    size = (
        f"{model.size / _GIGABYTE:.1f} GB"
        if model.size >= _GIGABYTE
        else f"{model.size / 1e6:.0f} MB"
    )
    return f"{model.name} ({size})"


def _basics(models: Iterable[Model], apis: Iterable[API], *, with_name: bool) -> probatio.Schema:
    """Return the fields that every agent needs."""
    name = {probatio.Required(CONF_NAME): TextSelector()}
    return probatio.Schema(
        {
            **(name if with_name else {}),
            probatio.Required(CONF_MODEL): _select(
                {model.name: label(model) for model in models},
                SelectSelectorMode.DROPDOWN,
                custom_value=True,
            ),
            probatio.Optional(CONF_LLM_HASS_API): _select(
                {api.id: api.name for api in apis}, SelectSelectorMode.LIST, multiple=True
            ),
        }
    )


def _select(
    options: Mapping[str, str],
    mode: SelectSelectorMode,
    *,
    multiple: bool = False,
    custom_value: bool = False,
) -> SelectSelector:
    """Return a field that offers values by their labels."""
    return SelectSelector(
        SelectSelectorConfig(
            options=[SelectOptionDict(value=value, label=text) for value, text in options.items()],
            mode=mode,
            multiple=multiple,
            custom_value=custom_value,
        )
    )


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


_PERFORMANCE = probatio.Schema(
    {
        probatio.Optional(CONF_NUM_CTX): _number(MIN_NUM_CTX, _TOKENS),
        probatio.Optional(CONF_MAX_HISTORY): _number(0),
        probatio.Optional(CONF_KEEP_ALIVE): _number(-1, "s"),
        probatio.Optional(CONF_THINK): BooleanSelector(),
        probatio.Optional(CONF_AUTO_WARM): BooleanSelector(),
        probatio.Optional(CONF_WARM_INTERVAL): _number(0, "min"),
    }
)
