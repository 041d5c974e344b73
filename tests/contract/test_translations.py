"""Every sentence that the component may show is there, in every language, as hassfest wants."""

import ast
from collections.abc import Iterator
import re
import string
from typing import Any

import pytest

from custom_components.ollama_warm import api, config_flow

from .repository import COMPONENT, TRANSLATIONS, loaded, parsed, sources

LANGUAGES = sorted(path.stem for path in TRANSLATIONS.glob("*.json"))
URL = re.compile(r"(?:https?://|www\.)[\w.-]+\.[a-z]{2,5}\b|\b[\w-]+\.(?:com|org|io|net)\b")
CLASSES: list[type[api.OllamaError]] = [api.OllamaError, *api.OllamaError.__subclasses__()]
ERRORS = {error.key for error in CLASSES}
# Only a chat names a model.
WITHOUT_MODEL = ERRORS - {api.ModelNotFoundError.key}


def texts(data: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text of a language with its key."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from texts(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def language(name: str) -> dict[str, str]:
    """Return all texts of a language by key."""
    return dict(texts(loaded(TRANSLATIONS / f"{name}.json")))


def placeholders(text: str) -> set[str]:
    """Return the names of the values that a text wants."""
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


ENGLISH = language("en")


def below(prefix: str) -> set[str]:
    """Return the English keys right below a key."""
    return {
        key.removeprefix(f"{prefix}.").partition(".")[0]
        for key in ENGLISH
        if key.startswith(f"{prefix}.")
    }


def fields(node: ast.AST) -> set[str]:
    """Return the names of the form fields that are declared below a node."""
    found = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in {
            "probatio.Required",
            "probatio.Optional",
        }:
            (name, *_) = call.args
            found.add(str(getattr(config_flow, ast.unparse(name))))
    return found


def part_of_flow(name: str) -> ast.AST:
    """Return the assignment or class with this name in config_flow.py."""
    for node in parsed(COMPONENT / "config_flow.py").body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
    raise LookupError(name)


def constants(node: ast.AST, pattern: str) -> set[str]:
    """Return the strings in the source below a node that a pattern picks out."""
    return set(re.findall(pattern, ast.unparse(node)))


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_same_in_every_language(name: str) -> None:
    """Each language has the keys of English, with the same values to fill in, in their order."""
    other = language(name)
    assert list(other) == list(ENGLISH)
    for key, text in other.items():
        assert placeholders(text) == placeholders(ENGLISH[key]), key


@pytest.mark.parametrize("name", LANGUAGES)
def test_texts_are_as_hassfest_wants(name: str) -> None:
    """No markup, no blanks around, no address but localhost, no odd placeholders."""
    for key, text in language(name).items():
        assert text == text.strip() != "", key
        assert not re.search(r"<[a-z/]", text), key
        assert not re.search(r"'\{\w+\}'", text), key
        assert not URL.search(text), key
        assert all(field.isidentifier() for field in placeholders(text)), key


def test_languages() -> None:
    """English and French are there."""
    assert {"en", "fr"} <= set(LANGUAGES)


def test_the_form_of_a_server() -> None:
    """Each step, field, error and abort of the server's form has its words, and no other has."""
    node = part_of_flow("OllamaWarmConfigFlow")
    steps = constants(node, r"step_id='(\w+)'")
    assert below("config.step") == steps
    for step in steps:
        assert below(f"config.step.{step}.data") == fields(part_of_flow("SERVER_SCHEMA"))
        assert below(f"config.step.{step}.data_description") == below(f"config.step.{step}.data")
    own = constants(node, r"errors\[\w+\] = '(\w+)'")
    assert below("config.error") == own | WITHOUT_MODEL
    assert "already_configured" in below("config.abort")
    assert constants(node, r"reason='(\w+)'") <= below("config.abort")


def test_the_form_of_an_agent() -> None:
    """Each step, field, error and abort of an agent's form has its words, and no other has."""
    node = part_of_flow("AgentFlow")
    prefix = "config_subentries.conversation"
    assert {"entry_type", "initiate_flow"} <= below(prefix)
    steps = constants(node, r"async_step_(\w+)")
    assert below(f"{prefix}.step") == below(f"{prefix}.initiate_flow") == steps
    for step in steps:
        wanted = fields(node) - ({"name"} if step == "reconfigure" else set())
        assert below(f"{prefix}.step.{step}.data") == wanted
        assert below(f"{prefix}.step.{step}.data_description") == wanted
    assert below(f"{prefix}.error") == constants(node, r"errors\[\w+\] = '(\w+)'")
    own = constants(node, r"reason='(\w+)'")
    assert below(f"{prefix}.abort") == own | WITHOUT_MODEL | {"reconfigure_successful"}


def test_exceptions() -> None:
    """Each exception has its words, and no words are without an exception."""
    used = set(ERRORS)
    for path in sources(COMPONENT):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call):
                used |= {
                    keyword.value.value
                    for keyword in node.keywords
                    if keyword.arg == "translation_key"
                    and isinstance(keyword.value, ast.Constant)
                    and isinstance(keyword.value.value, str)
                }
    assert below("exceptions") == used


def test_values_of_exceptions() -> None:
    """Wherever one of our errors is made, it is given what its sentence wants."""
    classes = {cls.__name__: cls.key for cls in CLASSES}
    made = 0
    for path in sources(COMPONENT):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and (key := classes.get(ast.unparse(node.func))):
                given = {keyword.arg for keyword in node.keywords}
                for text in (k for k in ENGLISH if k.split(".")[-1] == key or f".{key}." in k):
                    assert placeholders(ENGLISH[text]) <= given, (path.name, node.lineno, text)
                made += 1
    assert made > 5
