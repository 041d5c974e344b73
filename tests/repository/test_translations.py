"""Every sentence that the component may show is there, in every language, as hassfest wants."""

import ast
from collections.abc import Iterator
import re
import string
from typing import Any

import pytest

from custom_components.ollama_warm.ollama import errors as api
from custom_components.ollama_warm.tools import words

from .repository import COMPONENT, ROOT, TRANSLATIONS, loaded, parsed, sources

LANGUAGES = sorted(path.stem for path in TRANSLATIONS.glob("*.json"))
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
URL = re.compile(r"(?:https?://|www\.)[\w.-]+\.[a-z]{2,5}\b|\b[\w-]+\.(?:com|org|io|net)\b")
CLASSES: list[type[api.OllamaError]] = [api.OllamaError, *api.OllamaError.__subclasses__()]
ERRORS = {error.key for error in CLASSES}


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
    """English and French are there; the tools and the reference have the same languages."""
    assert {"en", "fr"} <= set(LANGUAGES)
    assert sorted(words.LANGUAGES) == LANGUAGES
    for sentence in (
        r"question: (.+?), and English otherwise",
        r"words of the integration are there in (.+?)\.",
    ):
        (named,) = re.findall(sentence, REFERENCE)
        assert len(re.split(r", | and | or ", named)) == len(LANGUAGES)


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
