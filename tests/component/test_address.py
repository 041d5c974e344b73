"""Addresses with something secret in them, and what is left to be stored and shown."""

from base64 import b64decode
from typing import Any

import aiohttp
from hypothesis import given, settings, strategies as st
import probatio
import pytest
from yarl import URL

from custom_components.ollama_warm.flow.server_form import read_server_form
from custom_components.ollama_warm.ollama.address import (
    Address,
    authorization,
    is_same_server,
    server_data,
    without_secrets,
)
from custom_components.ollama_warm.ollama.client import OllamaClient
from homeassistant.const import CONF_API_KEY, CONF_PASSWORD, CONF_URL, CONF_USERNAME

HOST = "http://nas:11434"
# Typed in -> address, user name, password, whether something was cut off.
KINDS: dict[str, tuple[str, str, str, bool]] = {
    "http://nas:11434": (HOST, "", "", False),
    "http://nas:11434/": (HOST, "", "", False),
    "HTTP://NAS:11434": (HOST, "", "", False),
    "http://user:secret@nas:11434": (HOST, "user", "secret", False),
    "http://user:secret@nas:11434/": (HOST, "user", "secret", False),
    "HTTP://User:Secret@NAS:11434//": (HOST, "User", "Secret", False),
    "http://secret@nas:11434": (HOST, "secret", "", False),
    "http://secret:@nas:11434": (HOST, "secret", "", False),
    "http://:secret@nas:11434": (HOST, "", "secret", False),
    "http://@nas:11434": (HOST, "", "", False),
    "http://:@nas:11434": (HOST, "", "", False),
    "http://us%40er:se%3Acr%2Fet@nas:11434": (HOST, "us@er", "se:cr/et", False),
    "http://us%3Aer:secret@nas:11434": (HOST, "us:er", "secret", False),
    "http://user@home:secret@nas:11434": (HOST, "user@home", "secret", False),
    "http://user:se:cret@nas:11434": (HOST, "user", "se:cret", False),
    "http://user:se cret@nas:11434": (HOST, "user", "se cret", False),
    "http://user:%20secret%20@nas:11434": (HOST, "user", " secret ", False),
    "http://user:secret%25@nas:11434": (HOST, "user", "secret%", False),
    "http://user:secret%@nas:11434": (HOST, "user", "secret%", False),
    "http://user:secret+x@nas:11434": (HOST, "user", "secret+x", False),
    "http://user:secret%23%3F@nas:11434": (HOST, "user", "secret#?", False),
    "http://müller:größe@nas:11434": (HOST, "müller", "größe", False),
    "http://m%C3%BCller:gr%C3%B6%C3%9Fe@nas:11434": (HOST, "müller", "größe", False),
    "http://user:secret@nas": ("http://nas", "user", "secret", False),
    "http://user:secret@nas:80": ("http://nas", "user", "secret", False),
    "https://user:secret@nas:443/": ("https://nas", "user", "secret", False),
    "https://user:secret@nas:8443/ollama/": ("https://nas:8443/ollama", "user", "secret", False),
    "http://user:secret@192.168.1.2:11434": ("http://192.168.1.2:11434", "user", "secret", False),
    "http://user:secret@[fd00::1]:11434": ("http://[fd00::1]:11434", "user", "secret", False),
    "http://nas:11434?api_key=secret": (HOST, "", "", True),
    "http://nas:11434/?token=secret": (HOST, "", "", True),
    "http://nas:11434/ollama?secret": (f"{HOST}/ollama", "", "", True),
    "http://nas:11434#secret": (HOST, "", "", True),
    "http://nas:11434/#access_token=secret": (HOST, "", "", True),
    "http://nas:11434/?a=1&key=secret#secret": (HOST, "", "", True),
    "http://user:secret@nas:11434/?token=secret": (HOST, "user", "secret", True),
    "http://nas:11434/?": (HOST, "", "", False),
    "http://nas:11434/#": (HOST, "", "", False),
    "http://nas:11434/@secret": (f"{HOST}/@secret", "", "", False),
}
NONE = (
    *("", "nas:11434", "user:secret@nas:11434", "ftp://user:secret@nas", "//user:secret@nas"),
    *("http://user:secret@", "http://user:secret@:11434", "http://user:se/cret@nas"),
    *("http://user:se#cret@nas", "http://user:se?cret@nas", "http://user:secret@nas:99999"),
    *("http://user:secret@nas:port", "http://user:secret@[::1", "http://user:se[cret@nas"),
    *("http://nas\\@secret", "http://user:secret\\@nas", "http://user:se]cret@nas"),
)
CREDENTIAL = {CONF_USERNAME, CONF_PASSWORD}


@pytest.mark.parametrize(("text", "expected"), KINDS.items(), ids=KINDS)
async def test_what_is_in_an_address(text: str, expected: tuple[str, str, str, bool]) -> None:
    """Whoever reads an address, the secret part is a credential or gone, and never shown."""
    url, username, password, cut = expected
    assert Address.read(text) == Address(url=url, username=username, password=password, cut=cut)
    login = {CONF_USERNAME: username, CONF_PASSWORD: password}
    stored = {CONF_URL: url} | {key: value for key, value in login.items() if value}
    assert server_data({CONF_URL: text}) == stored
    form = read_server_form({CONF_URL: f" {text} "})
    assert (form.values, CONF_URL in form.errors) == (stored, cut)
    async with aiohttp.ClientSession() as session:
        for client in (OllamaClient(session, text), OllamaClient.of(session, stored)):
            assert client.url == url
    shown = URL(without_secrets(str(URL(text))))
    assert shown.user is shown.password is None
    assert not shown.query_string
    assert not shown.fragment
    assert is_same_server(text, url)
    if username or password:
        kind, sent = authorization(stored).split()
        assert (kind, b64decode(sent).decode()) == ("Basic", f"{username}:{password}")


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_address(text: str) -> None:
    """It is refused whatever is wrong with it, and shown again only if it holds nothing secret."""
    with pytest.raises(probatio.Invalid):
        Address.read(text)
    form = read_server_form({CONF_URL: text})
    assert form.errors == {CONF_URL: "invalid_url"}
    assert "cret" not in str(form.values)
    assert not is_same_server(text, text)


SECRET = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30
)


@settings(deadline=None)
@given(username=SECRET, password=SECRET)
def test_any_secret_comes_out_whole(username: str, password: str) -> None:
    """What is encoded in an address is what is sent, letter for letter."""
    url = str(URL.build(scheme="http", host="nas", user=username, password=password))
    assert server_data({CONF_URL: url}) == {
        CONF_URL: "http://nas",
        CONF_USERNAME: username,
        CONF_PASSWORD: password,
    }


@settings(deadline=None)
@given(text=st.text(max_size=60))
def test_anything_at_all(text: str) -> None:
    """Whatever is typed in is an address or is refused; nothing else is raised."""
    for typed in (text, f"http://{text}", f"http://user:{text}@nas", f"http://nas/{text}"):
        assert set(read_server_form({CONF_URL: typed}).errors) <= {CONF_URL}
        without_secrets(typed)


# Fields and address -> what is stored, or nothing where it is not clear which is meant.
TOGETHER: list[tuple[dict[str, str], dict[str, str] | None]] = [
    ({CONF_API_KEY: "key"}, {CONF_URL: HOST, CONF_API_KEY: "key"}),
    ({CONF_URL: "http://user:secret@nas:11434", CONF_API_KEY: "key"}, None),
    ({CONF_URL: "http://secret@nas:11434", CONF_API_KEY: "key"}, None),
    ({CONF_URL: "http://:secret@nas:11434", CONF_API_KEY: "key"}, None),
    ({CONF_URL: "http://@nas:11434", CONF_API_KEY: "key"}, {CONF_API_KEY: "key"}),
    ({CONF_API_KEY: "key", CONF_USERNAME: "user", CONF_PASSWORD: "secret"}, None),
    ({CONF_API_KEY: "key", CONF_USERNAME: "user"}, None),
    ({CONF_API_KEY: "key", CONF_PASSWORD: "secret"}, None),
    ({CONF_API_KEY: " ", CONF_PASSWORD: "secret"}, {CONF_PASSWORD: "secret"}),
    (
        {CONF_USERNAME: " user ", CONF_PASSWORD: " s "},
        {CONF_USERNAME: "user", CONF_PASSWORD: " s "},
    ),
    (
        {CONF_URL: "http://user@nas:11434", CONF_PASSWORD: "secret"},
        {CONF_USERNAME: "user", CONF_PASSWORD: "secret"},
    ),
    (
        {CONF_URL: "http://user:secret@nas:11434", CONF_USERNAME: "user"},
        {CONF_USERNAME: "user", CONF_PASSWORD: "secret"},
    ),
    ({CONF_URL: "http://user:secret@nas:11434", CONF_PASSWORD: "other"}, None),
    ({CONF_URL: "http://user:secret@nas:11434", CONF_USERNAME: "other"}, None),
]


@pytest.mark.parametrize(("typed", "stored"), TOGETHER)
def test_fields_and_address(typed: dict[str, str], stored: dict[str, str] | None) -> None:
    """One credential is stored, wherever it was typed; of two, none is chosen in silence."""
    form = read_server_form({CONF_URL: HOST} | typed)
    assert form.values[CONF_URL] == HOST
    if stored is None:
        assert form.errors == {"base": "two_credentials"}
    else:
        assert (form.values, form.errors) == ({CONF_URL: HOST} | stored, {})


def test_an_entry_that_has_both() -> None:
    """The key of an entry of before stays, which sent nothing; Home Assistant's own sends it."""
    both: dict[str, Any] = {CONF_URL: "http://user:secret@nas:11434", CONF_API_KEY: "key"}
    assert server_data(both) == {CONF_URL: HOST, CONF_API_KEY: "key"}
    assert authorization(both) == "Bearer key"


SAID = {
    'Get "https://user:secret@registry/v2/?token=secret": no such host': (
        'Get "https://registry/v2/ no such host'
    ),
    "http://secret@nas": "http://nas",
    "Model of http://a:secret@b and http://c:secret@d": "Model of http://b and http://d",
    "me@home: model 'tiny' not found": "me@home: model 'tiny' not found",
    "Is it http? #1": "Is it http? #1",
}


@pytest.mark.parametrize(("text", "expected"), SAID.items())
def test_texts_with_addresses(text: str, expected: str) -> None:
    """An address in a title or an error loses what may be secret, and nothing else changes."""
    assert without_secrets(text) == expected
