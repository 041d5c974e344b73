"""Home Assistant's repairs as a test looks at them, and agents of Home Assistant's own."""

from types import MappingProxyType

from pytest_homeassistant_custom_component.common import (  # type: ignore[import-untyped]
    MockConfigEntry,
    MockModule,
    mock_integration,
)

from custom_components.ollama_warm.const import DOMAIN
from homeassistant.config_entries import ConfigEntry, ConfigSubentry, ConfigSubentryDataWithId
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir


def issues(hass: HomeAssistant) -> dict[str, ir.IssueEntry]:
    """Return our issues that are active, by their translation keys."""
    return {
        str(issue.translation_key): issue
        for (domain, _), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and issue.active
    }


def ours(hass: HomeAssistant) -> set[str]:
    """Return the ids of all our issues, also of those that are only remembered as ignored."""
    return {issue_id for domain, issue_id in ir.async_get(hass).issues if domain == DOMAIN}


def change(hass: HomeAssistant, entry: ConfigEntry, subentry_id: str, **options: object) -> None:
    """Change options of an agent; None takes one away."""
    subentry = entry.subentries[subentry_id]
    data = {k: v for k, v in {**subentry.data, **options}.items() if v is not None}
    hass.config_entries.async_update_subentry(entry, subentry, data=data)


def add_agent(hass: HomeAssistant, entry: ConfigEntry, name: str, **options: object) -> None:
    """Add another agent like the first one to a server."""
    subentry = ConfigSubentry(
        data=MappingProxyType({**entry.subentries["agent"].data, **options}),
        subentry_id=name,
        subentry_type="conversation",
        title=name.title(),
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, subentry)


def add_core_agent(
    hass: HomeAssistant, url: str, *, kind: str = "conversation", **options: object
) -> ConfigEntry:
    """Add an agent of Home Assistant's own Ollama integration; it need not be set up."""
    agent = ConfigSubentryDataWithId(
        data={"model": "tiny:latest", **options},
        subentry_id="core",
        subentry_type=kind,
        title="Core",
        unique_id=None,
    )
    mock_integration(hass, MockModule("ollama"))
    entry: ConfigEntry = MockConfigEntry(
        domain="ollama", entry_id="ollama", data={"url": url}, subentries_data=[agent]
    )
    entry.add_to_hass(hass)  # type: ignore[attr-defined]
    return entry
