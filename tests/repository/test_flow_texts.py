"""The forms of the flows: whatever they show has its words, and no words are left over."""

import re

import probatio

from custom_components.ollama_warm.flow import flow_schema
from custom_components.ollama_warm.flow.core_import import CoreAgent
from custom_components.ollama_warm.ollama.errors import ModelNotFoundError
from custom_components.ollama_warm.prefix import lint
from homeassistant.data_entry_flow import section

from .repository import COMPONENT
from .test_translations import ERRORS, below

SERVER = (COMPONENT / "config_flow.py").read_text()
FIELDS = (COMPONENT / "flow" / "server_form.py").read_text()
AGENT = (COMPONENT / "flow" / "agent_flow.py").read_text()
AGENT_TEXTS = "config_subentries.conversation"
# Notes stop no one, so the form says nothing of them.
SHOWN_KINDS = set(lint.Mover) - lint._NOTES


def found(pattern: str, source: str) -> set[str]:
    """Return the strings in a source that a pattern picks out."""
    return set(re.findall(pattern, source))


def steps(source: str) -> set[str]:
    """Return the steps that are shown."""
    return found(r'(?:(?<!next_)step_id=|_form\()"(\w+)"', source)


def check_fields(path: str, schema: probatio.Schema) -> None:
    """Check that each field of a form has a name and says what it means, and no other has."""
    names = {str(key) for key in schema.schema}
    assert below(f"{path}.data") == below(f"{path}.data_description") == names


def test_the_forms_of_a_server() -> None:
    """Each step, field, error, abort and choice has its words, and no other has."""
    assert below("config.step") | below("options.step") == steps(SERVER)
    agents = {"one": CoreAgent(title="", server={}, data={"model": ""})}
    check_fields("config.step.server", flow_schema.SERVER_SCHEMA)
    check_fields("config.step.reconfigure", flow_schema.SERVER_SCHEMA)
    check_fields("config.step.reauth_confirm", flow_schema.CREDENTIALS_SCHEMA)
    check_fields("config.step.take_over", flow_schema.take_over_schema(agents))
    check_fields("options.step.init", flow_schema.OPTIONS_SCHEMA)
    wrong = found(r'CONF_URL: "(\w+)"', FIELDS) | found(r'errors\[\w+\] = "(\w+)"', FIELDS)
    assert below("config.error") == wrong | ERRORS
    own = found(r'reason="(\w+)"', SERVER) | found(r'data, "(\w+)"\)', SERVER)
    assert below("config.abort") == own | {"already_configured"}
    assert below("config.step.user.menu_options") == menu("user", SERVER)


def test_the_forms_of_an_agent() -> None:
    """Each step, section, field, error, abort and choice has its words, and no other has."""
    assert below(f"{AGENT_TEXTS}.step") == steps(AGENT)
    assert below(f"{AGENT_TEXTS}.initiate_flow") == {"user", "reconfigure"}
    schema = flow_schema.agent_schema(
        [], [], with_name=True, findings={kind.value: [] for kind in SHOWN_KINDS}, with_keep=True
    )
    path = f"{AGENT_TEXTS}.step.agent.sections"
    assert below(path) == {str(key) for key in schema.schema}
    for name, part in schema.schema.items():
        assert isinstance(part, section)
        assert {"name", "description"} <= below(f"{path}.{name}")
        check_fields(f"{path}.{name}", part.schema)
    own = found(r'_form\(\{SECTION_\w+: "(\w+)"', AGENT) | found(r'key = "(\w+)"', AGENT)
    assert below(f"{AGENT_TEXTS}.error") == own | ERRORS
    reasons = found(r'reason="(\w+)"', AGENT) | found(r'else "(reconfigure\w+)"', AGENT)
    reasons |= found(r'AbortFlow\("(\w+)"\)', AGENT) | ERRORS - {ModelNotFoundError.key}
    assert below(f"{AGENT_TEXTS}.abort") == reasons
    for step in ("user", "missing", "window"):
        options = below(f"{AGENT_TEXTS}.step.{step}.menu_options")
        assert options == menu(step, AGENT) != set()
    assert below(f"{AGENT_TEXTS}.progress") == found(r'progress_action="(\w+)"', AGENT)
    assert below(f"{AGENT_TEXTS}.create_entry") == found(r'description="(\w+)"', AGENT)


def menu(step: str, source: str) -> set[str]:
    """Return the choices of a menu."""
    (options,) = found(rf'step_id="{step}",\s+menu_options=\[([^]]+)\]', source)
    return found(r'"(\w+)"', options)
