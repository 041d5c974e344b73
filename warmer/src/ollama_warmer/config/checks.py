"""Checks single values of the configuration file, in the words of the file."""

from collections.abc import Callable, Iterable, Mapping
import math
from pathlib import Path
import re
from typing import Any
from urllib.parse import urlsplit

import voluptuous as vol

from ollama_warmer.questions import PLACEHOLDER

_TYPE_NAMES = {str: "text", bool: "true or false", int: "a number", float: "a number"}
_LONGEST_TIMEOUT = 86_400


def sentence(mistake: vol.Invalid) -> str:
    """Return a mistake as `key: what is wrong`."""
    what = "is missing" if isinstance(mistake, vol.RequiredFieldInvalid) else mistake.msg
    where = ""
    for part in mistake.path:
        where += f"[{part}]" if isinstance(part, int) else f".{part}"
    return f"{where.removeprefix('.')}: {what}" if where else what


def table(keys: Mapping[Any, object]) -> Callable[[object], object]:
    """Return a check of a table that names the allowed keys when it meets another one."""
    allowed = sorted(str(key) for key in keys)
    schema = vol.Schema(dict(keys))

    def check(value: object) -> object:
        if not isinstance(value, dict):
            raise vol.Invalid("has to be a table, with its name in [brackets] above its keys")
        if unknown := sorted(set(value) - set(allowed)):
            explanation = f"is not a known key, allowed are {', '.join(allowed)}"
            raise vol.MultipleInvalid([vol.Invalid(explanation, [key]) for key in unknown])
        return schema(value)

    return check


def tables(value: object) -> object:
    """Check that the value is a list with something in it."""
    if not isinstance(value, list):
        raise vol.Invalid("has to be a list of tables, each under its own [[targets]]")
    if not value:
        raise vol.Invalid("is empty: write at least one [[targets]]")
    return value


def text(value: object) -> str:
    """Check for text with something in it; return it without blanks around it."""
    if not isinstance(value, str):
        raise vol.Invalid(f"has to be text in quotes, not {_kind(value)}")
    if not value.strip():
        raise vol.Invalid("is empty")
    return value.strip()


def identifier(value: object) -> str:
    """Check for an id: text without blanks."""
    checked = text(value)
    if re.search(r"\s", checked):
        raise vol.Invalid("is not an id: it has blanks in it")
    return checked


def name(value: object) -> str:
    """Check for the name of a unit or a container, which must not look like an option."""
    checked = identifier(value)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.@:\\-]*", checked):
        raise vol.Invalid("is not a name: it begins with a letter or digit")
    return checked


def file_path(value: object) -> Path:
    """Check for the full path of a file."""
    try:
        path = Path(text(value)).expanduser()
    except RuntimeError as err:
        raise vol.Invalid(
            "begins with the home folder of an unknown user: write it in full"
        ) from err
    if not path.is_absolute() or "\0" in str(path):
        raise vol.Invalid('has to be a full path such as "/var/log/ollama.log"')
    return path


def command(value: object) -> tuple[str, ...]:
    """Check for a program and its arguments."""
    if not isinstance(value, list) or not value:
        raise vol.Invalid('has to be a list such as ["ssh", "gpu", "journalctl -fu ollama -o cat"]')
    return tuple(text(word) for word in value)


def one_of(names: Iterable[str]) -> Callable[[object], str]:
    """Return a check for one of these names."""
    allowed = list(names)

    def check(value: object) -> str:
        checked = text(value)
        if checked not in allowed:
            raise vol.Invalid(f"is not known, allowed are {', '.join(allowed)}")
        return checked

    return check


def language(value: object) -> str:
    """Check for a language tag."""
    checked = text(value)
    if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*", checked):
        raise vol.Invalid('is not a language tag such as "en" or "pt-BR"')
    return checked


def new_question(value: object) -> str:
    """Check for a question that is new each time it is asked."""
    checked = text(value)
    if PLACEHOLDER not in checked:
        raise vol.Invalid(
            f"needs {PLACEHOLDER} in it, where a new number is put each time: a question that the "
            "server has seen before proves nothing"
        )
    return checked


def seconds(value: object) -> float:
    """Check for a time span above zero and up to a day."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise vol.Invalid(f"has to be a number of seconds, not {_kind(value)}")
    if not math.isfinite(value) or not 0 < value <= _LONGEST_TIMEOUT:
        raise vol.Invalid(f"has to be above 0 and at most {_LONGEST_TIMEOUT} seconds")
    return float(value)


def tokens(value: object) -> int:
    """Check for a number of tokens above zero."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise vol.Invalid("has to be a whole number of tokens above 0, such as 16384")
    return value


def keep_alive(value: object) -> int | str:
    """Check for what Ollama takes as keep_alive: seconds, or a span with its unit."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= -1:
        return value
    if isinstance(value, str) and re.fullmatch(r"-1|(\d+(\.\d+)?(ms|s|m|h))+", value.strip()):
        return value.strip()
    raise vol.Invalid('has to be seconds such as 300, a span such as "5m", or -1 for ever')


def think(value: object) -> bool | str:
    """Check for what Ollama takes as think: true, false or a level."""
    if isinstance(value, bool):
        return value
    return one_of(("low", "medium", "high"))(value)


def web_address(value: object) -> str:
    """Check for scheme, host and port of a web address; return it without a slash at the end."""
    checked = text(value)
    example = 'write it like "http://homeassistant.local:8123"'
    try:
        parts = urlsplit(checked)
        port_is_wrong = parts.port == 0
    except ValueError as err:
        raise vol.Invalid(f"is not a web address: {example}") from err
    if parts.scheme not in {"http", "https"} or not parts.hostname or port_is_wrong:
        raise vol.Invalid(f"is not an address with http or https: {example}")
    if parts.username is not None or parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise vol.Invalid(f"has more than scheme, host and port: {example}")
    return f"{parts.scheme}://{parts.netloc}"


def _kind(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return _TYPE_NAMES.get(type(value), "a date or time")
