"""The quality scale file is complete, and what it says is so, as far as that can be checked."""

import ast
from collections.abc import Callable, Iterator
import re
from typing import Any

import pytest

from homeassistant.util.yaml import parse_yaml

from .readme import everything_said, examples, section
from .repository import COMPONENT, ROOT, TRANSLATIONS, loaded, parsed, sources

# fmt: off
TIERS = {
    "Bronze": [
        "action-setup", "appropriate-polling", "brands", "common-modules",
        "config-flow-test-coverage", "config-flow", "dependency-transparency",
        "docs-actions", "docs-conditions", "docs-high-level-description",
        "docs-installation-instructions", "docs-removal-instructions", "docs-triggers",
        "entity-event-setup", "entity-unique-id", "has-entity-name", "runtime-data",
        "test-before-configure", "test-before-setup", "unique-config-entry",
    ],
    "Silver": [
        "action-exceptions", "config-entry-unloading", "docs-configuration-parameters",
        "docs-installation-parameters", "entity-unavailable", "integration-owner",
        "log-when-unavailable", "parallel-updates", "reauthentication-flow",
        "test-coverage",
    ],
    "Gold": [
        "devices", "diagnostics", "discovery", "discovery-update-info", "docs-data-update",
        "docs-examples", "docs-known-limitations", "docs-supported-devices",
        "docs-supported-functions", "docs-troubleshooting", "docs-use-cases",
        "dynamic-devices", "entity-category", "entity-device-class",
        "entity-disabled-by-default", "entity-translations", "exception-translations",
        "icon-translations", "reconfiguration-flow", "repair-issues", "stale-devices",
    ],
    "Platinum": [
        "async-dependency", "inject-websession", "strict-typing",
    ],
}
# fmt: on
NAMES = [name for names in TIERS.values() for name in names]
# The heading in the README, or on a page beside it, under which each rule finds what it asks for.
HEADINGS = {
    "docs-high-level-description": "Ollama Warm",
    "docs-use-cases": "Use cases",
    "docs-installation-instructions": "Install",
    "docs-installation-parameters": "Set up",
    "docs-configuration-parameters": "Options of an agent",
    "docs-supported-devices": "Supported servers and models",
    "docs-supported-functions": "Entities",
    "docs-actions": "Actions",
    "docs-data-update": "How data is updated",
    "docs-examples": "Examples",
    "docs-known-limitations": "Known limitations",
    "docs-troubleshooting": "Troubleshooting",
    "docs-removal-instructions": "Remove",
}
ENGLISH = loaded(TRANSLATIONS / "en.json")
ICONS = loaded(COMPONENT / "icons.json")
MANIFEST = loaded(COMPONENT / "manifest.json")
SERVICES: Any = parse_yaml((COMPONENT / "services.yaml").read_text())


def rules() -> dict[str, tuple[str, str]]:
    """Return the status and the comment of each rule."""
    data: Any = parse_yaml((COMPONENT / "quality_scale.yaml").read_text())
    assert list(data) == ["rules"]
    return {
        name: (rule, "") if isinstance(rule, str) else (rule["status"], rule.get("comment", ""))
        for name, rule in data["rules"].items()
    }


RULES = rules()


def source(name: str) -> str:
    """Return the text of a module of the component, empty where there is none."""
    path = COMPONENT / f"{name}.py"
    return path.read_text() if path.exists() else ""


def everything() -> str:
    """Return the text of all modules of the component."""
    return "\n".join(path.read_text() for path in sources(COMPONENT))


def functions(name: str) -> dict[str, str]:
    """Return the text of each function and method of a module, by its name."""
    return {
        node.name: ast.unparse(node)
        for node in ast.walk(parsed(COMPONENT / f"{name}.py"))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def platforms() -> list[str]:
    """Return the names of the platforms that are set up."""
    return [name.lower() for name in re.findall(r"Platform\.([A-Z_]+),", source("__init__"))]


def forms(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each form in the translations that has fields."""
    if isinstance(node.get("data"), dict):
        yield node
    for child in node.values():
        if isinstance(child, dict):
            yield from forms(child)


def keys_of_entities() -> set[tuple[str, str]]:
    """Return platform and key of each entity that has a name."""
    return {(platform, key) for platform, keys in ENGLISH["entity"].items() for key in keys}


def every_form_describes_its_fields() -> bool:
    """Return whether each field of each form has a description."""
    found = [*forms(ENGLISH["config"]), *forms(ENGLISH["config_subentries"])]
    return bool(found) and all(
        form["data"].keys() == form["data_description"].keys() for form in found
    )


def every_step_is_tested() -> bool:
    """Return whether the tests name each step that the flows show."""
    tests = "\n".join(path.read_text() for path in sources(ROOT / "tests" / "component"))
    flows = [ENGLISH["config"], *ENGLISH["config_subentries"].values(), ENGLISH["options"]]
    steps = {step for flow in flows for step in flow["step"]}
    return len(steps) > 3 and all(re.search(rf"\b{step}\b", tests) for step in steps)


def errors_are_translated() -> bool:
    """Return whether no error of Home Assistant's is raised with a text of its own."""
    made = re.findall(
        r"(?:HomeAssistantError|ServiceValidationError|UpdateFailed|ConfigEntry\w+Failed)\(\s*(.)",
        re.sub(r"class \w+\(\w+\)", "", everything()),
    )
    return len(made) > 3 and all(first == "t" for first in made)


CHECKS: dict[str, Callable[[], object]] = {
    "action-setup": lambda: (
        "async_setup_services" in functions("__init__")["async_setup"]
        and "services" not in functions("__init__")["async_setup_entry"]
    ),
    "appropriate-polling": lambda: re.search(
        r"^UPDATE_INTERVAL = ", source("coordinator"), re.MULTILINE
    ),
    "brands": (COMPONENT / "brand" / "icon.png").exists,
    "common-modules": lambda: (
        "DataUpdateCoordinator[" in source("coordinator")
        and "CoordinatorEntity[" in source("entity")
    ),
    "config-flow-test-coverage": every_step_is_tested,
    "config-flow": lambda: MANIFEST["config_flow"] and every_form_describes_its_fields(),
    "dependency-transparency": lambda: MANIFEST["requirements"] == [],
    "docs-conditions": lambda: not source("condition"),
    "docs-triggers": lambda: not source("trigger"),
    "entity-event-setup": lambda: all(
        "async_dispatcher_connect" not in functions(name).get("__init__", "")
        for name in platforms()
    ),
    "entity-unique-id": lambda: source("entity").count("_attr_unique_id = ") == 2,
    "has-entity-name": lambda: source("entity").count("_attr_has_entity_name = True") == 2,
    "runtime-data": lambda: "entry.runtime_data = " in source("__init__"),
    "test-before-configure": lambda: "client.version()" in source("config_flow"),
    "test-before-setup": lambda: (
        "async_config_entry_first_refresh()" in functions("__init__")["async_setup_entry"]
    ),
    "unique-config-entry": lambda: "_async_abort_entries_match(" in source("config_flow"),
    "action-exceptions": lambda: (
        "raise ServiceValidationError(" in source("services")
        and "raise" in functions("button")["async_press"]
    ),
    "config-entry-unloading": lambda: "async_unload_entry" in functions("__init__"),
    "entity-unavailable": lambda: "def available" not in everything(),
    "integration-owner": lambda: MANIFEST["codeowners"],
    "log-when-unavailable": lambda: "raise UpdateFailed(" in source("coordinator"),
    "parallel-updates": lambda: all(
        re.search(r"^PARALLEL_UPDATES = \d$", source(name), re.MULTILINE) for name in platforms()
    ),
    "reauthentication-flow": lambda: (
        {"async_step_reauth", "async_step_reauth_confirm"} <= functions("config_flow").keys()
        and "raise ConfigEntryAuthFailed(" in source("coordinator")
    ),
    "test-coverage": lambda: len(sources(ROOT / "tests" / "component")) > 20,
    "devices": lambda: "DeviceInfo(" in source("entity"),
    "diagnostics": lambda: "async_get_config_entry_diagnostics" in functions("diagnostics"),
    "discovery": lambda: not MANIFEST.keys() & {"zeroconf", "ssdp", "dhcp", "usb", "bluetooth"},
    "discovery-update-info": lambda: RULES["discovery"][0] == "exempt",
    "docs-actions": lambda: all(f"`ollama_warm.{name}`" in everything_said() for name in SERVICES),
    "docs-examples": lambda: len(list(examples())) >= 3,
    "entity-category": lambda: all(
        "EntityCategory." in source(name) for name in platforms() if name != "conversation"
    ),
    "entity-device-class": lambda: source("sensor").count("device_class=SensorDeviceClass.") >= 4,
    "entity-disabled-by-default": lambda: "entity_registry_enabled_default=False" in everything(),
    "entity-translations": lambda: all(
        ENGLISH["entity"][platform][key]["name"] for platform, key in keys_of_entities()
    ),
    "exception-translations": errors_are_translated,
    "icon-translations": lambda: (
        all(ICONS["entity"][platform][key]["default"] for platform, key in keys_of_entities())
        and ICONS["services"].keys() == SERVICES.keys()
    ),
    "reconfiguration-flow": lambda: (
        "async_step_reconfigure" in functions("config_flow")
        and "async_step_reconfigure" in functions("flow/agent_flow")
    ),
    "repair-issues": lambda: (
        "async_create_fix_flow" in functions("repairs") and "ir.async_create_issue(" in everything()
    ),
    "async-dependency": lambda: MANIFEST["requirements"] == [],
    "inject-websession": lambda: (
        "async_get_clientsession(hass)" in source("__init__")
        and not re.search(r"\bClientSession\(", everything())
    ),
    "strict-typing": lambda: (
        "strict = true" in (ROOT / "pyproject.toml").read_text()
        and "custom_components/ollama_warm" in (ROOT / "script" / "lint").read_text()
        and "type OllamaWarmConfigEntry = ConfigEntry[" in source("coordinator")
    ),
}


def test_all_rules() -> None:
    """Each rule has its word, and no rule is made up."""
    assert sorted(RULES) == sorted(NAMES)
    assert len(NAMES) == len(set(NAMES)) == 54


@pytest.mark.parametrize("name", NAMES)
def test_words(name: str) -> None:
    """A rule that is not done says why."""
    status, comment = RULES[name]
    assert status in {"done", "exempt", "todo"}
    assert status == "done" or len(comment.split()) > 4


@pytest.mark.parametrize("name", CHECKS)
def test_it_is_so(name: str) -> None:
    """What is said to be done is there, and what is said not to apply does not."""
    assert RULES[name][0] == "todo" or CHECKS[name]()


@pytest.mark.parametrize(("name", "heading"), HEADINGS.items())
def test_documentation(name: str, heading: str) -> None:
    """The README, or a page beside it, has a section for each rule that wants one."""
    assert RULES[name][0] == "todo" or len(section(heading).split()) > 20


def test_the_tier_that_is_claimed() -> None:
    """The reference claims the tier that follows from the rules, and says whose judgement it is."""
    reached = "none"
    for tier, names in TIERS.items():
        if any(RULES[name][0] == "todo" for name in names):
            break
        reached = tier
    text = section("Quality")
    assert re.findall(r"\*\*(\w+)\*\*", text) == [reached.lower()]
    assert "ourselves" in text
