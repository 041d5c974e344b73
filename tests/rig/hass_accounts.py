"""The people of a new house: its owner, and a user who may only talk to it."""

from dataclasses import dataclass
from typing import Any

from .hass_api import Api, HassError, RestError, until

OWNER = ("owner", "the-key-under-the-mat")
WARMER = ("warmer", "only-here-to-keep-warm")


@dataclass(frozen=True, slots=True)
class Accounts:
    """The long-lived tokens of the two."""

    admin_token: str
    warmer_token: str


async def onboard(api: Api) -> Accounts:
    """Make the owner by the onboarding, and let the owner make the warmer's user."""
    client = f"{api.url}/"
    name, password = OWNER
    answer = await api.rest(
        "POST",
        "/api/onboarding/users",
        json={
            "client_id": client,
            "name": name,
            "username": name,
            "password": password,
            "language": "en",
        },
    )
    access = await _access_token(api, answer["auth_code"])
    admin_token = await _long_lived(api, access)
    await _make_warmer(api, admin_token)
    warmer_token = await _long_lived(api, await log_in(api, *WARMER))
    return Accounts(admin_token, warmer_token)


async def log_in(api: Api, username: str, password: str) -> str:
    """Log in as a person would, and return an access token for half an hour."""
    client = f"{api.url}/"
    start = {
        "client_id": client,
        "handler": ["homeassistant", None],
        "redirect_uri": client,
    }
    flow = await api.rest("POST", "/auth/login_flow", json=start)
    words = {"client_id": client, "username": username, "password": password}
    answer = await api.rest("POST", f"/auth/login_flow/{flow['flow_id']}", json=words)
    if answer["type"] != "create_entry":
        raise HassError(f"{username} could not log in: {answer.get('errors')}")
    return await _access_token(api, answer["result"])


async def _access_token(api: Api, code: str) -> str:
    form = {"grant_type": "authorization_code", "code": code, "client_id": f"{api.url}/"}
    answer = await api.rest("POST", "/auth/token", form=form)
    return str(answer["access_token"])


async def _long_lived(api: Api, access_token: str) -> str:
    data: dict[str, Any] = {"client_name": "rig", "lifespan": 365}
    return str(await api.command(access_token, "auth/long_lived_access_token", data))


async def _make_warmer(api: Api, admin_token: str) -> None:
    """Make a user without administrator's rights, who can only log in from this network."""
    username, password = WARMER
    answer = await api.command(
        admin_token,
        "config/auth/create",
        {"name": username, "group_ids": ["system-users"], "local_only": True},
    )
    await api.command(
        admin_token,
        "config/auth_provider/homeassistant/create",
        {"user_id": answer["user"]["id"], "username": username, "password": password},
    )


async def until_it_answers(api: Api) -> None:
    """Wait until the HTTP server is up."""

    async def answers() -> bool:
        try:
            await api.rest("GET", "/api/onboarding")
        except RestError:
            return True  # a house that is lived in has no onboarding any more
        except OSError:
            return False
        return True

    await until(answers)
