"""What a person types in for a server: what of it is stored, refused, or shown once more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import probatio

from homeassistant.const import CONF_API_KEY, CONF_PASSWORD, CONF_URL

from ..ollama.address import Address, has_login

_BASE = "base"
# Behind these, an address that cannot be read may hold something secret.
_MARKS = "@?#"


@dataclass(frozen=True, slots=True)
class ServerForm:
    """The fields of a server, each in its place. What is shown holds no secret in the address."""

    values: dict[str, str]
    """What is to be stored if there are no errors, and is shown again if there are."""
    errors: dict[str, str]


def read_server_form(user_input: Mapping[str, Any]) -> ServerForm:
    """Put the user info of the address into the fields that it belongs to, and say what is wrong.

    A password is left as it is, as blanks may belong to it.
    """
    values = {
        key: str(value) if key == CONF_PASSWORD else str(value).strip()
        for key, value in user_input.items()
        if str(value).strip()
    }
    text = values.pop(CONF_URL, "")
    try:
        address = Address.read(text)
    except probatio.Invalid:
        shown = {} if any(mark in text for mark in _MARKS) else {CONF_URL: text}
        return ServerForm({**shown, **values}, {CONF_URL: "invalid_url"})
    values = {CONF_URL: address.url, **address.credential, **values}
    errors = {CONF_URL: "not_only_an_address"} if address.cut else {}
    two_logins = any(values[key] != value for key, value in address.credential.items())
    if two_logins or (CONF_API_KEY in values and has_login(values)):
        errors[_BASE] = "two_credentials"
    return ServerForm(values, errors)
