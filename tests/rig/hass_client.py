"""Talking to a running Home Assistant as its owner, or as somebody else by their token."""

from dataclasses import dataclass
from typing import Any

from .hass_accounts import OWNER, Accounts
from .hass_api import Api, HassError, Json, Reply


@dataclass(frozen=True, slots=True)
class Room:
    """A room of the demonstration house and the voice satellite in it."""

    name: str
    device_id: str
    satellite_entity_id: str
    pipeline_entity_id: str
    keeps_timers: bool


class HassClient:
    """Commands, questions and actions."""

    def __init__(self, url: str, accounts: Accounts | None) -> None:
        """Take the address, and the tokens if they are known yet."""
        self.url = url
        self.rooms: list[Room] = []
        self._api = Api(url)
        self._known_accounts = accounts

    @property
    def _accounts(self) -> Accounts:
        if self._known_accounts is None:
            raise HassError("Nobody lives here yet: start Home Assistant first")
        return self._known_accounts

    @property
    def admin_token(self) -> str:
        """The long-lived token of the owner."""
        return self._accounts.admin_token

    @property
    def warmer_token(self) -> str:
        """The long-lived token of the user without administrator's rights."""
        return self._accounts.warmer_token

    @property
    def admin_login(self) -> tuple[str, str]:
        """The owner's name and password for the login page."""
        return OWNER

    def room(self, name: str) -> Room:
        """Return a room by its name."""
        return next(room for room in self.rooms if room.name == name)

    async def command(self, command: str, /, *, token: str | None = None, **data: Any) -> Any:  # noqa: ANN401
        """Send a WebSocket command, as the owner unless another token is given."""
        return await self._api.command(token or self.admin_token, command, data)

    async def rest(
        self, method: str, path: str, *, json: Json | None = None, token: str | None = None
    ) -> Any:  # noqa: ANN401
        """Send a REST request, as the owner unless another token is given."""
        return await self._api.rest(method, path, token=token or self.admin_token, json=json)

    async def ask(  # noqa: PLR0913
        self,
        text: str,
        *,
        agent: str,
        device: Room | str | None = None,
        conversation_id: str | None = None,
        language: str = "en",
        token: str | None = None,
    ) -> Reply:
        """Ask a conversation agent something, from a satellite if one is given."""
        data: Json = {"text": text, "agent_id": agent, "language": language}
        if device is not None:
            data["device_id"] = device.device_id if isinstance(device, Room) else device
        if conversation_id is not None:
            data["conversation_id"] = conversation_id
        return await self._api.ask(token or self.admin_token, data)

    async def say(self, room: Room, text: str, *, seconds: float = 0) -> Json:
        """Say the wake word in a room and then, for some seconds, the text.

        The answer is `{"reply": ...}` as from `conversation/process`, or `{"error": ...}`.
        """
        data = {"entity_id": room.satellite_entity_id, "text": text, "seconds": seconds}
        return await self.call_action("demo_house", "say", data, return_response=True)

    async def call_action(
        self, domain: str, service: str, data: Json | None = None, *, return_response: bool = False
    ) -> Json:
        """Call an action and return its response, empty if it has none."""
        result = await self.command(
            "call_service",
            domain=domain,
            service=service,
            service_data=data or {},
            return_response=return_response,
        )
        return result.get("response") or {}

    async def states(self) -> dict[str, Json]:
        """Return the states of all entities."""
        return {state["entity_id"]: state for state in await self.command("get_states")}

    async def exposed(self) -> set[str]:
        """Return the entities that the assistant may see."""
        answer = await self.command("homeassistant/expose_entity/list")
        exposed = answer["exposed_entities"]
        return {entity for entity, to in exposed.items() if to.get("conversation")}
