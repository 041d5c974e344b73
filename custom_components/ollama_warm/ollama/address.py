"""The address of a server, apart from what is secret in it, and the credential that it is sent."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
import re
from typing import Any, Self

import probatio
from yarl import URL

from homeassistant.const import CONF_API_KEY, CONF_PASSWORD, CONF_URL, CONF_USERNAME
from homeassistant.helpers import config_validation as cv

_USER_INFO = re.compile(r"://[^\s/?#]*@")
_REST = re.compile(r"(://[^\s?#]*)[?#]\S*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An address as it may be stored and shown, and what stood in it that may not."""

    url: str
    username: str = ""
    password: str = ""
    cut: bool = False
    """Whether a query or a fragment was left out: a server's address has none."""

    @classmethod
    def read(cls, text: object) -> Self:
        """Take an address apart. Raises probatio.Invalid if it is none."""
        try:
            url = URL(cv.url(text))
            plain = url.with_user(None).with_query(None).with_fragment(None)
        except ValueError as err:
            # yarl is stricter than Home Assistant.
            raise probatio.Invalid("invalid url") from err
        return cls(
            url=str(plain).rstrip("/"),
            username=url.user or "",
            password=url.password or "",
            cut=bool(url.raw_query_string or url.raw_fragment),
        )

    @property
    def credential(self) -> dict[str, str]:
        """Return the user info as it is stored."""
        found = {CONF_USERNAME: self.username, CONF_PASSWORD: self.password}
        return {key: value for key, value in found.items() if value}


def is_same_server(first: object, second: object) -> bool:
    """Return whether two addresses are those of one server, whatever else stands in them."""
    try:
        return Address.read(first).url == Address.read(second).url
    except probatio.Invalid:
        return False


def server_data(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a server with the user info of its address as the credential.

    An API key stays the only one, as aiohttp refuses to send both, and Home Assistant's own
    integration sends no user info (`_parse_host` in `ollama` 0.6.2 leaves it out). Raises
    probatio.Invalid if there is no address.
    """
    address = Address.read(values.get(CONF_URL))
    others = {} if values.get(CONF_API_KEY) else address.credential
    return {**others, **values, CONF_URL: address.url}


def has_login(data: Mapping[str, Any]) -> bool:
    """Return whether there is a user name or a password in the settings of a server."""
    return bool(data.get(CONF_USERNAME) or data.get(CONF_PASSWORD))


def authorization(values: Mapping[str, Any]) -> str:
    """Return the header that identifies Home Assistant to a server, empty if there is none."""
    if key := values.get(CONF_API_KEY):
        return f"Bearer {key}"
    if not has_login(values):
        return ""
    login = f"{values.get(CONF_USERNAME, '')}:{values.get(CONF_PASSWORD, '')}"
    return f"Basic {b64encode(login.encode(errors='replace')).decode()}"


def without_secrets(text: str) -> str:
    """Return a text whose addresses have no user info, query or fragment."""
    return _REST.sub(r"\1", _USER_INFO.sub("://", text))
