"""Walking through the forms of the integration, and reading them as a person does.

Everything that is shown must have its words: titles, fields and what they mean, choices,
errors, ends.
"""

from collections.abc import Mapping
from typing import Any

from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
)

from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntry,
    ConfigFlowResult,
    SubentryFlowResult,
)
from homeassistant.const import CONF_API_KEY, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, section

from .house import OPTIONS
from .sentences import sentence

type Result = ConfigFlowResult | SubentryFlowResult

SECTIONS = {
    "basics": ("name", "model", "llm_hass_api"),
    "prompt": ("prompt", "seconds", "state", "keep_as_is"),
    "performance": (
        "num_ctx",
        "max_history",
        "keep_alive",
        "think",
        "auto_warm",
        "warm_interval",
    ),
}
# What the form in the browser sends: its numbers are no whole ones.
NEW_AGENT = OPTIONS | {"name": "Second", "num_ctx": 8192.0, "max_history": 5.0, "keep_alive": 600.0}


def filled_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent's values as its form sends them, in sections."""
    return {
        name: {key: values[key] for key in keys if key in values} for name, keys in SECTIONS.items()
    }


def suggested(result: Result) -> dict[str, Any]:
    """Return what a form suggests for each of its fields, in whichever section."""
    found: dict[str, Any] = {}
    assert result["data_schema"] is not None
    for key, value in result["data_schema"].schema.items():
        fields = value.schema.schema if isinstance(value, section) else {key: value}
        for field in fields:
            if field.description:
                found[str(field)] = field.description["suggested_value"]
    return found


def fields(result: Result, name: str | None = None) -> list[str]:
    """Return the names of a form's fields, or of those of a section."""
    assert result["data_schema"] is not None
    schema = result["data_schema"].schema
    if name:
        schema = next(value for key, value in schema.items() if key == name).schema.schema
    return [str(key) for key in schema]


async def read_through[R: (ConfigFlowResult, SubentryFlowResult)](
    hass: HomeAssistant, result: R, category: str = ""
) -> R:
    """Return a result of a flow, after reading all that is shown of it."""
    category = category or ("config" if isinstance(result["handler"], str) else "config_subentries")
    root = "conversation." if category == "config_subentries" else ""
    values = result.get("description_placeholders") or {}

    async def read(key: str) -> str:
        return await sentence(hass, category, root + key, values)

    match result["type"]:
        case FlowResultType.FORM:
            await _read_form(result, read)
        case FlowResultType.MENU:
            await read(f"step.{result['step_id']}.title")
            await read(f"step.{result['step_id']}.description")
            for option in result["menu_options"]:  # type: ignore[attr-defined]
                await read(f"step.{result['step_id']}.menu_options.{option}")
        case FlowResultType.SHOW_PROGRESS:
            await read(f"step.{result['step_id']}.title")
            await read(f"progress.{result['progress_action']}")
        case FlowResultType.ABORT:
            assert "translation_domain" not in result
            await read(f"abort.{result['reason']}")
        case FlowResultType.CREATE_ENTRY:
            if result.get("description"):
                await read(f"create_entry.{result['description']}")
    return result


async def _read_form(result: Result, read: Any) -> None:  # noqa: ANN401 - a function inside another
    """Read a form from top to bottom."""
    step = f"step.{result['step_id']}"
    await read(f"{step}.title")
    assert result["data_schema"] is not None
    for key, value in result["data_schema"].schema.items():
        path, names = step, [key]
        if isinstance(value, section):
            path, names = f"{step}.sections.{key}", list(value.schema.schema)
            await read(f"{path}.name")
            await read(f"{path}.description")
        for name in names:
            await read(f"{path}.data.{name}")
            await read(f"{path}.data_description.{name}")
    for field, error in (result["errors"] or {}).items():
        assert field == "base" or field in result["data_schema"].schema
        await read(f"error.{error}")


async def start(hass: HomeAssistant) -> ConfigFlowResult:
    """Begin to add a server."""
    flow = await hass.config_entries.flow.async_init("ollama_warm", context={"source": SOURCE_USER})
    return await read_through(hass, flow)


async def answer(hass: HomeAssistant, flow: ConfigFlowResult, **values: Any) -> ConfigFlowResult:  # noqa: ANN401 - as forms are
    """Fill in the form of a server, or choose."""
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], values)
    await hass.async_block_till_done()
    return await read_through(hass, result)


async def choose[R: (ConfigFlowResult, SubentryFlowResult)](
    hass: HomeAssistant, flow: R, option: str
) -> R:
    """Choose from a menu."""
    choice = {"next_step_id": option}
    if isinstance(flow["handler"], str):
        return await read_through(
            hass, await hass.config_entries.flow.async_configure(flow["flow_id"], choice)
        )
    result = await hass.config_entries.subentries.async_configure(flow["flow_id"], choice)
    await hass.async_block_till_done()
    return await read_through(hass, result)


async def refused(hass: HomeAssistant, result: Result, field: str = "base") -> str:
    """Return the words with which an answer was refused."""
    assert result["type"] is FlowResultType.FORM
    assert result["errors"] is not None
    assert list(result["errors"]) == [field]
    agent = not isinstance(result["handler"], str)
    category, root = ("config_subentries", "conversation.") if agent else ("config", "")
    key = f"{root}error.{result['errors'][field]}"
    return await sentence(hass, category, key, result["description_placeholders"])


async def start_agent(
    hass: HomeAssistant, entry: ConfigEntry, **context: str
) -> SubentryFlowResult:
    """Begin to add an agent, or to change one."""
    flow = await hass.config_entries.subentries.async_init(
        (entry.entry_id, "conversation"),
        context={"source": SOURCE_USER} | context,  # type: ignore[arg-type]
    )
    return await read_through(hass, flow)


async def change_agent(hass: HomeAssistant, entry: ConfigEntry) -> SubentryFlowResult:
    """Begin to change the agent that is there."""
    return await start_agent(hass, entry, source="reconfigure", subentry_id="agent")


async def answer_agent(
    hass: HomeAssistant, flow: SubentryFlowResult, values: Mapping[str, Any]
) -> SubentryFlowResult:
    """Fill in the form of an agent."""
    result = await hass.config_entries.subentries.async_configure(
        flow["flow_id"], filled_in(values)
    )
    await hass.async_block_till_done()
    return await read_through(hass, result)


async def aborted(hass: HomeAssistant, result: SubentryFlowResult, language: str = "en") -> str:
    """Return the words with which a flow of an agent ended."""
    assert result["type"] is FlowResultType.ABORT
    key = f"conversation.abort.{result['reason']}"
    values = result.get("description_placeholders")
    return await sentence(hass, "config_subentries", key, values, language)


def add_core(
    hass: HomeAssistant, url: str, api_key: str | None = None, **agents: Mapping[str, Any]
) -> ConfigEntry:
    """Add an entry of Home Assistant's own integration, with agents by title."""
    subentries = [
        {
            "data": data,
            "subentry_id": f"core-{title}",
            "subentry_type": "conversation",
            "title": title,
            "unique_id": None,
        }
        for title, data in agents.items()
    ]
    entry: ConfigEntry = MockConfigEntry(
        domain="ollama",
        version=3,
        minor_version=3,
        data={CONF_URL: url, **({CONF_API_KEY: api_key} if api_key else {})},
        subentries_data=subentries,
    )
    entry.add_to_hass(hass)  # type: ignore[attr-defined]
    return entry
